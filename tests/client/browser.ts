// Runs the scenario in Chromium on a page of another origin, where CORS hides what the service does not expose, and
// tries every operation on the API page of the local service, which has the demonstration data.

import { createHmac } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Browser, chromium, type Page } from "playwright-core"
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

/**
 * Operations that do not succeed when the super admin of the demonstration data tries them, and why. All others must,
 * which is more than 93 of 100: all five need an authenticator.
 */
const REFUSED: Record<string, string> = {
	createPasskey: "needs the answer of an authenticator to the challenge of this session",
	signInWithPasskey: "needs the answer of an authenticator",
	verifyOtp: "needs the code that an authenticator shows for 30 seconds",
	disableOtp: "the super admin has no one-time passwords",
	renewRecoveryCodes: "the super admin has no one-time passwords",
}
/** Tried after the others, because they change the password of the caller or end their session. */
const LAST = ["changePassword", "logout"]
const METHODS = ["get", "post", "put", "delete"] as const

type Operation = { id: string; method: string; path: string; tag: string }
type Shown = { paths: Record<string, Record<string, { operationId: string; tags: string[] }>> }

function operationsOf({ paths }: Shown): Operation[] {
	const all = Object.entries(paths).flatMap(([path, item]) =>
		METHODS.flatMap((method) => {
			const operation = item[method]
			return operation ? [{ id: operation.operationId, method, path, tag: operation.tags[0] ?? "" }] : []
		}),
	)
	return all.sort((one, other) => LAST.indexOf(one.id) - LAST.indexOf(other.id))
}

/** Sends the request of `operation` as the page has filled it in, and returns the status of the response. */
async function press(page: Page, { method, path, tag }: Operation): Promise<number> {
	await page.evaluate((hash) => void (location.hash = hash), `tag/${tag}/${method.toUpperCase()}${path}`)
	await page.locator(".show-api-client-button", { hasText: `(${method} ${path})` }).first().click()
	const dialog = page.getByRole("dialog", { name: "API Client" })
	const wanted = new RegExp(`^(/api/v1)?${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
	const answered = page.waitForResponse(
		(response) =>
			response.request().method() === method.toUpperCase() && wanted.test(new URL(response.url()).pathname),
	)
	await dialog.getByRole("button", { name: "Send" }).first().click()
	const response = await answered
	await response.finished()
	// The response is shown before the dialog is closed: closing it earlier cancels the request.
	await dialog.getByRole("link", { name: String(response.status()) }).waitFor()
	await page.keyboard.press("Escape")
	await dialog.waitFor({ state: "hidden" })
	return response.status()
}

/** The first heading of the prose in front of the operations. */
const guide = (page: Page) => page.getByRole("heading", { name: "Conventions" }).first()

/** Our own pages, and the part of each that is ours: on the API reference, Scalar's is not. */
const OUR_PAGES: Record<string, string> = {
	"": "html",
	"/texts": "html",
	"/people": "html",
	"/requests": "html",
	"/tables": "html",
	"/fault-injection": "html",
	"/service": "html",
	"/front": "html",
	"/nowhere": "html",
	"/api": "#accounts",
}

/** Checks that our pages have no barrier that axe finds, and fit on a phone. */
async function checkPages(browser: Browser, base: string) {
	for (const colorScheme of ["light", "dark"] as const) {
		const viewport = { width: 390, height: 800 }
		// axe is added as a script of the page, which the pages' own policy forbids.
		const page = await browser.newPage({ colorScheme, viewport, bypassCSP: true })
		for (const [path, part] of Object.entries(OUR_PAGES)) {
			const here = `${path || "/_local"} in ${colorScheme} colours`
			await page.goto(`${base}/_local${path}`)
			if (path === "/api") {
				await page.getByRole("button", { name: "Super admin" }).waitFor()
				await guide(page).waitFor()
			}
			const width = await page.evaluate(() => document.documentElement.scrollWidth)
			check(width <= 390, `${here} is not wider than a phone, but ${width}`)
			await page.addScriptTag({ path: "node_modules/axe-core/axe.min.js" })
			const violations = await page.evaluate(async (part) => {
				type Axe = { run(context: string): Promise<{ violations: { id: string }[] }> }
				const { axe } = globalThis as unknown as { axe: Axe }
				return (await axe.run(part)).violations.map(({ id }) => id)
			}, part)
			check(violations.length === 0, `axe finds nothing on ${here}: ${violations.join(", ")}`)
		}
		await page.close()
	}
	console.log(`Chromium: axe finds nothing on ${Object.keys(OUR_PAGES).length} pages, in light and dark colours`)
}

/** Signs in with one click, then tries every operation as delivered in the dialog of the page. */
async function tryApiPage(browser: Browser, { base, email }: World) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
	page.setDefaultTimeout(30_000)
	const problems: string[] = []
	page.on("pageerror", ({ message }) => problems.push(message))
	page.on("console", (message) => {
		// Chromium reports each response of 400 and above.
		const isStatus = message.text().startsWith("Failed to load resource")
		if (message.type() === "error" && !isStatus) problems.push(message.text())
	})
	page.on("request", (request) => {
		if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(base)) problems.push(request.url())
	})
	await page.goto(`${base}/_local`)
	const read = page.waitForResponse(`${base}/_local/api/openapi.json`)
	await page.getByRole("link", { name: "API reference" }).click()
	const operations = operationsOf((await (await read).json()) as Shown)
	check(operations.length > 60, `the page shows more than 60 operations, not ${operations.length}`)
	await page.getByRole("button", { name: "Super admin" }).click()
	await page.getByText(`Signed in as ${email}`).waitFor()
	await guide(page).waitFor()

	const refused: string[] = []
	for (const operation of operations) {
		const status = await press(page, operation)
		if (status < 200 || status > 299) refused.push(operation.id)
		if (status > 299) console.log(`Chromium: ${operation.id} responds with ${status}: ${REFUSED[operation.id]}`)
	}
	const unexpected = refused.filter((id) => !(id in REFUSED))
	check(unexpected.length === 0, `all operations but those of the table succeed, not ${unexpected.join(", ")}`)
	check(refused.length <= operations.length * 0.07, "at least 93 % of the operations succeed")
	check(problems.length === 0, `the page has no errors and calls no other origin: ${problems.join(", ")}`)
	const succeeded = operations.length - refused.length
	console.log(`Chromium: /_local/api: ${succeeded} of ${operations.length} operations succeed when first tried`)
	await page.close()
}

/** The one-time password of the 30-second step that is `later` steps after the present one (RFC 6238). */
function totp(secretInHex: string, later: number) {
	const step = Buffer.alloc(8)
	step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later))
	const digest = createHmac("sha1", Buffer.from(secretInHex, "hex")).update(step).digest()
	const digits = (digest.readUInt32BE(digest[19]! & 15) & 0x7fffffff) % 1_000_000
	return `${digits}`.padStart(6, "0")
}

/** The local page for people, with an authenticator that Chromium emulates. */
async function walkWithPasskeys(browser: Browser, { base, mails }: World) {
	const [email, password] = ["salma.khelifi@example.org", "sept grenadiers en fleur"]
	const front = `${base.replace("127.0.0.1", "localhost")}/_local/front`
	const context = await browser.newContext()
	const page = await context.newPage()
	const devtools = await context.newCDPSession(page)
	await devtools.send("WebAuthn.enable")
	const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
		options: {
			protocol: "ctap2",
			transport: "internal",
			hasResidentKey: true,
			hasUserVerification: true,
			isUserVerified: true,
			automaticPresenceSimulation: true,
		},
	})
	const says = (text: RegExp) => page.locator("#result", { hasText: text }).waitFor()
	const press = (name: string) => page.getByRole("button", { name, exact: true }).click()
	const isSignedIn = () => page.getByRole("heading", { name: "Bonjour" }).waitFor()
	const signOut = async () => {
		await press("Se déconnecter")
		await page.getByRole("heading", { name: "Connexion", exact: true }).waitFor()
	}

	const call = async (method: string, path: string, body?: object, token = "") => {
		const { status, text } = await page.evaluate(
			([method, path, body, token]) =>
				fetch(`/api/v1/${path}`, {
					method,
					headers: { "Content-Type": "application/json", ...(token ? { Authorization: token } : {}) },
					body,
				}).then(async (response) => ({ status: response.status, text: await response.text() })),
			[method, path, body ? JSON.stringify(body) : null, token] as const,
		)
		check(status < 300, `${path} succeeds: ${status} ${text}`)
		return JSON.parse(text) as { otpHex?: string }
	}

	await page.goto(front)
	await page.getByLabel("Adresse e-mail").fill(email)
	await page.getByLabel("Mot de passe").fill(password)
	await press("Se connecter")
	await isSignedIn()
	await press("Ajouter une clé d’accès")
	await page.getByLabel("Nom de la clé d’accès").waitFor()
	await signOut()
	await press("Se connecter avec une clé d’accès")
	await isSignedIn()
	await page.getByLabel("Nom de la clé d’accès").fill("Téléphone")
	await press("Renommer")
	await says(/./)
	check((await page.getByLabel("Nom de la clé d’accès").inputValue()) === "Téléphone", "the passkey has its new name")
	await press("Supprimer")
	await page.getByLabel("Nom de la clé d’accès").waitFor({ state: "detached" })
	console.log("Chromium: a passkey is added, signs in, is renamed and removed")

	await press("Ajouter une clé d’accès")
	await page.getByLabel("Nom de la clé d’accès").waitFor()
	const token = await page.locator("#token").inputValue()
	const { otpHex } = await call("GET", "otp/generate", undefined, token)
	await call("POST", "otp/verify", { code: totp(otpHex!, 0) }, token)
	await signOut()
	await devtools.send("WebAuthn.clearCredentials", { authenticatorId })
	await press("Se connecter avec une clé d’accès")
	await says(/Aucune clé d’accès/)
	await call("POST", "auth/passwordless", { email, sendMethode: "email" })
	let link: string | undefined
	for (let tries = 0; !link && tries < 100; tries++) {
		const theirs = (await mails()).filter(({ to }) => to.includes(email))
		const texts = theirs.map(({ text }) => text.match(/http\S*\/passwordless#code=\S+/)?.[0])
		link = texts.find(Boolean)
		if (!link) await page.waitForTimeout(50)
	}
	await page.goto(link ?? front)
	await press("Se connecter")
	await page.getByRole("heading", { name: "Encore une étape" }).waitFor()
	// Each code is accepted once, and the present one is used.
	await page.getByLabel("Code à six chiffres").fill(totp(otpHex!, 1))
	await press("Valider")
	await isSignedIn()
	console.log("Chromium: after the loss of the authenticator, a mailed link and a one-time password sign in")
	await context.close()
}

export async function inChromium(world: World) {
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: QUIET })
	try {
		await walkFromAnotherOrigin(browser, world)
		await checkPages(browser, world.base)
		await walkWithPasskeys(browser, world)
		await tryApiPage(browser, world)
	} finally {
		await browser.close()
	}
}
