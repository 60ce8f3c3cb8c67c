// Every page works without this script. It refreshes lists, copies texts, signs in to copy a token, and shows times in
// the time zone of the browser.

const announce = (text) => {
	document.getElementById("announcement").textContent = text
}

function localize(within) {
	for (const time of within.querySelectorAll("time")) {
		time.title = time.dateTime
		time.textContent = new Date(time.dateTime).toLocaleString("en-GB", { dateStyle: "short", timeStyle: "medium" })
	}
}

async function copy(text, button) {
	const name = button.textContent
	try {
		await navigator.clipboard.writeText(await text)
		button.textContent = "Copied"
		announce("Copied.")
	} catch (error) {
		button.textContent = "Not copied"
		announce(error.message)
	}
	setTimeout(() => {
		button.textContent = name
		announce("")
	}, 3000)
}

async function token(body) {
	const headers = { "Content-Type": "application/json" }
	const answer = await fetch("/api/v1/auth/login", { method: "POST", headers, body })
	const { user, message } = await answer.json()
	if (!user?.token) throw new Error(`No token: ${answer.status} ${message?.RESPONSE_CODE ?? ""}`)
	return user.token
}

document.addEventListener("click", ({ target }) => {
	const button = target.closest("[data-copy], [data-sign-in]")
	if (button) copy(button.dataset.copy ?? token(button.dataset.signIn), button)
})

// Replaces the parts that the server has changed, unless the focus or the selection is in them.
const live = new Map([...document.querySelectorAll("[data-live]")].map((part) => [part.id, part.innerHTML]))
async function refresh() {
	if (document.hidden || !live.size) return
	const answer = await fetch(location.href, { cache: "no-store" }).catch(() => null)
	if (!answer?.ok) return
	const fresh = new DOMParser().parseFromString(await answer.text(), "text/html")
	for (const [id, shown] of live) {
		const [old, now] = [document.getElementById(id), fresh.getElementById(id)?.innerHTML]
		const selection = getSelection()
		const isSelected = !selection.isCollapsed && selection.containsNode(old, true)
		if (now === undefined || now === shown || isSelected || old.contains(document.activeElement)) continue
		live.set(id, now)
		old.innerHTML = now
		localize(old)
	}
}
localize(document)
setInterval(refresh, 2000)
