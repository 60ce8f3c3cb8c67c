// A person as he sees himself when he signs in: all twenty-five fields.

import { activityShape, committeeShape } from "./shapes.mjs"
import { derived } from "./token.mjs"

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

export function selfView({ user, committee, activity, enrolment, token, now }) {
	return {
		userID: user.userID,
		name: user.name,
		lastName: user.lastName,
		email: user.email,
		DoC: user.DoC,
		avatar: user.avatar,
		phoneCode: user.phoneCode,
		phone: user.phone,
		isActive: user.isActive,
		isVerified: user.isVerified,
		profile: user.profile,
		role: user.role,
		lastActive: user.lastActive,
		isOtpEnabled: user.isOtpEnabled,
		isOtpVerified: user.isOtpVerified,
		committeeID: user.committeeID,
		Committee: committeeShape(committee),
		permissions: user.permissions,
		LoginActivity: activity.slice(0, 10).map(activityShape),
		...secrets(user, enrolment, now),
		token: `Bearer ${token}`,
	}
}

/** Before enrolment a well-formed secret that is never accepted; while one is tried out that one; then nothing. */
function secrets(user, enrolment, now) {
	const passwordlessBase32 = base32(derived("passwordless-decoy", user.userID))
	const url = `otpauth://totp/Halqa:${encodeURIComponent(user.email)}?issuer=Halqa&algorithm=SHA1&digits=6&period=30`
	if (user.isOtpVerified) {
		return { otpHex: "", otpAscii: "", otpAuthUrl: url, otpBase32: "", passwordlessBase32 }
	}
	const isTriedOut = enrolment && now < Date.parse(enrolment.expiresAt)
	const otpAscii = isTriedOut
		? enrolment.secret
		: Array.from(derived("otp-decoy", user.userID), (byte) => LETTERS[byte % 32]).join("")
	const secret = Buffer.from(otpAscii, "ascii")
	const otpBase32 = base32(secret)
	return {
		otpHex: secret.toString("hex"),
		otpAscii,
		otpAuthUrl: `${url}&secret=${otpBase32}`,
		otpBase32,
		passwordlessBase32,
	}
}

/** RFC 4648, for lengths that need no padding. */
function base32(bytes) {
	let text = ""
	for (let start = 0; start < bytes.length; start += 5) {
		const group = bytes.readUIntBE(start, 5)
		for (let place = 7; place >= 0; place--) {
			text += BASE32[Math.floor(group / 32 ** place) % 32]
		}
	}
	return text
}
