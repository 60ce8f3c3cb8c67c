// POST /auth/login: address and password open a session.

import { createHash, randomUUID, timingSafeEqual } from "node:crypto"

import { network } from "./edge.mjs"
import { badAuthCombination, badFields, message, tooManyAttempts } from "./refusal.mjs"
import { selfView } from "./self-view.mjs"
import * as store from "./store.mjs"
import { freshToken } from "./token.mjs"

const QUARTER_HOUR = 15 * 60_000
const SESSION = 30 * 86_400_000

/**
 * Not how a password may be kept: a fast hash stands where the service runs Argon2id, so that what is measured is all
 * the rest. Nobody but the seed has an account here.
 */
export const unsafelyHashed = (password) => createHash("sha256").update(password).digest()

export async function login(request, response) {
	const { email, password } = read(request.body)
	const { now } = request
	const [reserved, found] = await Promise.all([
		reserve(counters(email, network(request.ip)), now),
		find(email, now),
	])
	const hash = Buffer.from(found.credentials?.passwordHash ?? "".padStart(64, "0"), "hex")
	const isProved =
		timingSafeEqual(unsafelyHashed(password), hash) && found.user?.isActive && found.user.email === email
	if (!isProved) {
		throw badAuthCombination()
	}

	const { user } = found
	const at = new Date(now).toISOString()
	const agent = agentOf(request.get("user-agent") ?? "")
	const session = {
		sid: randomUUID(),
		userID: user.userID,
		createdAt: at,
		lastActive: at,
		expiresAt: new Date(now + SESSION).toISOString(),
		epoch: user.epoch,
		authTime: at,
		amr: ["pwd"],
		ip: request.ip,
		...agent,
	}
	const [noted] = await Promise.all([
		store.signIn(session, activityOf(user.userID, request.ip, agent, now)),
		// Places that cannot be given back are free when their windows end.
		Promise.allSettled(reserved.map(([key, window]) => store.giveBack(key, window))),
	])

	const token = freshToken(user, session, now)
	const shown = selfView({ ...found, activity: [noted, ...found.activity], token, now })
	response.set("Authorization", shown.token)
	response.json({ code: 200, message: message("LOGIN_SUCCESS_MESSAGE", "Vous êtes connecté."), user: shown })
}

function read(body) {
	const missing = ["email", "password"].filter((name) => typeof body?.[name] !== "string" || body[name] === "")
	if (missing.length > 0) {
		throw badFields(missing.map((name) => [name, "FIELD_REQUIRED_MESSAGE", "Ce champ est obligatoire."]))
	}
	return { email: body.email.trim().toLowerCase(), password: body.password }
}

/** Per account and network 10, per account 100, per network 50 failures in 15 minutes. */
const counters = (email, from) => [
	[store.keys.counter("password-account-network", `${email} ${from}`), 10],
	[store.keys.counter("password-account", email), 100],
	[store.keys.counter("password-network", from), 50],
]

/** Takes a place in each counter before the work: a success gives it back, so many at once cannot slip past. */
async function reserve(all, now) {
	const taken = await Promise.all(
		all.map(async ([key, most]) => [key, await store.count(key, QUARTER_HOUR, now), most]),
	)
	const full = taken.filter(([, window, most]) => window.count > most).map(([, window]) => window.ends)
	if (full.length > 0) {
		await Promise.allSettled(taken.map(([key, window]) => store.giveBack(key, window)))
		throw tooManyAttempts((Math.max(...full) - now) / 1000)
	}
	return taken
}

/** Whoever has the address; for nobody, the same reads of what is not there. */
async function find(email, now) {
	const { userID, committeeID } = (await store.get(store.keys.email(email))) ?? {
		userID: "nobody",
		committeeID: "none",
	}
	const [user, committee, activity, enrolment, credentials] = await Promise.all([
		store.user(userID),
		store.committee(committeeID),
		store.loginActivity(userID, now),
		store.get(store.keys.enrolment(userID)),
		store.get(store.keys.credentials(userID)),
	])
	const isMoved = user && user.committeeID !== committeeID
	return {
		user,
		committee: isMoved ? await store.committee(user.committeeID) : committee,
		activity,
		enrolment,
		credentials,
	}
}

/** A completed sign-in, as its owner reads it. */
export const activityOf = (userID, ip, agent, now) => ({
	loginActivityID: now * 1000,
	userID,
	ip,
	continent: null,
	countryCode: null,
	country: null,
	city: null,
	region: null,
	isp: null,
	lat: null,
	lon: null,
	...agent,
	createdAt: new Date(now).toISOString(),
})

// The first mark that is found counts, for a browser names those that it descends from, too.
const BROWSERS = [
	["Edg", "Edge"],
	["OPR/", "Opera"],
	["Firefox/", "Firefox"],
	["Chrome/", "Chrome"],
	["Version/", "Safari"],
	["curl/", "curl"],
]
const SYSTEMS = [
	["Windows", "Windows"],
	["Android", "Android"],
	["iPhone", "iOS"],
	["iPad", "iOS"],
	["Mac OS X", "macOS"],
	["Linux", "Linux"],
]
const DEVICES = [
	["iPad", "tablet"],
	["Mobi", "mobile"],
	["Android", "tablet"],
	["Windows", "desktop"],
	["Mac OS X", "desktop"],
	["X11", "desktop"],
]

/** What a User-Agent header says, in the words of a list that a person reads. */
export function agentOf(header) {
	const find = (marks) => marks.find(([mark]) => header.includes(mark))?.[1] ?? "unknown"
	return { browser: find(BROWSERS), os: find(SYSTEMS), device: find(DEVICES) }
}
