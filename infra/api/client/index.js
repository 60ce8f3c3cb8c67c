import createClient from "openapi-fetch"

export const halqa = (baseUrl, token) =>
	createClient({ baseUrl, headers: token ? { Authorization: token } : {} })
