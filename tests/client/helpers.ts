// What the package adds to the generated types, against the service. What only a gateway or a later version does comes from
// a function in front of `fetch`.

import { type components, halqa, HalqaError, paginate, type paths, upload } from "halqa-client"
import { check, type World } from "./walk.js"

type Answered = (request: Request, answer: () => Promise<Response>) => Promise<Response>

/** The codes that the errors of an operation with the status `Of` have, without those that are unknown yet. */
type CodesOf<Operation, Of extends number> = Operation extends { responses: infer All }
	? Extract<keyof All, Of> extends infer Status extends keyof All
		? All[Status] extends { content: { "application/json": { message: { RESPONSE_CODE: infer Code } } } }
			? Code
			: never
		: never
	: never

// These compile only if codes and values are listed, other values are read and not sent, and times are texts.
type Register = paths["/registrations/{courseId}"]["post"]
const listed: Extract<CodesOf<Register, 409>, "REGISTRATION_CLOSED_MESSAGE"> = "REGISTRATION_CLOSED_MESSAGE"
const own: Exclude<CodesOf<Register, 404>, components["schemas"]["CourseNotFoundResponse"]["message"]["RESPONSE_CODE"]>[] = []
const known: Extract<components["schemas"]["CourseType"], "ONLINE"> = "ONLINE"
const later: string = "IN_A_BUS"
const others: Exclude<components["schemas"]["Visibility"], "private" | "public">[] = []
// @ts-expect-error A request has no other values.
const unlisted: components["schemas"]["CourseType"] = "IN_A_BUS"
// @ts-expect-error A number is no time.
const wrong: components["schemas"]["CourseCreation"] = { courseTitle: "Un", startAt: 42 }

export async function checkHelpers({ base, email, password }: World): Promise<string[]> {
	const done: string[] = []
	const api = `${base}/api/v1`
	/** A `fetch` whose answers `answered` can replace. */
	const between = (answered: Answered) => (request: Request) => answered(request, () => fetch(request))

	const login = await halqa(api).POST("/auth/login", { body: { email, password } })
	check(login.data && "user" in login.data, "signing in needs no second step")
	const { token } = login.data.user
	const client = halqa(api, { token })

	let refusals = 0
	const refusing = between(async (_, answer) => {
		refusals += 1
		const headers = { "Content-Type": "application/json", "Retry-After": "1" }
		return refusals > 2 ? answer() : new Response('{"message":"Too Many Requests"}', { status: 429, headers })
	})
	const body = { courseTitle: "Premiers secours", startAt: "2030-03-08T08:00:00.000Z", description: "Les gestes qui sauvent." }
	const content = { ...body, courseType: known, sectionOfMatter: "Secourisme", contactEmail: "info@example.org" }
	const hasty = halqa(api, { token, fetch: refusing, patience: 0 })
	const { error } = await hasty.POST("/courses", { body: content })
	check(error?.message.RESPONSE_CODE === "TOO_MANY_REQUESTS_MESSAGE", "the gateway's 429 has the form of ours")
	const { data: created } = await halqa(api, { token, fetch: refusing }).POST("/courses", { body: content })
	check(created && refusals === 3, `a 429 is repeated after its time, with its body: ${refusals}`)
	done.push("the gateway's 429 in an envelope, and repeated")

	const path = { courseId: created.course.courseID }
	const kind = { questionType: "MULTIPLE_CHOICE", options: ["M", "L"] } as const
	const question = { language: "FR", question: "Taille ?", ...kind, options: [...kind.options] }
	const added = await client.POST("/courses/questions/{courseId}", { params: { path }, body: { questions: [question] } })
	check(added.data, "a question needs none of the fields with a default")
	await client.POST("/courses/{courseId}/publish", { params: { path } })
	await client.PUT("/registrations/{courseId}/settings", { params: { path }, body: { mode: "AUTOMATIC" } })
	const answers = { [added.data.questions[0]!.questionID]: ["L"] }
	const { data: seat } = await client.POST("/registrations/{courseId}", { params: { path }, body: { answers } })
	const answer = seat?.registration.answers[0]
	check(answer?.questionType === "MULTIPLE_CHOICE" && answer.value.join() === "L", "the type tells that of the value")
	const ofPerson = { ...path, userId: seat!.registration.userID }
	const calendar = await client.GET("/registrations/{courseId}/{userId}/calendar", { params: { path: ofPerson } })
	check(calendar.data?.startsWith("BEGIN:VCALENDAR"), "a calendar is read as a text")
	done.push("answers by their types, and a calendar as a text")

	const renamed = between(async (_, answer) => {
		const response = await answer()
		const text = (await response.text()).replaceAll(known, later).replaceAll('"MULTIPLE_CHOICE"', '"DRAWING"')
		return new Response(text, { status: response.status, headers: { "Content-Type": "application/json" } })
	})
	const ofLater = halqa(api, { token, fetch: renamed })
	const { data: shown } = await ofLater.GET("/courses/{courseId}", { params: { path } })
	check(String(shown?.course.courseType) === later && String(shown?.questions[0]?.questionType) === "DRAWING", "new values are read")
	done.push("values of enums of a later version")

	const renewals: string[] = []
	const checks: string[] = []
	const counting = between(async ({ url }, answer) => {
		if (url.endsWith("/auth/check")) checks.push(url)
		return answer()
	})
	const renewing = halqa(api, { token, onToken: (renewed) => renewals.push(renewed), fetch: counting })
	const now = Date.now
	try {
		await renewing.GET("/auth/current-user")
		check(checks.join() === "", "a young token is not renewed")
		Date.now = () => now() + 7 * 3_600_000
		const both = await Promise.all([renewing.GET("/auth/current-user"), renewing.GET("/auth/sessions")])
		check(both.every(({ response }) => response.ok) && checks.length === 1, "an old token is renewed once")
		check(renewals.length === 1 && renewals[0]!.startsWith("Bearer "), "the renewed token is told")
	} finally {
		Date.now = now
	}
	done.push("a token that is renewed once")

	const people = new Set<string>()
	for await (const { userID } of paginate(client, "/users/my-committee-users", { params: { query: { limit: 1 } } }))
		people.add(userID)
	check(people.size > 1, "all elements of a list come, page by page")
	const unknown = paginate(client, "/courses/search-all", { params: { query: { cursor: "x" } } }).next()
	const refused = await unknown.then(() => undefined, (thrown: unknown) => thrown)
	check(refused instanceof HalqaError && refused.message === "INVALID_CURSOR_MESSAGE", "a refused page is thrown")
	const file = await upload(client, new File(["un, deux\n"], "deux.txt", { type: "text/plain" }), { visibility: "public" })
	const read = await fetch(`${api}/files/public/${file.fileID}`)
	check(file.status === "READY" && (await read.text()) === "un, deux\n", "the download equals the upload")
	done.push(`${people.size} elements of a list, and a file`)
	check([listed, wrong, others, unlisted].length === 4, "the types are as they are listed")
	return done
}
