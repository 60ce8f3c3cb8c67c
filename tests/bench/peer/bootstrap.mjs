// Lambda's Node runtime, as far as a bench needs it: the loop over the Runtime API
// (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) around the handler of index.cjs.

import { Agent, request } from "node:http"
import { createRequire } from "node:module"

const { AWS_LAMBDA_RUNTIME_API, AWS_LAMBDA_FUNCTION_NAME, AWS_LAMBDA_FUNCTION_VERSION } = process.env
const RUNTIME = `http://${AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function call(method, path, value) {
	const body = value === undefined ? undefined : JSON.stringify(value)
	const headers =
		body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }
	return new Promise((resolve, reject) => {
		const sent = request(RUNTIME + path, { method, agent, headers }, (answer) => {
			const chunks = []
			answer.on("data", (chunk) => chunks.push(chunk))
			answer.on("error", reject)
			answer.on("end", () => resolve({ headers: answer.headers, text: Buffer.concat(chunks).toString() }))
		})
		sent.on("error", reject)
		sent.end(body)
	})
}

const told = (error) => ({ errorType: error.name, errorMessage: error.message, trace: error.stack.split("\n") })

async function load() {
	try {
		return createRequire(import.meta.url)("./index.cjs").handler
	} catch (error) {
		await call("POST", "/init/error", told(error))
		throw error
	}
}

function contextOf(headers) {
	const deadline = Number(headers["lambda-runtime-deadline-ms"])
	return {
		awsRequestId: headers["lambda-runtime-aws-request-id"],
		invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
		functionName: AWS_LAMBDA_FUNCTION_NAME,
		functionVersion: AWS_LAMBDA_FUNCTION_VERSION,
		getRemainingTimeInMillis: () => deadline - Date.now(),
	}
}

const handler = await load()
// Ends with the process, as Lambda's does.
for (;;) {
	const { headers, text } = await call("GET", "/invocation/next")
	const invocation = `/invocation/${headers["lambda-runtime-aws-request-id"]}`
	process.env._X_AMZN_TRACE_ID = headers["lambda-runtime-trace-id"] ?? ""
	try {
		await call("POST", `${invocation}/response`, await handler(JSON.parse(text), contextOf(headers)))
	} catch (error) {
		await call("POST", `${invocation}/error`, told(error))
	}
}
