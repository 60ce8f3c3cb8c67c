// Runs the scenario in Node, then in Chromium.

import { inChromium } from "./browser.js"
import { checkHelpers } from "./helpers.js"
import { check, type Mail, walk } from "./walk.js"

const [base = "", email = "", password = ""] = process.argv.slice(2)

async function mails(): Promise<Mail[]> {
	const answer = await fetch(`${base}/_local/mail?limit=50`, { signal: AbortSignal.timeout(30_000) })
	check(answer.ok, "the local service lists the sent mail")
	return (await answer.json()) as Mail[]
}

const world = { base, email, password, mails }
for (const step of [...(await walk(world)), ...(await checkHelpers(world))]) console.log(`Node: ${step}`)
await inChromium(world)
