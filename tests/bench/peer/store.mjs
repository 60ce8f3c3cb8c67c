// The tables: the same two as the service's, under keys of their own.

import { createHash } from "node:crypto"

import {
	ConditionalCheckFailedException,
	DynamoDBClient,
	TransactionCanceledException,
} from "@aws-sdk/client-dynamodb"
import {
	DynamoDBDocumentClient,
	GetCommand,
	PutCommand,
	QueryCommand,
	TransactWriteCommand,
	UpdateCommand,
} from "@aws-sdk/lib-dynamodb"

const RECORDS = process.env.RECORDS_TABLE
const TRANSIENT = process.env.TRANSIENT_TABLE

// Region, endpoint and credentials come from the environment, as on Lambda; connections are kept by default.
const tables = DynamoDBDocumentClient.from(new DynamoDBClient({}))

const hashed = (text) => createHash("sha256").update(text).digest("hex")
const at = (TableName, pk, sk) => ({ TableName, Key: { pk: `PEER#${pk}`, sk } })

export const keys = {
	user: (id) => at(RECORDS, `USER#${id}`, "USER"),
	credentials: (id) => at(RECORDS, `USER#${id}`, "CREDENTIALS"),
	login: (id, loginActivityID) => at(RECORDS, `USER#${id}`, `LOGIN#${String(loginActivityID).padStart(16, "0")}`),
	email: (email) => at(RECORDS, `EMAIL#${hashed(email)}`, "EMAIL"),
	committee: (id) => at(RECORDS, `COMMITTEE#${id}`, "COMMITTEE"),
	course: (id) => at(RECORDS, `COURSE#${id}`, "COURSE"),
	session: (id, sid) => at(TRANSIENT, `USER#${id}`, `SESSION#${sid}`),
	enrolment: (id) => at(TRANSIENT, `USER#${id}`, "ENROLMENT"),
	limit: (key) => at(TRANSIENT, `LIMIT#${key}`, "LIMIT"),
	counter: (name, key) => at(TRANSIENT, `COUNTER#${name}#${hashed(key)}`, "COUNTER"),
}

export const PUBLISHED = "PEER#PUBLISHED"

/** How DynamoDB calls the part of a transaction whose condition did not hold. */
const REFUSED = "ConditionalCheckFailed"
const ACTIVITY_SHOWN = 10
const ACTIVITY_KEPT = 180 * 86_400_000

export async function get(key) {
	const { Item } = await tables.send(new GetCommand({ ...key, ConsistentRead: true }))
	return Item
}

export async function put({ TableName, Key }, attributes) {
	await tables.send(new PutCommand({ TableName, Item: { ...Key, ...attributes } }))
}

export const user = async (id) => (await get(keys.user(id)))?.card
export const committee = async (id) => (await get(keys.committee(id)))?.card

/** The last sign-ins of a person, newest first. */
export async function loginActivity(id, now) {
	const { Items } = await tables.send(
		new QueryCommand({
			TableName: RECORDS,
			KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
			ExpressionAttributeValues: { ":pk": keys.user(id).Key.pk, ":prefix": "LOGIN#" },
			ConsistentRead: true,
			ScanIndexForward: false,
			Limit: ACTIVITY_SHOWN,
		}),
	)
	return Items.map(({ card }) => card).filter(({ createdAt }) => now < Date.parse(createdAt) + ACTIVITY_KEPT)
}

/** A page of the published courses, newest publishing first, and the position of the next one. */
export async function published(position, limit) {
	const { Items } = await tables.send(
		new QueryCommand({
			TableName: RECORDS,
			IndexName: "published",
			KeyConditionExpression: position ? "publishedPk = :pk AND publishedSk < :after" : "publishedPk = :pk",
			ExpressionAttributeValues: { ":pk": PUBLISHED, ...(position && { ":after": position }) },
			ScanIndexForward: false,
			Limit: limit + 1,
		}),
	)
	const page = Items.slice(0, limit)
	return { courses: page.map(({ card }) => card), next: Items.length > limit ? page.at(-1).publishedSk : null }
}

/** The item after a conditional update; nothing when the condition did not hold. */
async function update(key, condition, expression, values, names) {
	try {
		const { Attributes } = await tables.send(
			new UpdateCommand({
				...key,
				ConditionExpression: condition,
				UpdateExpression: expression,
				ExpressionAttributeValues: values,
				ExpressionAttributeNames: names,
				ReturnValues: "ALL_NEW",
			}),
		)
		return Attributes
	} catch (error) {
		if (error instanceof ConditionalCheckFailedException) {
			return undefined
		}
		throw error
	}
}

// Windows that this container believes open: they are counted in with one write instead of two. A belief that is
// wrong costs that second write, no more.
const openWindows = new Map()
const MOST_REMEMBERED = 10_000

/**
 * Counts into a window that begins with the key's first request: two updates of which exactly one can hold, tried in
 * turn with the same `now`, the likelier one first.
 */
export async function count(key, length, now) {
	const { pk } = key.Key
	const seemsOpen = now < (openWindows.get(pk) ?? 0)
	for (let turn = 0; turn < 50; turn++) {
		const opens = (turn % 2 === 0) !== seemsOpen
		const window = opens ? await openWindow(key, length, now) : await countIn(key, now)
		if (window) {
			if (openWindows.size >= MOST_REMEMBERED) {
				openWindows.clear()
			}
			openWindows.set(pk, window.exp)
			return { count: window.n, ends: window.exp }
		}
	}
	throw new Error("others open and close this window all the time")
}

function openWindow(key, length, now) {
	const ends = now + length
	const values = { ":now": now, ":one": 1, ":ends": ends, ":ttl": Math.floor(ends / 1000) + 60 }
	const condition = "attribute_not_exists(exp) OR exp <= :now"
	return update(key, condition, "SET n = :one, exp = :ends, #ttl = :ttl", values, { "#ttl": "ttl" })
}

const countIn = (key, now) => update(key, "exp > :now", "ADD n :one", { ":now": now, ":one": 1 })

/** Gives one back to a window; the last one closes it. */
export async function giveBack(key, window) {
	const values = { ":ends": window.ends, ":one": 1 }
	const last = () => update(key, "exp = :ends AND n = :one", "REMOVE exp SET n = :zero", { ...values, ":zero": 0 })
	const oneOfMany = () => update(key, "exp = :ends AND n > :one", "ADD n :less", { ...values, ":less": -1 })
	if (window.count === 1) {
		// It is about to close.
		openWindows.delete(key.Key.pk)
	}
	const [first, second] = window.count === 1 ? [last, oneOfMany] : [oneOfMany, last]
	if (!(await first())) {
		await second()
	}
}

/** Begins a session and notes its sign-in, whose number moves up by one while another has it. */
export async function signIn(session, activity) {
	const put = ({ TableName, Key }, card, expires, condition) => ({
		Put: { TableName, Item: { ...Key, card, ttl: Math.floor(expires / 1000) }, ConditionExpression: condition },
	})
	for (let turn = 0; turn < 200; turn++) {
		const noted = { ...activity, loginActivityID: activity.loginActivityID + turn }
		const kept = Date.parse(noted.createdAt) + ACTIVITY_KEPT
		const parts = [
			put(keys.session(session.userID, session.sid), session, Date.parse(session.expiresAt)),
			put(keys.login(noted.userID, noted.loginActivityID), noted, kept, "attribute_not_exists(pk)"),
		]
		try {
			await tables.send(new TransactWriteCommand({ TransactItems: parts }))
			return noted
		} catch (error) {
			const isTaken =
				error instanceof TransactionCanceledException && error.CancellationReasons?.[1]?.Code === REFUSED
			if (!isTaken) {
				throw error
			}
		}
	}
	throw new Error("two hundred sign-ins share a microsecond")
}

/** Notes when a person was last active, and his session. */
export async function touch(userID, sid, now) {
	const values = { ":now": new Date(now).toISOString() }
	const later = (key) => update(key, "card.lastActive < :now", "SET card.lastActive = :now", values)
	await Promise.all([later(keys.user(userID)), later(keys.session(userID, sid))])
}
