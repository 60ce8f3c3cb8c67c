// An end-to-end scenario with a client generated from the OpenAPI document. It also runs in a browser on a page of
// another origin, so it uses only fetch: response headers that CORS does not expose are missing there.

import createClient from "openapi-fetch"
import type { paths } from "halqa-client"

export type Mail = { to: string; text: string }
/** The service's URL, its administrator's credentials, and a function that lists the sent mail, newest first. */
export type World = { base: string; email: string; password: string; mails: () => Promise<Mail[]> }

const TIMEOUT_MS = 30_000
/** A PNG of one transparent pixel. */
const PICTURE =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

export function check(holds: unknown, what: string): asserts holds {
	if (!holds) throw new Error(`Check failed: ${what}.`)
}

const hasCode = (error: { message: { RESPONSE_CODE: string } } | undefined, code: string) =>
	check(error?.message.RESPONSE_CODE === code, `the code is ${code}, not ${JSON.stringify(error)}`)

/** The body of a successful response; otherwise the scenario fails. */
export async function succeed<Data>(request: Promise<{ data?: Data; error?: unknown; response: Response }>): Promise<Data> {
	const { data, error, response } = await request
	check(data !== undefined, `${response.url} succeeds: ${response.status} ${JSON.stringify(error)}`)
	return data
}

/** Repeats `ask` until it finds something, for at most 15 seconds: effects of a write can be delayed. */
export async function waitFor<Found>(what: string, ask: () => Promise<Found | undefined>): Promise<Found> {
	for (let tries = 0; tries < 60; tries += 1) {
		const answer = await ask()
		if (answer !== undefined) return answer
		await new Promise((resolve) => setTimeout(resolve, 250))
	}
	throw new Error(`${what} did not arrive.`)
}

export async function walk({ base, email, password, mails }: World): Promise<string[]> {
	const done: string[] = []
	const fetchWithTimeout = (request: Request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) })
	const get = (url: string) => fetchWithTimeout(new Request(url))

	function caller(token?: string) {
		const client = createClient<paths>({
			baseUrl: `${base}/api/v1`,
			fetch: fetchWithTimeout,
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
	const { version } = await succeed(anyone.GET("/health"))
	done.push(`the software's version is ${version}`)

	const newcomer = { email: `walk-${crypto.randomUUID()}@example.org`, password: "le phare de Kelibia" }
	const { committees } = await succeed(anyone.GET("/committees"))
	// The administrator's committee, whose users they list below.
	const committeeID = committees.find(({ type }) => type === "NATIONAL")?.committeeID
	check(committeeID, "there is a committee")
	const names = { name: "Youssef", lastName: "Trabelsi" }
	const registration = { ...names, ...newcomer, confirmPassword: newcomer.password, committeeID }
	const { user: registered } = await succeed(anyone.POST("/users/register", { body: registration }))
	check(!registered.isVerified, "a registered account is not verified yet")
	const code = await waitFor("the code", async () => {
		const mail = (await mails()).find(({ to }) => to.includes(newcomer.email))
		return mail?.text.match(/\b\d{6}\b/)?.[0]
	})
	done.push("registered, and received the code")

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
	await succeed(member.PUT("/users/email-verification", { body: { code } }))
	const { user } = await succeed(member.GET("/auth/check"))
	check(user.isVerified && user.email === newcomer.email && user.profile === "MB", "the account is the registered one")
	check(user.Committee.committeeID === committeeID, "the committee is the chosen one")
	const admin = await signIn({ email, password })
	done.push("signed in, verified the mail address, checked")

	const title = `Secourisme ${crypto.randomUUID().replaceAll("-", "")}`
	const bad = await admin.POST("/courses", { body: { courseTitle: "" } })
	check(bad.error?.errors?.[0]?.field === "courseTitle", "an invalid field is named")
	const { course } = await succeed(
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
	await succeed(admin.POST("/courses/questions/{courseId}", { params: { path }, body: { questions: [question] } }))
	await succeed(admin.POST("/courses/{courseId}/publish", { params: { path } }))
	const listed = await waitFor("the published course", async () => {
		const query = { q: title }
		const { courses } = await succeed(member.GET("/courses/search-all", { params: { query } }))
		return courses.find(({ courseID }) => courseID === course.courseID)
	})
	check(listed.price === 45.5 && listed.state === "PUBLISHED", "the course is found as it was written")
	done.push("a course: written, published, found")

	const first = await member.GET("/courses/{courseId}", { params: { path } })
	check(first.data?.questions.length === 1, "the course has its question")
	// If a script sets If-None-Match itself, fetch adds `Cache-Control: no-cache` unless there is another.
	const headers = { "If-None-Match": first.response.headers.get("ETag")!, "Cache-Control": "max-age=0" }
	const { response: second } = await member.GET("/courses/{courseId}", { params: { path }, headers })
	check(second.status === 304, "an unchanged course is 304")
	done.push("304 for an unchanged course")

	const settings = { mode: "AUTOMATIC", capacity: 1, waitlistLimit: 5 } as const
	await succeed(admin.PUT("/registrations/{courseId}/settings", { params: { path }, body: settings }))
	const answers = { [first.data.questions[0]!.questionID]: "Pour aider" }
	const registering = member.POST("/registrations/{courseId}", { params: { path }, body: { answers } })
	const { registration: seat } = await succeed(registering)
	check(seat.state === "CONFIRMED" && seat.answers[0]?.value === "Pour aider", "the seat is the member's")
	const { registration: place } = await succeed(admin.POST("/registrations/{courseId}", { params: { path } }))
	check(place.state === "WAITLISTED" && place.position === 1, "the next person waits")
	const ofMember = { ...path, userId: seat.userID }
	await succeed(member.POST("/registrations/{courseId}/{userId}/cancel", { params: { path: ofMember } }))
	const ofAdmin = { ...path, userId: place.userID }
	await waitFor("the seat", async () => {
		const shown = await succeed(admin.GET("/registrations/{courseId}/{userId}", { params: { path: ofAdmin } }))
		return shown.registration.state === "CONFIRMED" ? true : undefined
	})
	done.push("registrations: a seat, a place on the list, and the seat that became free")

	const [start, end] = [3_660_000, 60_000].map((before) => new Date(Date.now() - before).toISOString())
	const planned = { sessions: [{ startAt: start!, endAt: end! }] }
	const { sessions } = await succeed(
		admin.PUT("/registrations/{courseId}/sessions", { params: { path }, body: planned }),
	)
	const mark = { userID: place.userID, sessionID: sessions[0]!.sessionID, status: "PRESENT", version: 0 } as const
	const marking = { sentAt: new Date().toISOString(), marks: [mark] }
	await succeed(admin.POST("/registrations/{courseId}/attendance", { params: { path }, body: marking }))
	const giving = { ...settings, certificate: { kind: "ATTENDANCE" } } as const
	await succeed(admin.PUT("/registrations/{courseId}/settings", { params: { path }, body: giving }))
	const { results } = await succeed(
		admin.POST("/registrations/{courseId}/certificates", { params: { path }, body: {} }),
	)
	const named = { code: results[0]!.code! }
	const verify = async () => {
		const shown = await succeed(anyone.GET("/certificates/{code}", { params: { path: named } }))
		return shown.certificate
	}
	const { status, courseTitle, minutes } = await verify()
	check(status === "VALID" && courseTitle === title && minutes === 60, "the certificate verifies")
	const pdf = await (await get(`${base}/api/v1/certificates/${named.code}/pdf`)).text()
	check(pdf.startsWith("%PDF-"), "the certificate has a page")
	const reason = { reason: "Le nom est faux." }
	await succeed(admin.POST("/certificates/{code}/revoke", { params: { path: named }, body: reason }))
	const revoked = await verify()
	check(revoked.status === "REVOKED" && revoked.name === null, "a revoked certificate says so")
	done.push("a session, attendance, and a certificate: issued, verified, revoked")

	const content = new TextEncoder().encode("un, deux, trois\n")
	const { file, upload } = await succeed(
		member.POST("/files", {
			body: { name: "trois.txt", contentType: "text/plain", size: content.length, visibility: "public" },
		}),
	)
	const form = new FormData()
	for (const [name, value] of Object.entries(upload.fields)) form.append(name, value)
	form.append("file", new Blob([content], { type: "text/plain" }))
	const sent = await fetchWithTimeout(new Request(upload.url, { method: "POST", body: form }))
	check(sent.ok, `the upload is accepted: ${sent.status}`)
	const fileId = { fileId: file.fileID }
	await succeed(member.POST("/files/{fileId}/complete", { params: { path: fileId } }))
	const { file: stored } = await succeed(member.GET("/files/{fileId}", { params: { path: fileId } }))
	check(stored.status === "READY" && stored.url, "the file is ready")
	for (const url of [stored.url, `${base}/api/v1/files/public/${file.fileID}`])
		check((await (await get(url)).text()) === "un, deux, trois\n", "the download equals the upload")
	done.push("a file: created, uploaded by form, read by its owner and anonymously")

	const bytes = Uint8Array.from(atob(PICTURE), (letter) => letter.charCodeAt(0))
	const picture = new FormData()
	picture.append("avatar", new Blob([bytes], { type: "image/png" }), "point.png")
	const { avatar } = await succeed(member.POST("/users/avatar", { body: picture, bodySerializer: () => picture }))
	check(avatar.startsWith("/media/"), "the picture has an address")
	done.push(`a picture: ${avatar}`)

	const header = { "Idempotency-Key": crypto.randomUUID() }
	const text = { to: "+21698000123", message: "Rendez-vous à 9 h." }
	const send = () => succeed(admin.POST("/sms/single", { params: { header }, body: text }))
	const [{ sms }, again] = [await send(), await send()]
	check(sms.smsID === again.sms.smsID, "the same key sends once")
	await waitFor("the text message", async () => {
		const response = await succeed(admin.GET("/sms/{smsId}", { params: { path: { smsId: sms.smsID } } }))
		return response.sms.status === "SENT" ? true : undefined
	})
	done.push("a text message: accepted once, sent")

	const met = new Set<string>()
	let cursor: string | null = null
	do {
		const query: { limit: number; cursor?: string } = cursor ? { limit: 1, cursor } : { limit: 1 }
		const page = await succeed(admin.GET("/users/my-committee-users", { params: { query } }))
		for (const { userID } of page.users) check(!met.has(userID) && met.add(userID), "no user is listed twice")
		cursor = page.nextCursor
	} while (cursor && met.size < 100)
	check(met.has(user.userID) && met.size > 1, "all users are listed, page by page")
	done.push(`a list by its cursor: ${met.size} pages`)

	const unknownAccount = { email: `unknown-${crypto.randomUUID()}@example.org`, password: "not this one" }
	let last = await anyone.POST("/auth/login", { body: unknownAccount })
	for (let tries = 0; last.response.status === 401 && tries < 12; tries += 1)
		last = await anyone.POST("/auth/login", { body: unknownAccount })
	check(last.response.status === 429, "too many attempts are 429")
	hasCode(last.error, "TOO_MANY_ATTEMPTS_MESSAGE")
	check(Number(last.response.headers.get("Retry-After")) > 60, "Retry-After is more than a minute")
	done.push("429 with Retry-After after too many attempts")

	await succeed(member.POST("/auth/logout"))
	const { response: gone } = await member.GET("/auth/current-user")
	check(gone.headers.get("WWW-Authenticate")?.includes("invalid_token"), "a token ends with its session")
	done.push("signed out")
	return done
}
