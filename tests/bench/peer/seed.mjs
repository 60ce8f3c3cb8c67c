// Puts what the bench asks for into the tables: a person with ten sign-ins and a session, his committee, and forty
// published courses. Run again, it puts them there anew. Prints how to come in, as a line of JSON.

import { activityOf, agentOf, unsafelyHashed } from "./login.mjs"
import { keys, PUBLISHED, put } from "./store.mjs"
import { freshToken } from "./token.mjs"

const DAY = 86_400_000
const EMAIL = "peer@example.org"
const PASSWORD = "peer-of-the-bench-passphrase"
const AGENT = agentOf("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0")
const ADDRESS = "203.0.113.7"

const id = (number) => `00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
const [userID, committeeID, sid] = [id(1), id(2), id(3)]

const user = (now) => ({
	userID,
	name: "Amel",
	lastName: "Ben Youssef",
	email: EMAIL,
	DoC: new Date(now - 400 * DAY).toISOString(),
	avatar: "/media/default.png",
	phoneCode: "216",
	phone: "20123456",
	isActive: true,
	isVerified: true,
	profile: "TR",
	role: null,
	lastActive: new Date(now).toISOString(),
	isOtpEnabled: false,
	isOtpVerified: false,
	committeeID,
	permissions: "[]",
	version: 1,
	epoch: 1,
	isPhoneVerified: false,
})

const committee = {
	committeeID,
	nameArabe: "الهيئة الجهوية للتكوين بتونس",
	nameLatin: "Comité régional de formation de Tunis",
	type: "REGIONAL",
	dateOfEst: "1984-10-01T00:00:00.000Z",
	VAT: "0000101A/P/N/000",
	address: "14, rue des Orangers, 2e étage",
	region: "Tunis",
	city: "Tunis",
	postalCode: 1002,
	isActive: true,
	primaryEmail: "contact@tunis.example.org",
	secondaryEmail: null,
	primaryPhone: "+21671123101",
	secondaryPhone: "",
}

const session = (now) => ({
	sid,
	userID,
	createdAt: new Date(now).toISOString(),
	lastActive: new Date(now).toISOString(),
	expiresAt: new Date(now + 30 * DAY).toISOString(),
	epoch: 1,
	authTime: new Date(now).toISOString(),
	amr: ["pwd"],
	ip: ADDRESS,
	...AGENT,
})

const course = (number) => ({
	courseID: id(1000 + number),
	committeeID,
	courseTitle: `Secourisme et gestes qui sauvent, session ${number}`,
	courseSubTitle: "Reconnaître une urgence, alerter, agir en attendant les secours",
	price: 120,
	currency: "TND",
	location: "14, rue des Orangers, 2e étage, Tunis",
	courseType: "ONSITE",
	sectionOfMatter: "Santé et sécurité",
	language: "FR",
	region: "Tunis",
	city: "Tunis",
	startAt: "2027-01-11T08:00:00.000Z",
	endAt: "2027-01-15T16:00:00.000Z",
	state: "PUBLISHED",
	version: 3,
	questionCount: 10,
	createdBy: userID,
	createdAt: "2026-10-01T08:00:00.000Z",
	updatedAt: "2026-10-20T08:00:00.000Z",
	publishedAt: new Date(Date.parse("2026-10-20T08:00:00.000Z") + number * 60_000).toISOString(),
})

async function seed(now) {
	const signIns = Array.from({ length: 10 }, (_, number) =>
		activityOf(userID, ADDRESS, AGENT, now - (number + 1) * DAY),
	)
	const courses = Array.from({ length: 40 }, (_, number) => course(number))
	await Promise.all([
		put(keys.user(userID), { card: user(now) }),
		put(keys.credentials(userID), { passwordHash: unsafelyHashed(PASSWORD).toString("hex") }),
		put(keys.email(EMAIL), { userID, committeeID }),
		put(keys.committee(committeeID), { card: committee }),
		put(keys.session(userID, sid), { card: session(now), ttl: Math.floor((now + 30 * DAY) / 1000) }),
		...signIns.map((card) => put(keys.login(userID, card.loginActivityID), { card })),
		...courses.map((card) =>
			put(keys.course(card.courseID), {
				card,
				publishedPk: PUBLISHED,
				publishedSk: `${card.publishedAt}#${card.courseID}`,
			}),
		),
	])
	const token = `Bearer ${freshToken({ userID, committeeID }, session(now), now)}`
	console.log(JSON.stringify({ token, email: EMAIL, password: PASSWORD }))
}

seed(Date.now()).catch((error) => {
	console.error(error)
	process.exitCode = 1
})
