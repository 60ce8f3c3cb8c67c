// Runs the scenario in Chromium on a page of another origin, where CORS hides what the service does not expose, and
// tries the API page of the local service.

import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Browser, chromium } from "playwright-core"
import { check, type walk, type World } from "./walk.js"

/** No display, and no background requests. */
const QUIET = [
	"--headless",
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
]
const PAGE = `<!doctype html><meta charset="utf-8"><title>Another origin</title>
<script type="importmap">{ "imports": { "openapi-fetch": "/openapi-fetch.js" } }</script>`
const SCRIPTS: Record<string, string> = {
	"/walk.js": "out/walk.js",
	"/openapi-fetch.js": "node_modules/openapi-fetch/dist/index.mjs",
}

/** Serves an empty page and the scripts of the scenario from another origin. */
async function otherOrigin() {
	const server = createServer(async ({ url = "/" }, response) => {
		const script = SCRIPTS[url]
		response.setHeader("Content-Type", script ? "text/javascript" : "text/html")
		response.end(script ? await readFile(script) : PAGE)
	})
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
	return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function walkFromAnotherOrigin(browser: Browser, { base, email, password, mails }: World) {
	const { server, origin } = await otherOrigin()
	const page = await browser.newPage()
	await page.exposeFunction("mails", mails)
	await page.goto(origin)
	const steps = await page.evaluate(
		async ([base, email, password]) => {
			const script = "/walk.js"
			const { walk: walkHere } = (await import(script)) as { walk: typeof walk }
			const { mails } = globalThis as unknown as Pick<World, "mails">
			return walkHere({ base, email, password, mails })
		},
		[base, email, password] as const,
	)
	for (const step of steps) console.log(`Chromium: ${step}`)

	const read = await page.evaluate((url) => fetch(url).then(() => true, () => false), `${base}/_local/mail`)
	check(!read, "another origin cannot read a local page")
	const avatar = steps.find((step) => step.startsWith("a picture: "))?.split(": ")[1]
	const width = await page.evaluate(
		(url) =>
			new Promise((resolve) => {
				const picture = new Image()
				picture.onload = () => resolve(picture.naturalWidth)
				picture.onerror = () => resolve(0)
				picture.src = url
			}),
		`${base}${avatar}`,
	)
	check(width === 1, "a page of another origin shows the picture")
	await page.close()
	server.close()
}

async function tryApiPage(browser: Browser, { base, email, password }: World) {
	const page = await browser.newPage()
	page.setDefaultTimeout(30_000)
	const problems: string[] = []
	page.on("pageerror", ({ message }) => problems.push(message))
	page.on("console", (message) => message.type() === "error" && problems.push(message.text()))
	page.on("request", (request) => {
		if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(base)) problems.push(request.url())
	})
	await page.goto(`${base}/_local`)
	await page.getByRole("link", { name: "the interface" }).click()
	const operations = page.locator(".opblock")
	await operations.first().waitFor()
	const count = await operations.count()
	check(count > 60, `the page shows more than 60 operations, not ${count}`)

	async function run(path: string, body?: string) {
		const operation = page.locator(".opblock", { has: page.locator(`[data-path="${path}"]`) }).first()
		await operation.locator(".opblock-summary-control").click()
		if (body) await operation.locator("textarea").fill(body)
		await operation.getByRole("button", { name: "Execute" }).click()
		const status = operation.locator(".live-responses-table tbody .response-col_status").first()
		await status.waitFor()
		const text = (await status.innerText()).trim()
		check(text.startsWith("200"), `${path} returns 200 on the page, not ${text}`)
	}
	await run("/health")
	await run("/auth/login", JSON.stringify({ email, password }))
	await run("/auth/check")
	check(problems.length === 0, `the page has no errors and calls no other origin: ${problems.join(", ")}`)
	console.log(`Chromium: /_local/api shows ${count} operations; GET /health, a sign-in and GET /auth/check tried`)
	await page.close()
}

export async function inChromium(world: World) {
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: QUIET })
	try {
		await walkFromAnotherOrigin(browser, world)
		await tryApiPage(browser, world)
	} finally {
		await browser.close()
	}
}
