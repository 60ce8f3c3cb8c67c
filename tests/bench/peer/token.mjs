// Access tokens: JSON Web Tokens under HMAC-SHA-256, and what else is derived from the same secret.

import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes, randomUUID } from "node:crypto"

import jwt from "jsonwebtoken"

// A key that is made once: jsonwebtoken takes a text for a public key first, at every call.
const SECRET = createSecretKey(process.env.JWT_SECRET, "utf8")
const ISSUER = "halqa-peer"
const AUDIENCE = "halqa-api"
const TOKEN_SECONDS = 12 * 3600

/** What the token of an `Authorization` header says; nothing when none was sent, or it is no good. */
export function claimsOf(authorization, now) {
	const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? "") ?? []
	if (!token) {
		return undefined
	}
	try {
		const clockTimestamp = Math.floor(now / 1000)
		const claims = jwt.verify(token, SECRET, {
			algorithms: ["HS256"],
			issuer: ISSUER,
			audience: AUDIENCE,
			clockTimestamp,
		})
		return { ...claims, token }
	} catch {
		return undefined
	}
}

export function freshToken(user, session, now) {
	const iat = Math.floor(now / 1000)
	const exp = Math.min(iat + TOKEN_SECONDS, Math.floor(Date.parse(session.expiresAt) / 1000))
	const auth_time = Math.floor(Date.parse(session.authTime) / 1000)
	const claims = { sid: session.sid, cid: user.committeeID, iat, nbf: iat, exp, auth_time, amr: session.amr }
	return jwt.sign(claims, SECRET, {
		issuer: ISSUER,
		audience: AUDIENCE,
		subject: user.userID,
		jwtid: randomUUID(),
	})
}

/** The token that the caller came with until half of its life is gone, then a fresh one of the same session. */
export function lastingToken({ user, session, claims }, now) {
	const halfGone = now / 1000 - claims.iat >= (claims.exp - claims.iat) / 2
	const canLastLonger = claims.exp * 1000 < Date.parse(session.expiresAt)
	return halfGone && canLastLonger ? freshToken(user, session, now) : claims.token
}

/** Twenty bytes that stay the same for a purpose and a person, and tell nothing of the secret. */
export const derived = (purpose, id) =>
	createHmac("sha256", SECRET).update(`${purpose} ${id}`).digest().subarray(0, 20)

// A cursor is authenticated encryption of a position, bound to the list that it was written for, good for a day.
const CURSOR_KEY = Buffer.from(hkdfSync("sha256", SECRET, "", "cursor", 32))
const CURSOR_LIFE = 86_400_000

export function cursor(position, list, now) {
	const nonce = randomBytes(12)
	const cipher = createCipheriv("aes-256-gcm", CURSOR_KEY, nonce).setAAD(Buffer.from(list))
	const text = cipher.update(JSON.stringify([now + CURSOR_LIFE, position]))
	return Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]).toString("base64url")
}

/** The position that a cursor holds; nothing when it was not written for this list in the last day. */
export function positionOf(text, list, now) {
	try {
		const bytes = Buffer.from(text, "base64url")
		const decipher = createDecipheriv("aes-256-gcm", CURSOR_KEY, bytes.subarray(0, 12), { authTagLength: 16 })
		decipher.setAAD(Buffer.from(list)).setAuthTag(bytes.subarray(-16))
		const [ends, position] = JSON.parse(decipher.update(bytes.subarray(12, -16)) + decipher.final())
		return now < ends ? position : undefined
	} catch {
		return undefined
	}
}
