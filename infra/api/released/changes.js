// What has changed between two documents of the interface, and whether it breaks anybody. Run by
// infra/bin/check-interface; the rules that it holds are told in infra/api/changelog.md.

const { spawnSync } = require("node:child_process")
const { readFileSync, writeFileSync } = require("node:fs")
const { isDeepStrictEqual } = require("node:util")
const { parse } = require("yaml")

const [FOLDER, command = "compare", version] = process.argv.slice(2)
const DOCUMENT = "infra/api/openapi.yaml"
const RELEASED = "infra/api/released/openapi.yaml"
const CHANGELOG = "infra/api/changelog.md"
/** So long before its end an operation or a parameter is deprecated. */
const DAYS = 180
/** What oasdiff only warns of, or tells in passing, and what breaks somebody all the same. */
const BREAKING = [
	"api-security-added",
	"new-required-request-property-with-default",
	"optional-response-header-removed",
	"request-parameter-removed",
	"request-property-became-required-with-default",
	"request-property-removed",
	"response-optional-property-removed",
]
/**
 * Breaking changes that are accepted, with the reason. Remove an entry when the version that contains it is released.
 */
const ACCEPTED = new Map([
	["GET /users/{}/export", "an export of more than 4 MB was cut; now it is complete and the response has a link to it"],
	["POST /users/avatar", "the form is described as client generators read it; the requests are the same"],
])
const METHODS = ["get", "put", "post", "delete", "patch"]

const read = (file) => parse(readFileSync(file, "utf8"), { maxAliasCount: -1 })

/** Every operation by its method and path; the names of a path's parameters make no difference. */
function operations(document) {
	const found = new Map()
	for (const [path, item] of Object.entries(document.paths))
		for (const method of METHODS.filter((method) => item[method]))
			found.set(key(method, path), { name: `${method.toUpperCase()} ${path}`, operation: item[method] })
	return found
}

const key = (method, path) => `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, "{}")}`

/** The names of an operation's parameters. */
const parameters = (document, { parameters = [] }) =>
	parameters.map(({ $ref, name }) => name ?? document.components.parameters[$ref.split("/").at(-1)].name)

/** What oasdiff reads. It does not see that an operation without `security` has the document's. */
function written(name, document) {
	const whole = structuredClone(document)
	for (const { operation } of operations(whole).values()) operation.security ??= whole.security
	const file = `${FOLDER}/${name}.json`
	writeFileSync(file, JSON.stringify(whole))
	return file
}

/** The entry of a change set, and how many of its operations break. */
function compare(before, after) {
	const levels = `${FOLDER}/levels`
	writeFileSync(levels, BREAKING.map((id) => `${id} err\n`).join(""))
	const files = [written("before", before), written("after", after)]
	const options = ["--format", "json", "--deprecation-days-stable", `${DAYS}`, "--severity-levels", levels]
	const oasdiff = spawnSync(`${FOLDER}/node_modules/.bin/oasdiff`, ["changelog", ...options, ...files], {
		encoding: "utf8",
		maxBuffer: 1e9,
	})
	if (oasdiff.status !== 0) throw new Error(`oasdiff: ${oasdiff.stderr || oasdiff.error}`)
	const told = JSON.parse(oasdiff.stdout || "[]")

	const [old, young] = [operations(before), operations(after)]
	const additions = [...young].filter(([key]) => !old.has(key))
	const removals = [...old].filter(([key]) => !young.has(key))
	const breaks = new Set()
	const modified = new Map()
	for (const { level, operation, path, text } of told) {
		// What has no path stands among the components, and is told again where an operation uses it.
		if (!path) continue
		const changed = key(operation, path)
		if (level === 3 && !ACCEPTED.has(changed)) breaks.add(changed)
		if (!old.has(changed) || !young.has(changed)) continue
		modified.set(changed, (modified.get(changed) ?? new Set()).add(level === 3 ? `${text} (breaking)` : text))
	}
	// A deprecated parameter goes after its day without a word of oasdiff.
	for (const [key, { operation }] of young) {
		const left = parameters(after, operation)
		const had = old.has(key) ? parameters(before, old.get(key).operation) : []
		const gone = had.filter((name) => !left.includes(name))
		const texts = gone.map((name) => `deleted the parameter \`${name}\``)
		if (gone.length && !modified.has(key)) modified.set(key, texts)
	}
	const lines = removals.map(([key, { name }]) => `- Removed${breaks.has(key) ? " (breaking)" : ""}: \`${name}\`.`)
	// Operations in which the same has changed share a line.
	const alike = new Map()
	for (const [key, texts] of modified) {
		const text = [...texts].join("; ")
		alike.set(text, [...(alike.get(text) ?? []), `\`${young.get(key).name}\``])
	}
	for (const [text, names] of alike) lines.push(`- Modified: ${names.join(", ")}: ${text}.`)
	if (additions.length) lines.push(`- Added: ${additions.map(([, { name }]) => `\`${name}\``).join(", ")}.`)

	for (const [key, reason] of ACCEPTED)
		if (modified.has(key)) lines.push(`- Accepted, though breaking: \`${young.get(key).name}\`: ${reason}.`)
	const counts = [additions.length, modified.size, removals.length]
	const head =
		`${counts.reduce((sum, count) => sum + count)} changes: ${breaks.size} breaking, ` +
		`${counts[0]} additions, ${counts[1]} modifications, ${counts[2]} removals`
	return { entry: [head, ...(lines.length ? ["", ...lines] : [])].join("\n"), breaks: breaks.size, counts }
}

/** Releases the document as `version`: a new entry in the changelog, a new document to compare with. */
function release(before, after) {
	const { entry, breaks, counts } = compare(before, after)
	const numbers = (text) => /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number)
	const [last, next] = [numbers(before.info.version), numbers(version ?? "")]
	const refuse = (why) => {
		console.error(why)
		process.exit(1)
	}
	if (isDeepStrictEqual(before, after)) refuse("Nothing has changed since the last release.")
	if (breaks) refuse(`${entry}\n\nThis would break somebody: it is no release of ${last[0]}.`)
	const structure = counts.some((count) => count > 0)
	const right = structure ? [last[0], last[1] + 1, 0] : [last[0], last[1], last[2] + 1]
	if (!isDeepStrictEqual(next, right)) refuse(`${entry}\n\nAfter ${last.join(".")} this is ${right.join(".")}.`)

	const text = readFileSync(DOCUMENT, "utf8").replace(/^ {2}version: .*$/m, `  version: ${version}`)
	const today = new Date().toISOString().slice(0, 10)
	const titled = `\n### ${version} (${today})\n\n${entry}\n\n### `
	const changelog = readFileSync(CHANGELOG, "utf8").replace("\n### ", () => titled)
	writeFileSync(DOCUMENT, text)
	writeFileSync(RELEASED, text)
	writeFileSync(CHANGELOG, changelog)
	console.log(entry)
}

/** What must break and what must not, on changes that are made up here. */
function prove(document) {
	const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
	const ending = (days) => ({ deprecated: true, "x-sunset": day(days) })
	const activity = (it) => it.paths["/users/activity"].get
	const deprecated = (days) => (it) => Object.assign(activity(it), ending(days))
	const deprecatedParameter = (days) => (it) => Object.assign(activity(it).parameters[0], ending(days))
	const withoutOperation = (it) => delete it.paths["/users/activity"]
	const withoutParameter = (it) => activity(it).parameters.shift()
	const health = (it) => it.components.schemas.Health.properties
	const login = (it) => it.components.schemas.Login
	const withCaptcha = (it) => (login(it).properties.captcha = { type: "string" })
	const requiredCaptcha = (it) => withCaptcha(it) && login(it).required.push("captcha")
	const now = () => {}
	// Each: a name; breaking, additions, modifications, removals; what is released before, and what comes then.
	const cases = [
		["nothing", "0 0 0 0", now, now],
		["other words", "0 0 0 0", now, (it) => (activity(it).description = "Words.")],
		["an operation more", "0 1 0 0", now, (it) => (it.paths["/ping"] = { get: it.paths["/health"].get })],
		["an operation less", "1 0 0 1", now, withoutOperation],
		["a method less", "1 0 0 1", now, (it) => delete it.paths["/courses/{courseId}"].delete],
		["an operation deprecated in good time", "0 0 1 0", now, deprecated(DAYS + 5)],
		["an operation deprecated too late", "1 0 1 0", now, deprecated(DAYS - 5)],
		["an operation deprecated without a day", "1 0 1 0", now, (it) => (activity(it).deprecated = true)],
		["an operation less before its day", "1 0 0 1", deprecated(5), withoutOperation],
		["an operation less after its day", "0 0 0 1", deprecated(-5), withoutOperation],
		["a parameter less", "1 0 1 0", now, withoutParameter],
		["a parameter less before its day", "1 0 1 0", deprecatedParameter(5), withoutParameter],
		["a parameter less after its day", "0 0 1 0", deprecatedParameter(-5), withoutParameter],
		["a field of an answer less", "1 0 1 0", now, (it) => delete health(it).version],
		["a field of an answer or null", "1 0 1 0", now, (it) => (health(it).version.type = ["string", "null"])],
		["another constant in an answer", "1 0 1 0", now, (it) => (health(it).code.const = 201)],
		["a field of an answer more", "0 0 1 0", now, (it) => (health(it).since = { type: "string" })],
		["a field to send more", "0 0 1 0", now, withCaptcha],
		["a field to send more, required", "1 0 1 0", now, requiredCaptcha],
		["a field to send less", "1 0 1 0", now, (it) => delete login(it).properties.email],
		["a token where none was needed", "1 0 1 0", now, (it) => delete it.paths["/auth/login"].post.security],
	]
	for (const [name, expected, first, then] of cases) {
		const released = structuredClone(document)
		first(released)
		const changed = structuredClone(released)
		then(changed)
		const { breaks, counts } = compare(released, changed)
		const found = [breaks, ...counts].join(" ")
		if (found !== expected) throw new Error(`${name}: ${found} was found where ${expected} is right.`)
		console.log(`${found}  ${name}`)
	}
}

const [before, after] = [read(RELEASED), read(DOCUMENT)]
if (command === "prove") prove(after)
else if (command === "release") release(before, after)
else {
	const { entry, breaks } = compare(before, after)
	console.log(`Since ${before.info.version}: ${entry}`)
	process.exitCode = breaks ? 1 : 0
}
