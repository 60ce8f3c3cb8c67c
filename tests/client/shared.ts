// What the tests in Chromium share.

import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { extname } from "node:path"
import type { Page } from "playwright-core"
import { check } from "./walk.js"

/** Serves the working directory at an origin of its own, which it passes to `use`. */
export async function withFiles(use: (origin: string) => Promise<void>) {
	const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" }
	const server = createServer(async ({ url = "/" }, response) => {
		const { pathname } = new URL(url, "http://localhost")
		response.setHeader("Content-Type", types[extname(pathname)] ?? "text/plain")
		response.end(await readFile(`.${pathname}`))
	})
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
	try {
		await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
	} finally {
		server.close()
	}
}

/** Checks that the page has no barrier that axe finds, and fits on a phone if it is as wide as one. */
export async function checkLooks(page: Page, name: string) {
	const width = await page.evaluate(() => document.scrollingElement!.scrollWidth)
	check(width <= page.viewportSize()!.width, `${name} is not wider than its window, but ${width}`)
	await page.addScriptTag({ path: "node_modules/axe-core/axe.min.js" })
	const violations = await page.evaluate(async () => {
		type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
		const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
		return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
	})
	check(violations.length === 0, `axe finds nothing on ${name}: ${violations}`)
}
