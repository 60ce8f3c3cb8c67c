// A walk through the interface by a client that is made from its document alone. It runs in Node and, on a page
// of another origin, in a browser, so it uses nothing but fetch: a header that a browser hides from that page
// is missing here.

import createClient from "openapi-fetch"
import type { paths } from "./interface.js"

export type Mail = { to: string; text: string }
/** Where the service is, who administers it, and how to read what was sent, newest first. */
export type World = { base: string; email: string; password: string; mails: () => Promise<Mail[]> }

const PATIENCE = 30_000
/** One transparent point. */
const PICTURE =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

export function check(holds: unknown, what: string): asserts holds {
	if (!holds) throw new Error(`This does not hold: ${what}.`)
}

const hasCode = (error: { message: { RESPONSE_CODE: string } } | undefined, code: string) =>
	check(error?.message.RESPONSE_CODE === code, `${code} is answered, not ${JSON.stringify(error)}`)

/** The answer, or the end of the walk. */
async function good<Data>(asked: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
	const { data, error, response } = await asked
	check(data !== undefined, `${response.url} goes well: ${response.status} ${JSON.stringify(error)}`)
	return data
}

/** What `ask` finds in the end; what follows from a write may take a moment. */
async function found<Found>(what: string, ask: () => Promise<Found | undefined>): Promise<Found> {
	for (let tries = 0; tries < 60; tries += 1) {
		const answer = await ask()
		if (answer !== undefined) return answer
		await new Promise((resolve) => setTimeout(resolve, 250))
	}
	throw new Error(`${what} did not come.`)
}

export async function walk({ base, email, password, mails }: World): Promise<string[]> {
	const done: string[] = []
	const patient = (request: Request) => fetch(request, { signal: AbortSignal.timeout(PATIENCE) })
	const get = (url: string) => patient(new Request(url))

	function caller(token?: string) {
		const client = createClient<paths>({
			baseUrl: `${base}/api/v1`,
			fetch: patient,
			headers: { Authorization: token },
		})
		client.use({
			onResponse({ response, schemaPath }) {
				const { headers } = response
				const always = ["ETag", "X-Request-Id"]
				const limited = ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]
				for (const name of schemaPath === "/health" ? always : [...always, ...limited])
					check(headers.get(name), `${name} of ${schemaPath} can be read`)
				if (schemaPath === "/health") return
				const [limit, left] = ["Limit", "Remaining"].map((name) => Number(headers.get(`X-RateLimit-${name}`)))
				check(left! < limit!, "what remains is less than the limit")
				check(Number(headers.get("Retry-After")) > 0, "Retry-After is a number of seconds")
				check(!Number.isNaN(Date.parse(headers.get("X-RateLimit-Reset")!)), "X-RateLimit-Reset is a date")
			},
		})
		return client
	}

	const anyone = caller()
	const { version } = await good(anyone.GET("/health"))
	done.push(`the software's version is ${version}`)

	const newcomer = { email: `walk-${crypto.randomUUID()}@example.org`, password: "le phare de Kelibia" }
	const { committees } = await good(anyone.GET("/committees"))
	const committeeID = committees[0]?.committeeID
	check(committeeID, "there is a committee")
	const names = { name: "Youssef", lastName: "Trabelsi" }
	const registration = { ...names, ...newcomer, confirmPassword: newcomer.password, committeeID }
	const { user: registered } = await good(anyone.POST("/users/register", { body: registration }))
	check(!registered.isVerified, "who registers is not verified yet")
	const code = await found("the code", async () => {
		const mail = (await mails()).find(({ to }) => to.includes(newcomer.email))
		return mail?.text.match(/\b\d{6}\b/)?.[0]
	})
	await good(anyone.PUT("/users/email-verification", { body: { email: newcomer.email, code } }))
	done.push("registered, and proved the mailbox with the code of the mail")

	const wrong = await anyone.POST("/auth/login", { body: { ...newcomer, password: "not this one" } })
	check(wrong.response.status === 401, "a wrong password is 401")
	hasCode(wrong.error, "BAD_AUTH_COMBINATION_MESSAGE")
	check(wrong.response.headers.get("WWW-Authenticate"), "WWW-Authenticate can be read")
	done.push("401 for a wrong password")

	async function signIn(body: { email: string; password: string }) {
		const { data, response } = await anyone.POST("/auth/login", { body })
		check(data && "user" in data, "signing in needs no second step")
		check(response.headers.get("Authorization") === data.user.token, "the token can be read in the header too")
		return caller(data.user.token)
	}
	const member = await signIn(newcomer)
	const { user } = await good(member.GET("/auth/check"))
	check(user.isVerified && user.email === newcomer.email && user.profile === "MB", "it is the newcomer")
	check(user.Committee.committeeID === committeeID, "he is of the committee that he chose")
	const admin = await signIn({ email, password })
	done.push("signed in, checked")

	const title = `Secourisme ${crypto.randomUUID().replaceAll("-", "")}`
	const bad = await admin.POST("/courses", { body: { courseTitle: "" } })
	check(bad.error?.errors?.[0]?.field === "courseTitle", "a bad field is named")
	const { course } = await good(
		admin.POST("/courses", {
			body: {
				courseTitle: title,
				description: "Deux journées pour apprendre à protéger, alerter et secourir.",
				courseType: "ONLINE",
				sectionOfMatter: "Secourisme",
				contactEmail: "formation@example.org",
				price: 45.5,
			},
		}),
	)
	const path = { courseId: course.courseID }
	const question = { language: "FR", question: "Pourquoi ?", questionType: "SHORT_REPLY" } as const
	await good(admin.POST("/courses/questions/{courseId}", { params: { path }, body: { questions: [question] } }))
	await good(admin.POST("/courses/{courseId}/publish", { params: { path } }))
	const listed = await found("the published course", async () => {
		const query = { q: title }
		const { courses } = await good(member.GET("/courses/search-all", { params: { query } }))
		return courses.find(({ courseID }) => courseID === course.courseID)
	})
	check(listed.price === 45.5 && listed.state === "PUBLISHED", "what is found is what was written")
	done.push("a course: written, published, found")

	const first = await member.GET("/courses/{courseId}", { params: { path } })
	check(first.data?.questions.length === 1, "the course has its question")
	// Where a script sets If-None-Match itself, fetch adds `Cache-Control: no-cache` unless there is another.
	const headers = { "If-None-Match": first.response.headers.get("ETag")!, "Cache-Control": "max-age=0" }
	const { response: second } = await member.GET("/courses/{courseId}", { params: { path }, headers })
	check(second.status === 304, "what has not changed is 304")
	done.push("304 for what has not changed")

	const content = new TextEncoder().encode("un, deux, trois\n")
	const { file, upload } = await good(
		member.POST("/files", {
			body: { name: "trois.txt", contentType: "text/plain", size: content.length, visibility: "public" },
		}),
	)
	const form = new FormData()
	for (const [name, value] of Object.entries(upload.fields)) form.append(name, value)
	form.append("file", new Blob([content], { type: "text/plain" }))
	const sent = await patient(new Request(upload.url, { method: "POST", body: form }))
	check(sent.ok, `the form is taken: ${sent.status}`)
	const fileId = { fileId: file.fileID }
	await good(member.POST("/files/{fileId}/complete", { params: { path: fileId } }))
	const { file: kept } = await good(member.GET("/files/{fileId}", { params: { path: fileId } }))
	check(kept.status === "READY" && kept.url, "the file is ready")
	for (const url of [kept.url, `${base}/api/v1/files/public/${file.fileID}`])
		check((await (await get(url)).text()) === "un, deux, trois\n", "what comes back is what went")
	done.push("a file: announced, sent by its form, read by its owner and by anyone")

	const bytes = Uint8Array.from(atob(PICTURE), (letter) => letter.charCodeAt(0))
	const picture = new FormData()
	picture.append("avatar", new Blob([bytes], { type: "image/png" }), "point.png")
	const { avatar } = await good(member.POST("/users/avatar", { body: picture, bodySerializer: () => picture }))
	check(avatar.startsWith("/media/"), "the picture has an address")
	done.push(`a picture: ${avatar}`)

	const header = { "Idempotency-Key": crypto.randomUUID() }
	const text = { to: "+21698000123", message: "Rendez-vous à 9 h." }
	const send = () => good(admin.POST("/sms/single", { params: { header }, body: text }))
	const [{ sms }, again] = [await send(), await send()]
	check(sms.smsID === again.sms.smsID, "the same key sends once")
	await found("the text message", async () => {
		const asked = await good(admin.GET("/sms/{smsId}", { params: { path: { smsId: sms.smsID } } }))
		return asked.sms.status === "SENT" ? true : undefined
	})
	done.push("a text message: accepted once, sent")

	const met = new Set<string>()
	let cursor: string | null = null
	do {
		const query: { limit: number; cursor?: string } = cursor ? { limit: 1, cursor } : { limit: 1 }
		const page = await good(admin.GET("/users/my-committee-users", { params: { query } }))
		for (const { userID } of page.users) check(!met.has(userID) && met.add(userID), "nobody is listed twice")
		cursor = page.nextCursor
	} while (cursor && met.size < 100)
	check(met.has(user.userID) && met.size > 1, "all are listed, page by page")
	done.push(`a list by its cursor: ${met.size} pages`)

	const stranger = { email: `nobody-${crypto.randomUUID()}@example.org`, password: "not this one" }
	let last = await anyone.POST("/auth/login", { body: stranger })
	for (let tries = 0; last.response.status === 401 && tries < 12; tries += 1)
		last = await anyone.POST("/auth/login", { body: stranger })
	check(last.response.status === 429, "who guesses too often is 429")
	hasCode(last.error, "TOO_MANY_ATTEMPTS_MESSAGE")
	check(Number(last.response.headers.get("Retry-After")) > 60, "Retry-After says for how long")
	done.push("429 with Retry-After for who guesses too often")

	await good(member.POST("/auth/logout"))
	const { response: gone } = await member.GET("/auth/current-user")
	check(gone.headers.get("WWW-Authenticate")?.includes("invalid_token"), "a token ends with its session")
	done.push("signed out")
	return done
}
