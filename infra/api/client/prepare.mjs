// Prepares the OpenAPI document for the generators: with open enums for openapi-typescript, which writes `interface.d.ts`,
// and with a variant for unknown values in each discriminated union for openapi-python-client, which reads `python.json`.
//
//   node prepare.mjs DOCUMENT FOLDER

import { readFileSync, writeFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import openapiTS, { astToString } from "openapi-typescript"
import ts from "typescript"

const [path, folder] = process.argv.slice(2)
const read = () => JSON.parse(readFileSync(path, "utf8"), listed)

/** An enum that can become longer as another: all of them are open. */
function listed(_, schema) {
	const { "x-extensible-enum": values, ...others } = schema ?? {}
	return values ? { ...others, enum: values } : schema
}

/** The variants of each union with a discriminator, with the schema of the property that tells them apart. */
function unions({ components: { schemas } }) {
	const named = ({ $ref }) => schemas[$ref.split("/").at(-1)]
	return Object.entries(schemas)
		.filter(([, { discriminator }]) => discriminator)
		.map(([name, union]) => ({
			name,
			union,
			kinds: union.oneOf.map((variant) => named(variant).properties[union.discriminator.propertyName]),
		}))
}

// The values of enums can become more: their type has one for the others, but for those that tell variants apart. It is an
// enum, which no text can be assigned to: `string & {}` would take those of a request, and openapi-fetch makes an object of it.
const document = read()
for (const { union, kinds } of unions(document)) {
	for (const kind of kinds) kind["x-closed"] = true
	delete union.discriminator
}
const OTHERS = `/** A value that the service has got since this client was made. */
declare enum UnknownValue {
    unknown = "",
}
`
const others = ts.factory.createTypeReferenceNode("UnknownValue")
const literal = (value) =>
	ts.factory.createLiteralTypeNode(value === null ? ts.factory.createNull() : ts.factory.createStringLiteral(value))
function opened(schema) {
	const isOpen = schema.enum?.some((value) => typeof value === "string") && !schema["x-closed"]
	return isOpen ? ts.factory.createUnionTypeNode([...schema.enum.map(literal), others]) : undefined
}
writeFileSync(`${folder}/interface.d.ts`, OTHERS + astToString(await openapiTS(document, { transform: opened })))

// The template of enums makes those whose name ends in `Kind` closed: they refuse other values, so that the next variant is
// tried. The last one accepts all.
const forPython = read()
for (const { name: ofUnion, union, kinds } of unions(forPython)) {
	for (const kind of kinds) kind.title = "Kind"
	const [other, ...variants] = structuredClone(union.oneOf.map(({ $ref }) => forPython.components.schemas[$ref.split("/").at(-1)]))
	for (const name in other.properties) {
		const isShared = variants.every(({ properties }) => isDeepStrictEqual(properties[name], other.properties[name]))
		if (!isShared) other.properties[name] = name === union.discriminator.propertyName ? { type: "string" } : {}
	}
	forPython.components.schemas[`Any${ofUnion}`] = other
	union.oneOf.push({ $ref: `#/components/schemas/Any${ofUnion}` })
	delete union.discriminator
}
writeFileSync(`${folder}/python.json`, JSON.stringify(forPython))
