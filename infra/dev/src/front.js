// The page replaces the front end that links in mails point to. Nothing happens before the button is pressed: mail
// scanners open every link, and a code is valid for one use.

const $ = id => document.getElementById(id);
const make = (tag, more = {}, ...parts) => {
	const made = Object.assign(document.createElement(tag), more);
	made.append(...parts);
	return made;
};
const field = (label, more) => make('label', {}, label, make('input', { required: true, ...more }));

// `+` is literal, because addresses contain it. The fragment is removed from the address bar.
const given = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B'));
const [code, email] = [given.get('code'), given.get('email')];
history.replaceState(null, '', location.pathname);
// Another link that is opened in this window changes only the fragment.
addEventListener('hashchange', () => location.reload());

const address = () => field('Adresse e-mail', { type: 'email', value: email, readOnly: true, autocomplete: 'username' });
const password = (label, name) => field(label, { type: 'password', name, autocomplete: 'new-password' });
const signInFields = value => [
	field('Adresse e-mail', { type: 'email', name: 'email', value, autocomplete: 'username' }),
	field('Mot de passe', { type: 'password', name: 'password', autocomplete: 'current-password' }),
];
const scenes = {
	passwordless: {
		title: 'Connexion sans mot de passe',
		what: 'Ce lien vous connecte. Il ne sert qu’une fois.',
		button: 'Se connecter', fields: () => [],
		ask: () => ask('GET', `auth/passwordless?code=${encodeURIComponent(code)}`), done: signedIn,
	},
	'reset-password': {
		title: 'Nouveau mot de passe', needsEmail: true,
		what: 'Ce lien remplace le mot de passe de votre compte et ferme ses sessions ouvertes. Il ne sert qu’une fois.',
		button: 'Choisir un nouveau mot de passe',
		fields: () => [address(), password('Nouveau mot de passe', 'newPassword'), password('Le même, encore une fois', 'confirmPassword')],
		ask: passwords => ask('POST', 'users/reset-password', { email, code, ...passwords }), done: showMessage,
	},
	verify: {
		title: 'Vérification de l’adresse', needsEmail: true,
		what: 'Ce lien confirme que cette adresse est celle de votre compte : connectez-vous à ce compte. Il ne sert qu’une fois.',
		button: 'Vérifier mon adresse', fields: () => signInFields(email), ask: verifyAddress, done: showMessage,
	},
	'not-me': {
		title: 'Ce n’est pas moi', needsEmail: true,
		what: 'Ce lien supprime le compte créé avec votre adresse, tant que cette adresse n’a pas été vérifiée.',
		button: 'Supprimer ce compte', fields: () => [address()],
		ask: () => ask('POST', 'users/not-me', { email, code }), done: showMessage,
	},
};

// Returns the body of the response. An error is thrown with its text and, if several fields are invalid, theirs.
async function ask(method, path, body, token) {
	const headers = { ...body && { 'Content-Type': 'application/json' }, ...token && { Authorization: token } };
	const options = { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal: AbortSignal.timeout(20000) };
	const answer = await fetch(`/api/v1/${path}`, options).catch(() => { throw new Error('Le service ne répond pas. Veuillez réessayer.'); });
	const received = await answer.json().catch(() => ({}));
	if (answer.ok) return received;
	const texts = received.errors?.length > 1 ? received.errors.map(error => error.RESPONSE_TEXT) : [];
	throw new Error([received.message?.RESPONSE_TEXT ?? `Le service a répondu ${answer.status}.`, ...texts].join('\n'));
}

async function verifyAddress(credentials) {
	const { user, message } = await ask('POST', 'auth/login', credentials);
	if (!user) throw new Error(message.RESPONSE_TEXT);
	return ask('PUT', 'users/email-verification', { email, code }, user.token);
}

function say(text, isGood) {
	$('result').className = isGood ? '' : 'no';
	$('result').textContent = text;
}

function show(title, what, focus) {
	$('title').textContent = document.title = title;
	$('what').textContent = what;
	$('what').hidden = !what;
	$('form').hidden = true;
	if (focus) $('title').focus();
}

// Shows one form: `send` sends its fields, `done` shows the response.
function offer(fields, name, send, done) {
	const button = make('button', { className: 'main' }, name);
	$('form').replaceChildren(...fields, button);
	$('form').hidden = false;
	$('form').onsubmit = async event => {
		event.preventDefault();
		if (button.ariaDisabled) return;
		button.ariaDisabled = 'true';
		say('');
		try {
			done(await send(Object.fromEntries(new FormData(event.target))));
		} catch (error) {
			say(error.message);
		}
		button.ariaDisabled = null;
	};
}

function showMessage({ message }) {
	show('C’est fait', '', true);
	say(message?.RESPONSE_TEXT ?? '', true);
}

function signedIn({ message, user, token }) {
	if (!user) {
		show('Encore une étape', message.RESPONSE_TEXT, true);
		const digits = field('Code à six chiffres', { name: 'digits', inputMode: 'numeric', autocomplete: 'one-time-code' });
		const send = values => ask('POST', 'otp/verify', { code: values.digits.replace(/\s/g, '') }, token);
		offer([digits], 'Valider', send, signedIn);
		digits.control.focus();
		return;
	}
	show(`Bonjour ${user.name}`, '', true);
	say(message?.RESPONSE_TEXT ?? '', true);
	const facts = { Profil: user.profile, 'E-mail': user.email, Comité: user.Committee?.nameLatin };
	$('facts').replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value ?? '–')]));
	$('token').value = user.token;
	$('session').hidden = false;
	$('by-passkey').hidden = $('links').hidden = true;
	attempt(showPasskeys);
}

// Passkeys (https://www.w3.org/TR/webauthn-3/). Browsers offer them on https pages and on localhost.
const hasPasskeys = window.isSecureContext && location.hostname !== '127.0.0.1' && 'credentials' in navigator;
const mine = (method, path, body) => ask(method, path, body, $('token').value);
const fromAuthenticator = asked => asked.catch(() => { throw new Error('Aucune clé d’accès n’a été utilisée.'); });

async function signInByPasskey() {
	const { options, token } = await ask('POST', 'auth/passkey/options');
	const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
	const credential = await fromAuthenticator(navigator.credentials.get({ publicKey }));
	signedIn(await ask('POST', 'auth/passkey', { credential: credential.toJSON(), token }));
}

async function addPasskey() {
	const { options } = await mine('POST', 'passkeys/registration-options');
	const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
	const credential = await fromAuthenticator(navigator.credentials.create({ publicKey }));
	await change(mine('POST', 'passkeys', { credential: credential.toJSON() }));
}

// Shows the message of a change, and the passkeys after it.
async function change(asked) {
	const { message } = await asked;
	await showPasskeys();
	say(message.RESPONSE_TEXT, true);
}

async function showPasskeys() {
	const { passkeys } = await mine('GET', 'passkeys');
	$('passkeys').replaceChildren(...passkeys.map(({ passkeyID, name }) => {
		const label = field('Nom de la clé d’accès', { value: name, maxLength: 64 });
		const rename = () => change(mine('PUT', `passkeys/${passkeyID}`, { name: label.control.value }));
		const remove = () => change(mine('DELETE', `passkeys/${passkeyID}`));
		return make('li', {}, label, button('Renommer', rename), ' ', button('Supprimer', remove));
	}));
	$('add-passkey').hidden = !hasPasskeys;
}

const button = (name, act) => make('button', { type: 'button', onclick: () => attempt(act) }, name);

// Does `act`, and shows why it failed.
async function attempt(act) {
	try {
		await act();
	} catch (error) {
		say(error.message);
	}
}

$('by-passkey').onclick = () => attempt(signInByPasskey);
$('add-passkey').onclick = () => attempt(addPasskey);
$('sign-out').onclick = () => attempt(async () => {
	await mine('POST', 'auth/logout');
	location.assign('/_local/front');
});

$('copy').onclick = async () => {
	$('token').select();
	await navigator.clipboard.writeText($('token').value).then(() => { $('copy').textContent = 'Copié'; }, () => {});
	setTimeout(() => { $('copy').textContent = 'Copier le jeton'; }, 1500);
};

// Without a link: what the links do, and a sign-in with a password.
function offerSignIn() {
	const parts = Object.values(scenes).flatMap(({ title, what }) => [make('dt', {}, title), make('dd', {}, what)]);
	document.querySelector('#links dl').append(...parts);
	$('links').hidden = false;
	show('Connexion', 'Connectez-vous avec l’adresse et le mot de passe d’un compte.');
	offer(signInFields(''), 'Se connecter', values => ask('POST', 'auth/login', values), signedIn);
	$('by-passkey').hidden = !hasPasskeys;
	$('by-name').hidden = location.hostname !== '127.0.0.1';
	$('by-name').querySelector('a').href = `http://localhost:${location.port}/_local/front`;
}

// What anyone sees who opens the link, or reads the code, of a certificate.
async function showCertificate(name) {
	const { certificate } = await ask('GET', `certificates/${name}`);
	const { status, courseTitle, committee, minutes, totalMinutes, issuedAt, expiresAt, revokedAt } = certificate;
	const texts = {
		VALID: 'Attestation valable', EXPIRED: 'Attestation expirée', REVOKED: 'Attestation révoquée',
		ANONYMISED: 'Attestation sans nom',
	};
	const day = time => time && new Date(time).toLocaleDateString('fr');
	const facts = {
		Nom: [certificate.name, certificate.lastName].filter(Boolean).join(' '), Formation: courseTitle,
		Comité: `${committee.nameLatin} · ${committee.nameArabe}`,
		Minutes: minutes !== null && `${minutes} sur ${totalMinutes}`, 'Délivrée le': day(issuedAt),
		'Valable jusqu’au': day(expiresAt), 'Révoquée le': day(revokedAt),
	};
	show(texts[status], '', true);
	const known = Object.entries(facts).filter(([, value]) => value);
	$('certificate').replaceChildren(...known.flatMap(([label, value]) => [make('dt', {}, label), make('dd', { dir: 'auto' }, value)]));
	$('certificate').hidden = false;
	$('page').firstChild.href = `/api/v1/certificates/${name}/pdf`;
	$('page').hidden = !['VALID', 'EXPIRED'].includes(status);
}

const verified = location.pathname.match(/\/certificates\/([^/]+)$/);
const scene = scenes[location.pathname.split('/').filter(Boolean).at(-1)];
if (verified) {
	show('Attestation');
	attempt(() => showCertificate(verified[1]));
} else if (!scene) {
	offerSignIn();
} else if (!code || scene.needsEmail && !email) {
	show(scene.title);
	say('Ce lien ne contient pas tout ce qu’il faut. Ouvrez de nouveau celui du message, en entier : recharger la page efface le code.');
} else {
	show(scene.title, scene.what);
	offer(scene.fields(), scene.button, scene.ask, scene.done);
}
