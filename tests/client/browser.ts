// Runs the scenario in Chromium on a page of another origin, where CORS hides what the service does not expose, uses that page,
// and tries every operation on the API page of the local service, which has the demonstration data.

import { type Browser, chromium, type Page } from "playwright-core"
import type { checkHelpers } from "./helpers.js"
import { markAttendance, usePage } from "./page.js"
import { checkLooks, withFiles } from "./shared.js"
import { check, type walk, type World } from "./walk.js"

async function walkFromAnotherOrigin(browser: Browser, origin: string, { base, email, password, mails }: World) {
	const page = await browser.newPage()
	await page.exposeFunction("mails", mails)
	await page.goto(`${origin}/page/index.html?api=${base}/api/v1`)
	const steps = await page.evaluate(
		async ([base, email, password]) => {
			const [script, other] = ["/out/walk.js", "/out/helpers.js"]
			const { walk: walkHere } = (await import(script)) as { walk: typeof walk }
			const { checkHelpers: checkHere } = (await import(other)) as { checkHelpers: typeof checkHelpers }
			const { mails } = globalThis as unknown as Pick<World, "mails">
			const world = { base, email, password, mails }
			return [...(await walkHere(world)), ...(await checkHere(world))]
		},
		[base, email, password] as const,
	)
	for (const step of steps) console.log(`Chromium: ${step}`)
	const read = await page.evaluate((url) => fetch(url).then(() => true, () => false), `${base}/_local/mail`)
	check(!read, "another origin cannot read a local page")
	const avatar = steps.find((step) => step.startsWith("a picture: "))?.split(": ")[1]
	await page.setContent(`<img src="${base}${avatar}">`)
	const width = await page.locator("img").evaluate(async (picture: HTMLImageElement) => {
		await picture.decode()
		return picture.naturalWidth
	})
	check(width === 1, "a page of another origin shows the picture")
	await page.close()
}

/** Checks that our pages have no barrier that axe finds, and fit on a phone. */
async function checkPages(browser: Browser, base: string) {
	for (const colorScheme of ["light", "dark"] as const) {
		// axe is added as a script of the page, which the pages' own policy forbids.
		const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 800 }, bypassCSP: true })
		for (const path of ["", "/texts", "/people", "/requests", "/tables", "/front"]) {
			await page.goto(`${base}/_local${path}`)
			await checkLooks(page, `${path} in ${colorScheme} colours`)
		}
		await page.close()
	}
}

/** Sends the request of an operation as the page has filled it in, and returns the status of the response. */
async function press(page: Page, method: string, path: string, tag: string): Promise<number> {
	await page.evaluate((hash) => void (location.hash = hash), `tag/${tag}/${method.toUpperCase()}${path}`)
	await page.locator(".show-api-client-button", { hasText: `(${method} ${path})` }).first().click()
	const dialog = page.getByRole("dialog", { name: "API Client" })
	const wanted = new RegExp(`^(/api/v1)?${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
	const answered = page.waitForResponse(
		(response) =>
			response.request().method() === method.toUpperCase() && wanted.test(new URL(response.url()).pathname),
	)
	await dialog.getByRole("button", { name: "Send" }).first().click()
	const status = (await answered).status()
	// The response is shown before the dialog is closed: closing it earlier cancels the request.
	await dialog.getByRole("link", { name: String(status) }).waitFor()
	await page.keyboard.press("Escape")
	await dialog.waitFor({ state: "hidden" })
	return status
}

/** Signs in with one click, then sends the request of every operation as the page has filled it in. */
async function tryApiPage(browser: Browser, base: string) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
	const problems: string[] = []
	page.on("pageerror", ({ message }) => problems.push(message))
	page.on("request", (request) => {
		if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(base)) problems.push(request.url())
	})
	const read = page.waitForResponse(`${base}/_local/api/openapi.json`)
	await page.goto(`${base}/_local/api`)
	type Shown = { paths: Record<string, Record<string, { operationId?: string; tags?: string[] }>> }
	const { paths } = (await (await read).json()) as Shown
	await page.getByRole("button", { name: "Super admin" }).click()
	await page.getByText("Signed in as").waitFor()
	// These end the session or change the password.
	const last = ["changePassword", "logout"]
	const operations = Object.entries(paths).flatMap(([path, item]) =>
		Object.entries(item).flatMap(([method, { operationId: id, tags }]) =>
			id ? [{ method, path, id, tag: tags?.[0] ?? "" }] : [],
		),
	)
	operations.sort((one, other) => last.indexOf(one.id) - last.indexOf(other.id))
	const refused: string[] = []
	for (const { method, path, id, tag } of operations) {
		const status = await press(page, method, path, tag)
		if (status > 399) refused.push(`${id} ${status}`)
	}
	const succeeded = operations.length - refused.length
	console.log(`Chromium: /_local/api: ${succeeded} of ${operations.length} succeed; others: ${refused.join(", ")}`)
	check(succeeded >= 62, "at least 62 operations succeed as the page has filled them in")
	check(problems.length === 0, `the page has no errors and calls no other origin: ${problems.join(", ")}`)
	await page.close()
}

/** The local page for people, with an authenticator that Chromium emulates. */
async function walkWithPasskeys(browser: Browser, base: string) {
	const page = await browser.newPage()
	const devtools = await page.context().newCDPSession(page)
	await devtools.send("WebAuthn.enable")
	const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true } as const
	await devtools.send("WebAuthn.addVirtualAuthenticator", { options: { ...options, isUserVerified: true } })
	const click = (name: string) => page.getByRole("button", { name, exact: true }).click()
	const name = page.getByLabel("Nom de la clé d’accès")
	await page.goto(`${base.replace("127.0.0.1", "localhost")}/_local/front`)
	await page.getByLabel("Adresse e-mail").fill("salma.khelifi@example.org")
	await page.getByLabel("Mot de passe").fill("sept grenadiers en fleur")
	await click("Se connecter")
	await click("Ajouter une clé d’accès")
	await name.waitFor()
	await click("Se déconnecter")
	await click("Se connecter avec une clé d’accès")
	await name.fill("Téléphone")
	await click("Renommer")
	await page.locator("#result", { hasText: /./ }).waitFor()
	check((await name.inputValue()) === "Téléphone", "the passkey has its new name")
	await click("Supprimer")
	await name.waitFor({ state: "detached" })
	console.log("Chromium: a passkey is added, signs in, is renamed and removed")
	await page.close()
}

export async function inChromium(world: World) {
	const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args })
	try {
		await withFiles(async (origin) => {
			await walkFromAnotherOrigin(browser, origin, world)
			await usePage(browser, origin, world)
			await markAttendance(browser, origin, world)
		})
		await checkPages(browser, world.base)
		await walkWithPasskeys(browser, world.base)
		await tryApiPage(browser, world.base)
	} finally {
		await browser.close()
	}
}
