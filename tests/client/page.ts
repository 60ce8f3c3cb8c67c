// Uses page/index.html as people would, at an origin of its own: how many calls each of its screens needs, whether one fails,
// and what axe and a phone's width find.

import { halqa } from "halqa-client"
import type { Browser, Locator, Page } from "playwright-core"
import { checkLooks } from "./shared.js"
import { check, succeed, waitFor, type World } from "./walk.js"

const MOST_CALLS = 3
const PASSWORD = "sept grenadiers en fleur"
const WRITER = "salma.khelifi@example.org"
const TITLE = "الإسعافات الأولية في المدرسة"
const WORD = "اسعافات"
/** A course of the demonstration data, and its session that has no marks. */
const [COURSE, SESSION] = ["0198c0de-0000-7000-8000-000000000040", "0198c0de-0000-7000-8000-000000000044"]

/** A question, the answer of another person, and what is typed or chosen on the page; `typed` is empty for an error. */
const question = <Type extends string, Answer>(questionType: Type, question: string, answer: Answer, typed: string) =>
	({ questionType, question, answer, typed, language: "FR" as const, required: questionType !== "FILE" })
const QUESTIONS = [
	question("SHORT_REPLY", "Votre fonction", "Infirmière", "Institutrice"),
	question("LONG_REPLY", "Pourquoi ce cours", "Pour aider.\nEt pour apprendre.", "Pour l’école"),
	{ ...question("SINGLE_CHOICE", "Quel repas", "Végétarien", "Normal"), options: ["Normal", "Végétarien"] },
	{ ...question("MULTIPLE_CHOICE", "Quels jours", ["Samedi"], ""), options: ["Vendredi", "Samedi"] },
	{ ...question("DROPDOWN", "Quel niveau", "Avancé", "Débutant"), options: ["Débutant", "Avancé"] },
	question("YES_NO", "Avez-vous un permis", true, "Non"),
	question("NUMBER", "Années d’expérience", 2.5, "12.25"),
	question("DATE", "Depuis quelle date", "2020-02-29", "1998-03-20"),
	question("TIME", "Heure d’arrivée", "08:30", "09:15"),
	question("SCALE", "Votre forme", 7, "10"),
	question("RATING", "Votre dernier cours", 4, "5"),
	question("EMAIL", "Autre adresse", "autre@example.org", "ecole@example.org"),
	question("PHONE", "Numéro d’urgence", "+21620123456", "20 123"),
	question("FILE", "Votre attestation", null, "attestation.pdf"),
]

async function clientOf(api: string, email: string) {
	const login = await succeed(halqa(api).POST("/auth/login", { body: { email, password: PASSWORD } }))
	return halqa(api, { token: "user" in login ? login.user.token : undefined })
}

/** Publishes a course with all types of questions, for which another person registers. */
async function createCourse(api: string) {
	const [writer, other] = [await clientOf(api, WRITER), await clientOf(api, "nizar.gharsalli@example.org")]
	const about = { courseTitle: TITLE, description: "Deux journées pour apprendre à secourir.", sectionOfMatter: "Secourisme" }
	const body = { ...about, courseType: "ONLINE", contactEmail: "info@example.org", startAt: "2030-05-04T08:00:00.000Z" } as const
	const params = { path: { courseId: (await succeed(writer.POST("/courses", { body }))).course.courseID } }
	const added = writer.POST("/courses/questions/{courseId}", { params, body: { questions: QUESTIONS } })
	const { questions } = await succeed(added)
	const answers = Object.fromEntries(questions.map(({ questionID }, index) => [questionID, QUESTIONS[index]!.answer]))
	await succeed(writer.POST("/courses/{courseId}/publish", { params }))
	const settings = { mode: "MANUAL", capacity: 12, consentText: "J’accepte que mes réponses soient lues." } as const
	await succeed(writer.PUT("/registrations/{courseId}/settings", { params, body: settings }))
	await succeed(other.POST("/registrations/{courseId}", { params, body: { answers, consent: true } }))
	await waitFor("the course in search and catalogue", async () => {
		const found = { params: { query: { q: WORD } } }
		const inSearch = await succeed(other.GET("/courses/search-all", found))
		const inCatalogue = await succeed(halqa(api).GET("/catalogue", found))
		return (inSearch.courses.length && inCatalogue.courses.length) || undefined
	})
}

/** What is done on `page`, and how its screens are checked. */
function using(page: Page, api: string) {
	let calls: string[] = []
	const problems: string[] = []
	// Preflights are not reported.
	page.on("request", (request) => request.url().startsWith(api) && calls.push(`${request.method()} ${request.url()}`))
	page.on("response", (answer) => answer.status() > 399 && problems.push(`${answer.status()} ${answer.url()}`))
	page.on("requestfailed", (request) => problems.push(`no answer: ${request.url()}`))
	page.on("pageerror", ({ message }) => problems.push(message))
	// The console repeats which responses failed.
	page.on("console", (message) => {
		if (message.type() === "error" && !message.text().startsWith("Failed to load")) problems.push(message.text())
	})

	/** Does `act`, waits for `shown`, and checks calls and looks. `failures` are the beginnings of the calls that fail. */
	async function screen(name: string, act: () => Promise<unknown>, shown: Locator, failures: string[] = []) {
		calls = []
		await act()
		await shown.first().waitFor()
		const failed = problems.splice(0)
		const isExpected = failures.length === failed.length && failures.every((start, index) => failed[index]?.startsWith(start))
		check(isExpected, `no other call of « ${name} » fails: ${failed.join(", ")}`)
		check(calls.length <= MOST_CALLS, `« ${name} » needs at most ${MOST_CALLS} calls: ${calls.join(", ")}`)
		for (const width of [390, 1280]) {
			await page.setViewportSize({ width, height: 900 })
			await checkLooks(page, `« ${name} » at ${width} pixels`)
		}
		console.log(`Chromium: page: ${name}: ${calls.length} calls`)
	}
	const button = (name: string) => page.getByRole("button", { name, exact: true })
	const press = (name: string) => button(name).click()
	const follow = (name: string) => page.getByRole("link", { name, exact: true }).first().click()
	const fill = (label: string, text: string) => page.getByLabel(label).fill(text)
	async function signIn(email: string) {
		await fill("Adresse e-mail", email)
		await fill("Mot de passe", PASSWORD)
		await press("Se connecter")
	}
	const heading = (name: string) => page.getByRole("heading", { level: 1, name, exact: true })
	return { screen, button, press, follow, fill, signIn, heading }
}

export async function usePage(browser: Browser, origin: string, { base }: World) {
	const api = `${base}/api/v1`
	await createCourse(api)
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
	const { screen, button, press, follow, fill, signIn, heading } = using(page, api)
	async function search() {
		await fill("Chercher un cours", WORD)
		await press("Chercher")
	}
	const found = page.locator('ul:not(:has-text("Lire une carte"))').getByRole("link", { name: TITLE })
	const status = (text: string) => page.getByRole("status").filter({ hasText: text })

	await screen("catalogue", () => page.goto(`${origin}/page/index.html?api=${api}`), heading("Catalogue"))
	await screen("catalogue, searched", search, found)
	await screen("course of the catalogue", () => follow(TITLE), page.getByText("Contact : info@example.org"))
	await screen("sign-in", () => follow("Cours"), heading("Se connecter"))
	await screen("courses", () => signIn("wassim.ferchiou@example.org"), heading("Cours"))
	await screen("courses, searched", search, found)
	await screen("course with its form", () => follow(TITLE), button("M’inscrire"))
	const direction = await heading(TITLE).evaluate((title) => getComputedStyle(title).direction)
	check(direction === "rtl", "an Arabic title is right to left")
	for (const { question, questionType, typed } of QUESTIONS) {
		const [field, group] = [page.getByLabel(question), page.getByRole("group", { name: question })]
		const content = { name: typed, mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4\n%%EOF\n") }
		if (questionType === "FILE") await field.setInputFiles(content)
		else if (questionType === "DROPDOWN") await field.selectOption(typed)
		else if (!(await group.count())) await field.fill(typed)
		else if (typed) await group.getByLabel(typed, { exact: true }).check()
	}
	await page.getByLabel("J’accepte").check()
	const errors = page.locator(".error:not(:empty)")
	await screen("refused answers", () => press("M’inscrire"), errors, ["400 "])
	check((await errors.count()) === 2, "both errors are beside their fields")
	await page.getByLabel("Vendredi").check()
	await fill("Numéro d’urgence", "+21620123456")
	await screen("registration", () => press("M’inscrire"), status("Votre demande d’inscription a été transmise"))
	await fill("Votre fonction", "Enseignante")
	await screen("changed answers", () => press("Enregistrer mes réponses"), status("L’inscription a été modifiée"))
	await screen("cancelled registration", () => press("Annuler mon inscription"), status("L’inscription a été annulée"))
	await page.getByLabel("J’accepte").check()
	await screen("registration again", () => press("M’inscrire"), status("Votre demande d’inscription a été transmise"))
	await screen("own registrations", () => follow("Mes inscriptions"), heading("Mes inscriptions"))
	await screen("course with the own answers", () => follow(TITLE), button("Enregistrer mes réponses"))
	check((await page.getByLabel("Votre fonction").inputValue()) === "Enseignante", "the stored answer is in the form")
	await screen("signing out", () => press("Se déconnecter"), heading("Catalogue"))
	await follow("Cours")
	await screen("courses of the committee's administrator", () => signIn(WRITER), heading("Cours"))
	await screen("courses of the committee", () => follow("Mon comité"), heading("Cours de mon comité"))
	await screen("registrations of a course", () => follow(TITLE), page.getByRole("rowheader", { name: "Wassim Ferchiou" }))
	for (const name of ["Wassim Ferchiou", "Nizar Gharsalli"]) await page.getByLabel(`Choisir ${name}`).check()
	await screen("decisions", () => press("Accepter"), page.getByText("2 confirmées"))
	await screen("export", () => press("Exporter"), page.getByRole("link", { name: ".xlsx" }))
	await screen("file of an answer", () => press("Fichier"), page.getByRole("link", { name: "attestation.pdf" }))
	await page.close()
}

/** Marks the attendance of a course with two phones, one of which is offline for a while. */
export async function markAttendance(browser: Browser, origin: string, { base }: World) {
	const api = `${base}/api/v1`
	const client = await clientOf(api, WRITER)
	const params = { path: { courseId: COURSE } }
	const { attendance } = await succeed(client.GET("/registrations/{courseId}/attendance", { params }))
	const [marked, doubted, scanned] = attendance
	check(marked?.ticket && doubted && scanned?.ticket, "the course has people with tickets")
	type Person = typeof marked

	async function phone(email: string, hash: string) {
		const page = await browser.newPage({ viewport: { width: 390, height: 900 } })
		const { screen, press, follow, fill, signIn, heading } = using(page, api)
		const who = ({ name, lastName }: Person) => `${name} ${lastName}`
		const row = (person: Person) => page.getByRole("listitem").filter({ hasText: who(person) })
		const sent = (person: Person, mark: string) => row(person).filter({ hasText: mark, hasNotText: "à envoyer" })
		const choose = (person: Person, mark: string) => press(`${mark} : ${who(person)}`)
		const text = (shown: string) => page.getByText(shown)
		async function scan(ticket: string) {
			await fill("Billet", ticket)
			await page.keyboard.press("Enter")
		}
		const toSession = () => page.getByLabel("Séance").selectOption(SESSION)
		const away = (isAway: boolean) => page.context().setOffline(isAway)
		const open = () => page.goto(`${origin}/page/index.html?api=${api}#/${hash}/${COURSE}`)
		await screen(`sign-in before ${hash}`, open, heading("Se connecter"))
		const opened = hash === "attendance" ? page.getByLabel("Séance") : page.getByRole("link", { name: "Présences" })
		await screen(hash, () => signIn(email), opened)
		return { page, screen, follow, sent, choose, text, scan, toSession, away, open, row }
	}
	const online = await phone(WRITER, "committee")
	await online.screen("attendance of a course", () => online.follow("Présences"), online.page.getByLabel("Séance"))
	// A marker, who is a plain member.
	const offline = await phone("wassim.ferchiou@example.org", "attendance")
	for (const { toSession } of [online, offline]) await toSession()

	await offline.away(true)
	const typed = marked.ticket.toLowerCase().replaceAll("0", "o").replaceAll("1", "l").replace(/^.{5}/, "$& - ")
	const one = offline.text("Hors ligne : 1 présence à envoyer")
	await offline.screen("scan, offline", () => offline.scan(typed), one, ["no answer"])
	await online.screen("hand", () => online.choose(marked, "Absent"), online.sent(marked, "Absent(e)"))
	await online.screen("another hand", () => online.choose(doubted, "Absent"), online.sent(doubted, "Absent(e)"))
	const two = offline.text("Hors ligne : 2 présences à envoyer")
	await offline.screen("hand, offline", () => offline.choose(doubted, "Présent"), two, ["no answer"])
	await offline.screen("unknown ticket", () => offline.scan("ABCDE"), offline.text("Ce billet n’est pas dans la liste."))
	const three = offline.text("Hors ligne : 3 présences à envoyer")
	await offline.screen("another scan, offline", () => offline.scan(scanned.ticket!), three, ["no answer"])
	check((await offline.row(doubted).innerText()).includes("à envoyer"), "a mark that waits is shown")
	const refused = offline.text(`${doubted.name} ${doubted.lastName} : Absent(e), une autre personne l’a marqué(e) entre-temps`)
	await offline.screen("network again", () => offline.away(false), refused)

	for (const { page, screen, toSession, sent } of [online, offline]) {
		await screen("reload", () => page.reload(), page.getByLabel("Séance"))
		await toSession()
		for (const [person, mark] of [[marked, "Absent(e)"], [doubted, "Absent(e)"], [scanned, "Présent(e) +"]] as const)
			check((await sent(person, mark).count()) === 1, `${person.lastName} is ${mark}`)
	}
	// Hands that name the version of the one before.
	await offline.screen("changed hand", () => offline.choose(doubted, "Présent"), offline.sent(doubted, "Présent(e)"))
	await offline.screen("hand again", () => offline.choose(doubted, "Absent"), offline.sent(doubted, "Absent(e)"))
	// What waits outlives the page.
	await offline.away(true)
	await offline.screen("last hand, offline", () => offline.choose(doubted, "Présent"), one, ["no answer"])
	await offline.page.goto("about:blank")
	await offline.away(false)
	await offline.screen("page opened again", offline.open, offline.page.getByLabel("Séance"))
	await offline.toSession()
	await offline.sent(doubted, "Présent(e)").waitFor()
	for (const { page } of [online, offline]) await page.close()
}
