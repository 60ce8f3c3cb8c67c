// The Express app: what every answer carries, the routes, the errors.

import { randomUUID } from "node:crypto"

import cors from "cors"
import express from "express"
import helmet from "helmet"

import { edge, signedIn } from "./edge.mjs"
import { login } from "./login.mjs"
import { badFields, notFound, tellError } from "./refusal.mjs"
import { selfView } from "./self-view.mjs"
import { courseShape } from "./shapes.mjs"
import * as store from "./store.mjs"
import { cursor, lastingToken, positionOf } from "./token.mjs"

const POWERED_BY = process.env.POWERED_BY ?? "Halqa"
const VERSION = "1.0.0"
const EXPOSED =
	"Authorization, ETag, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"

export const app = express()
app.disable("x-powered-by")
app.use(named)
// The headers of helmet 6, which clients know: newer ones promise HTTPS for longer and leave the embedder policy out.
app.use(
	helmet({
		contentSecurityPolicy: false,
		crossOriginEmbedderPolicy: true,
		strictTransportSecurity: { maxAge: 15_552_000 },
		// It would take away the one that we set.
		xPoweredBy: false,
	}),
)
app.use(cors({ origin: "*", credentials: true, exposedHeaders: EXPOSED, maxAge: 600 }))
app.get("/api/v1/health", (request, response) => response.json({ code: 200, version: VERSION }))
app.use("/api/v1/auth", (request, response, next) => {
	response.set("Cache-Control", "no-store")
	next()
})
app.use(edge)
app.use(express.json({ limit: 102_400 }))
app.get("/api/v1/auth/check", signedIn, check)
app.post("/api/v1/auth/login", login)
app.get("/api/v1/courses/search-all", signedIn, searchAll)
app.use(() => {
	throw notFound()
})
app.use(tellError)

/** Every answer has an identifier, and a line in the log. */
function named(request, response, next) {
	const [start, requestId] = [performance.now(), randomUUID()]
	response.set({ "X-Powered-By": POWERED_BY, "X-Request-Id": requestId })
	response.on("finish", () => {
		const took = Math.round(performance.now() - start)
		const asked = { requestId, method: request.method, route: request.route?.path ?? "-" }
		const answered = { status: response.statusCode, took, userId: request.caller?.user.userID }
		console.log(JSON.stringify({ level: "info", ...asked, ...answered }))
	})
	next()
}

/** The caller himself, and a token that is good for a while yet. */
async function check(request, response) {
	const { caller, now, touched } = request
	const id = caller.user.userID
	const [activity, enrolment] = await Promise.all([
		store.loginActivity(id, now),
		store.get(store.keys.enrolment(id)),
		touched,
	])
	const user = selfView({ ...caller, activity, enrolment, token: lastingToken(caller, now), now })
	response.set("Authorization", user.token).json({ code: 200, user })
}

/** The published courses of all committees, newest publishing first. */
async function searchAll(request, response) {
	const { caller, now, touched } = request
	const limit = limitOf(request.query.limit)
	const list = `GET /courses/search-all caller=${caller.user.userID}`
	const position = request.query.cursor === undefined ? undefined : positionOf(request.query.cursor, list, now)
	if (request.query.cursor !== undefined && position === undefined) {
		throw badFields([["cursor", "INVALID_CURSOR_MESSAGE", "Le curseur n’est pas valide ou n’est plus valable."]])
	}
	const [page] = await Promise.all([store.published(position, limit), touched])
	response.json({
		code: 200,
		courses: page.courses.map(courseShape),
		nextCursor: page.next && cursor(page.next, list, now),
	})
}

function limitOf(text = "20") {
	const limit = /^\d+$/.test(text) ? Number(text) : 0
	if (limit < 1 || limit > 100) {
		throw badFields([["limit", "LIMIT_INVALID_MESSAGE", "La limite doit être un nombre entier de 1 à 100."]])
	}
	return limit
}
