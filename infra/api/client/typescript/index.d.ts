import type { Client, ClientOptions } from "openapi-fetch"
import type { components, paths } from "./interface.js"

export type { components, operations, paths } from "./interface.js"

type Schemas = components["schemas"]

export type Settings = Omit<ClientOptions, "baseUrl"> & {
	/** The token of a sign-in, `Bearer …`. It is renewed by `GET /auth/check` once half of its life is over. */
	token?: string | undefined
	/** Gets each renewed token, to store it. */
	onToken?: ((token: string) => void) | undefined
	/** How many seconds a call may wait until a refusal (429, and 503 of a read) is over, in all; 60 by default. */
	patience?: number
}

/** A client of the service at `baseUrl`, such as `https://api.example.org/api/v1`. */
export declare function halqa(baseUrl: string, settings?: Settings): Client<paths>

/** A call that did not succeed. Its message is the code of the error. */
export declare class HalqaError extends Error {
	/** The body; `undefined` if the refusal is that of the storage of files. */
	readonly error: Schemas["ErrorResponse"] | undefined
	readonly response: Response
}

type Page<Path extends keyof paths> = paths[Path] extends {
	get: { responses: { 200: { content: { "application/json": infer Body } } } }
}
	? Body
	: never
type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Found } } } ? Found : never
type PathParameters<Path extends keyof paths> = paths[Path] extends { get: { parameters: { path: infer Found } } }
	? { path: Found }
	: { path?: never }

/** The paths whose GET is a list in pages. */
export type ListPath = {
	[Path in keyof paths]: Page<Path> extends { nextCursor: string | null } ? Path : never
}[keyof paths]
/** An element of the list at `Path`. */
export type Item<Path extends ListPath> = {
	[Name in keyof Page<Path>]: Page<Path>[Name] extends readonly (infer Element)[] ? Element : never
}[keyof Page<Path>]

type ListOptions<Path extends ListPath> = {
	params: { query?: Query<Path> | undefined } & PathParameters<Path>
	signal?: AbortSignal
}

/**
 * All elements of a list, page by page.
 * @throws {HalqaError}
 */
export declare function paginate<Path extends ListPath>(
	client: Client<paths>,
	path: Path,
	...options: ListOptions<Path>["params"] extends { path: unknown } ? [ListOptions<Path>] : [ListOptions<Path>?]
): AsyncGenerator<Item<Path>, void, undefined>

/**
 * Creates a file, sends its content, and completes it. `content` has its media type; `name` is needed unless it is a `File`.
 * @throws {HalqaError}
 */
export declare function upload(
	client: Client<paths>,
	content: File,
	settings?: { name?: string; visibility?: Schemas["Visibility"]; fetch?: typeof globalThis.fetch },
): Promise<Schemas["StoredFile"]>
export declare function upload(
	client: Client<paths>,
	content: Blob,
	settings: { name: string; visibility?: Schemas["Visibility"]; fetch?: typeof globalThis.fetch },
): Promise<Schemas["StoredFile"]>
