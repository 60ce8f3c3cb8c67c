// What is refused, and how that is told.

export class Refused extends Error {
	constructor(status, code, text, { headers = {}, errors } = {}) {
		super(code)
		Object.assign(this, { status, code, text, headers, errors })
	}
}

export const message = (RESPONSE_CODE, RESPONSE_TEXT) => ({ RESPONSE_TEXT, RESPONSE_CODE })

export const badAuthCombination = (challenge = "") =>
	new Refused(401, "BAD_AUTH_COMBINATION_MESSAGE", "Les informations d’identification sont incorrectes.", {
		headers: { "WWW-Authenticate": `Bearer realm="halqa"${challenge}` },
	})
export const invalidToken = () => badAuthCombination(', error="invalid_token"')
export const tooManyRequests = () =>
	new Refused(429, "TOO_MANY_REQUESTS_MESSAGE", "Trop de requêtes. Veuillez réessayer plus tard.")
export const tooManyAttempts = (seconds) =>
	new Refused(429, "TOO_MANY_ATTEMPTS_MESSAGE", "Trop de tentatives. Veuillez réessayer plus tard.", {
		headers: { "Retry-After": String(seconds) },
	})
export const notFound = () => new Refused(404, "NOT_FOUND_MESSAGE", "Cette ressource n’existe pas.")

/** One bad field is told at the top, too; of several, each by itself. */
export function badFields(fields) {
	const errors = fields.map(([field, code, text]) => ({ field, ...message(code, text) }))
	const [, code, text] =
		fields.length === 1 ? fields[0] : [, "VALIDATION_ERROR_MESSAGE", "Plusieurs champs sont incorrects."]
	return new Refused(400, code, text, { errors })
}

const OF_BODY = {
	"entity.parse.failed": [400, "INVALID_JSON_MESSAGE", "Le corps de la requête n’est pas un objet JSON valide."],
	"entity.too.large": [413, "PAYLOAD_TOO_LARGE_MESSAGE", "Le corps de la requête est trop volumineux."],
	"encoding.unsupported": [415, "UNSUPPORTED_MEDIA_TYPE_MESSAGE", "Ce type de contenu n’est pas pris en charge."],
	"charset.unsupported": [415, "UNSUPPORTED_MEDIA_TYPE_MESSAGE", "Ce type de contenu n’est pas pris en charge."],
}

/** Express's last resort: four arguments tell it that this is for errors. */
export function tellError(error, request, response, next) {
	let refused = error instanceof Refused ? error : OF_BODY[error.type] && new Refused(...OF_BODY[error.type])
	if (!refused) {
		console.error(
			JSON.stringify({
				level: "error",
				requestId: response.get("X-Request-Id"),
				fault: error.stack ?? String(error),
			}),
		)
		refused = new Refused(500, "INTERNAL_ERROR_MESSAGE", "Une erreur interne est survenue. Veuillez réessayer.")
	}
	const { status, code, text, headers, errors } = refused
	response
		.status(status)
		.set(headers)
		.json({ code: status, message: message(code, text), errors })
}
