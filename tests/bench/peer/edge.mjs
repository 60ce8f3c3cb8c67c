// What stands in front of every route but the health check: the public limit, and who calls.

import { badAuthCombination, invalidToken, tooManyRequests } from "./refusal.mjs"
import * as store from "./store.mjs"
import { claimsOf } from "./token.mjs"

const LIMIT = Number(process.env.RATE_LIMIT ?? 100)
const WINDOW = Number(process.env.RATE_WINDOW_SECONDS ?? 60) * 1000
const ACTIVE_EVERY = 5 * 60_000

// What this container last heard of a key. No container remembers more of them.
const known = new Map()
const MOST_KNOWN = 10_000

/** The caller's address as limits see it: the IPv4 address, or the /64 of an IPv6 one. */
export function network(ip) {
	if (!ip.includes(":")) {
		return ip
	}
	const [left, right] = ip.split("::").map((part) => part.split(":"))
	const zeros = right ? Array(8 - left.length - right.length).fill("0") : []
	return `${[...left, ...zeros, ...(right ?? [])].slice(0, 4).join(":")}::/64`
}

/** Counts the request side by side with looking for the caller: session, user and committee. */
export async function edge(request, response, next) {
	const now = Date.now()
	const claims = claimsOf(request.get("authorization"), now)
	const key = claims ? `u:${claims.sub}` : `ip:${network(request.ip)}`
	const [window, caller] = await Promise.all([count(key, now), claims && find(claims, now)])

	response.set({
		"X-RateLimit-Limit": String(LIMIT),
		"X-RateLimit-Remaining": String(Math.max(0, LIMIT - window.count)),
		"X-RateLimit-Reset": String(new Date(window.ends)),
		"Retry-After": String(Math.min(window.ends - now, WINDOW) / 1000),
	})
	if (window.count > LIMIT) {
		throw tooManyRequests()
	}
	Object.assign(request, { now, caller, touched: caller && touch(caller, now) })
	next()
}

/** Lets nobody pass but a caller with a session that is alive. */
export function signedIn(request, response, next) {
	if (!request.caller) {
		throw request.get("authorization") ? invalidToken() : badAuthCombination()
	}
	next()
}

async function count(key, now) {
	const former = known.get(key)
	if (former && now < former.ends && former.count > LIMIT) {
		return former
	}
	const window = await store.count(store.keys.limit(key), WINDOW, now)
	if (known.size >= MOST_KNOWN) {
		known.clear()
	}
	known.set(key, window)
	return window
}

async function find(claims, now) {
	const [session, user, hinted] = await Promise.all([
		store.get(store.keys.session(claims.sub, claims.sid)).then((item) => item?.card),
		store.user(claims.sub),
		store.committee(claims.cid),
	])
	const isAlive = session && user?.isActive && session.epoch === user.epoch && now < Date.parse(session.expiresAt)
	if (!isAlive) {
		return undefined
	}
	const committee = user.committeeID === claims.cid ? hinted : await store.committee(user.committeeID)
	return { session, user, committee, claims }
}

/** Beside the route's own work, and only when the last time is five minutes old. */
async function touch({ user, session }, now) {
	const last = Math.min(Date.parse(user.lastActive), Date.parse(session.lastActive))
	if (now - last >= ACTIVE_EVERY) {
		const unwritten = (error) => console.warn(JSON.stringify({ level: "warn", fault: String(error) }))
		await store.touch(user.userID, session.sid, now).catch(unwritten)
	}
}
