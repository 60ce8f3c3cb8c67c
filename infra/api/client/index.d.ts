import type { Client } from "openapi-fetch"
import type { paths } from "./interface.js"

export type { components, operations, paths } from "./interface.js"

/** A client of the service at `baseUrl`, such as `https://api.example.org/api/v1`. `token` is that of a sign-in: `Bearer …`. */
export declare function halqa(baseUrl: string, token?: string): Client<paths>
