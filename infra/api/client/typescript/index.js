// What the generated types cannot do. The declarations are in index.d.ts.

import createClient from "openapi-fetch"

/** The codes and texts of responses that the gateway gives without an envelope. */
const GATEWAY = {
	413: ["PAYLOAD_TOO_LARGE_MESSAGE", "L’envoi est trop volumineux."],
	429: ["TOO_MANY_REQUESTS_MESSAGE", "Trop de requêtes : réessayez plus tard."],
	503: ["SERVICE_UNAVAILABLE_MESSAGE", "Le service est momentanément indisponible. Veuillez réessayer."],
	504: ["SERVICE_UNAVAILABLE_MESSAGE", "Le service est momentanément indisponible. Veuillez réessayer."],
}
const UNKNOWN = ["INTERNAL_ERROR_MESSAGE", "Une erreur interne est survenue. Veuillez réessayer."]

export class HalqaError extends Error {
	constructor(error, response) {
		super(error?.message?.RESPONSE_CODE ?? `HTTP ${response.status}`)
		this.name = "HalqaError"
		this.error = error
		this.response = response
	}
}

export function halqa(baseUrl, { token, onToken, patience = 60, ...options } = {}) {
	const client = createClient({ baseUrl, ...options })
	if (token) client.use(renewal(token, onToken, (authorization) => checked(baseUrl, options.fetch, authorization)))
	// Of responses, the last one is called first.
	client.use({ onResponse: readable }, { onResponse: enveloped }, waiting(patience))
	return client
}

export async function* paginate(client, path, init = {}) {
	let cursor = init.params?.query?.cursor
	do {
		const query = { ...init.params?.query, ...(cursor && { cursor }) }
		const page = await succeeded(client.GET(path, { ...init, params: { ...init.params, query } }))
		yield* Object.values(page).find(Array.isArray) ?? []
		cursor = page.nextCursor
	} while (cursor)
}

export async function upload(client, content, { name = content.name, visibility = "private", fetch } = {}) {
	const body = { name, contentType: content.type, size: content.size, visibility }
	const { file, upload: form } = await succeeded(client.POST("/files", { body }))
	const data = new FormData()
	for (const [field, value] of Object.entries(form.fields)) data.append(field, value)
	data.append("file", content)
	const response = await (fetch ?? globalThis.fetch)(form.url, { method: "POST", body: data })
	if (!response.ok) throw new HalqaError(undefined, response)
	const params = { path: { fileId: file.fileID } }
	return (await succeeded(client.POST("/files/{fileId}/complete", { params }))).file
}

async function succeeded(request) {
	const { data, error, response } = await request
	if (data === undefined) throw new HalqaError(error, response)
	return data
}

/** Sends `token` with each request, and renews it once half of its life is over. */
function renewal(token, onToken, check) {
	let pending
	let next = halfLife(token)
	async function renew() {
		// Also after a failure the next attempt is a minute later.
		next = Date.now() + 60_000
		const renewed = await check(token).catch(() => undefined)
		if (!renewed) return
		token = renewed
		next = halfLife(token)
		onToken?.(token)
	}
	return {
		async onRequest({ request }) {
			if (request.headers.has("Authorization")) return
			if (Date.now() > next) pending ??= renew().finally(() => (pending = undefined))
			await pending
			request.headers.set("Authorization", token)
		},
	}
}

/** When half of the life of the JWT `token` is over, in milliseconds; never for a token that cannot be read. */
function halfLife(token) {
	try {
		const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")
		const { iat, exp } = JSON.parse(atob(payload))
		return ((iat + exp) / 2) * 1000
	} catch {
		return Infinity
	}
}

async function checked(baseUrl, fetch = globalThis.fetch, Authorization) {
	const response = await fetch(new Request(`${baseUrl}/auth/check`, { headers: { Authorization } }))
	return response.ok ? (await response.json()).user.token : undefined
}

/** Repeats a refused request after `Retry-After`, as long as that is not more than `patience` seconds in all. */
function waiting(patience) {
	const copies = new Map()
	return {
		onRequest({ request, id }) {
			copies.set(id, request.clone())
		},
		onError({ id }) {
			copies.delete(id)
		},
		async onResponse({ request, response, options, id }) {
			const copy = copies.get(id)
			copies.delete(id)
			for (let left = patience, pause = 1; isRefused(request, response); pause *= 2) {
				const wait = Math.ceil(Number(response.headers.get("Retry-After") ?? pause))
				if (!(wait <= left)) break
				left -= Math.max(wait, 1)
				await sleep(wait * 1000, request.signal)
				response = await options.fetch(copy.clone())
			}
			return response
		},
	}
}

/** Whether the request can be repeated: a 429 has done nothing, a 503 may have made the change. */
function isRefused(request, { status }) {
	const isRepeatable = ["GET", "HEAD"].includes(request.method) || request.headers.has("Idempotency-Key")
	return status === 429 || (status === 503 && isRepeatable)
}

function sleep(milliseconds, signal) {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, milliseconds)
		signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true })
	})
}

/** An error without an envelope, which the gateway gave, in one. */
async function enveloped({ response }) {
	if (response.status < 400) return
	const body = await response.clone().json().catch(() => undefined)
	if (body?.message?.RESPONSE_CODE) return
	const [RESPONSE_CODE, RESPONSE_TEXT] = GATEWAY[response.status] ?? UNKNOWN
	return replaced(response, { code: response.status, message: { RESPONSE_TEXT, RESPONSE_CODE } })
}

/** A text, such as a calendar, as the JSON that is expected. */
async function readable({ response, options }) {
	if (options.parseAs === "json" && response.headers.get("Content-Type")?.startsWith("text/"))
		return replaced(response, await response.text())
}

function replaced({ status, statusText, headers }, body) {
	const without = new Headers(headers)
	without.delete("Content-Length")
	return new Response(JSON.stringify(body), { status, statusText, headers: without })
}
