"""Test data: accounts, and one existing object of each kind.

Calls the service from 127.0.0.2: login attempts are counted per network, so wrong passwords and codes in the checked
calls, which come from another address, do not lock out the setup.
"""

import base64
import hashlib
import hmac
import http.client
import json
import re
import struct
import time
import uuid
import zlib
from urllib.parse import urlsplit

from passkey import Authenticator

PREFIX = "/api/v1"
PASSWORD = "huit cigognes sur le toit"
ADMIN = ("admin@example.org", "local-admin-passphrase")
# Accounts of the demonstration data (`cargo dev seed`), and their common password.
SEEDED = {"committee admin": "salma.khelifi@example.org", "trainer": "nizar.gharsalli@example.org",
          "member": "wassim.ferchiou@example.org", "unverified": "khadija.damak@example.com"}
SEED_PASSWORD = "sept grenadiers en fleur"
NUMBER, OTHER_NUMBER = "+21655000789", "+21698000123"
COMMITTEE = {"nameArabe": "هيئة التجربة", "nameLatin": "Comité d’essai", "type": "LOCAL",
             "dateOfEst": "1999-09-09", "region": "Béja", "city": "Béja", "postalCode": 9000,
             "primaryEmail": "essai@example.org", "primaryPhone": "+21678000101"}
COURSE = {"courseTitle": "Lire une carte", "description": "Une journée dehors, carte et boussole en main.",
          "courseType": "ONLINE", "sectionOfMatter": "Orientation", "contactEmail": "cartes@example.org"}
QUESTION = {"language": "FR", "question": "Avez-vous une boussole ?", "questionType": "YES_NO"}


def picture():
    """A PNG of one grey pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


class Person:
    """An account with its credentials and token."""

    def __init__(self, email, password, user):
        self.email, self.password, self.id, self.token = email, password, user["userID"], user["token"]
        self.phone = f"+{user['phoneCode']}{user['phone']}"
        self.secret, self.recovery_codes = None, []

    def take_secret(self, base32):
        self.secret = base64.b32decode(base32 + "=" * (-len(base32) % 8))

    def code(self, step):
        """The TOTP code, `step` periods of 30 seconds from now."""
        if time.time() % 30 > 27:  # the code could expire before it arrives
            time.sleep(3)
        digest = hmac.digest(self.secret, struct.pack(">Q", int(time.time()) // 30 + step), hashlib.sha1)
        number = struct.unpack_from(">I", digest, digest[-1] & 15)[0] & 0x7FFFFFFF
        return f"{number % 1_000_000:06}"


class Stage:
    """Creates each object on first use, and a new one after `forget`."""

    def __init__(self, base):
        self.base, self.made = base, {}
        self.admin = self.signed_in(*ADMIN)
        self.people = {role: self.signed_in(email, SEED_PASSWORD) for role, email in SEEDED.items()}
        self.people["best"] = self.admin
        self.home = self.ask("GET", f"/users/{self.people['member'].id}", self.admin)["user"]["committeeID"]

    def ask(self, method, path, person=None, body=None, base=None, headers=None):
        """The body of a successful response; raises RuntimeError for a status of 400 or above."""
        headers = dict(headers or {})
        if person:
            headers["Authorization"] = person.token
        if isinstance(body, (dict, list)):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        parts = urlsplit(base or self.base + PREFIX)
        connection = http.client.HTTPConnection(parts.netloc, timeout=30, source_address=("127.0.0.2", 0))
        try:
            connection.request(method, parts.path + path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status},  {content[:500]!r}")
        self.etag = answer.getheader("ETag")
        return json.loads(content) if content[:1] in (b"{", b"[") else content

    def signed_in(self, email, password):
        user = self.ask("POST", "/auth/login", body={"email": email, "password": password})["user"]
        return Person(email, password, user)

    def newcomer(self):
        """Registers a verified member for one-time use."""
        email = f"{uuid.uuid4().hex}@example.org"
        body = {"name": "Passant", "lastName": "Essai", "email": email, "phoneCode": "216", "phone": self.phone()}
        made = self.ask("POST", "/users/register", body=body | {"password": PASSWORD, "committeeID": self.home})
        self.ask("PUT", f"/team/{made['user']['userID']}", self.admin, {"isVerified": True})
        return self.signed_in(email, PASSWORD)

    def phone(self):
        """A mobile number without country code that no other account has."""
        self.made["phones"] = self.made.get("phones", 0) + 1
        return f"23{self.made['phones']:06}"

    def with_otp(self):
        person = self.newcomer()
        person.take_secret(self.ask("GET", "/otp/generate", person)["otpBase32"])
        # The previous period: a used code invalidates all older ones, and the current one is still needed.
        person.recovery_codes = self.ask("POST", "/otp/verify", person, {"code": person.code(-1)})["recoveryCodes"]
        return person

    def new_passkey(self, person):
        """An authenticator, and its answer to the options of a registration."""
        authenticator = Authenticator(f"http://localhost:{urlsplit(self.base).port}")
        options = self.ask("POST", "/passkeys/registration-options", person)["options"]
        return authenticator, authenticator.create(options)

    def sent_code(self, to, since, way="mail", pattern=r"(?<!\d)\d{6}(?!\d)"):
        """The code in the newest message to `to` that is not among `since`."""
        for _ in range(300):
            for message in self.messages(to, way):
                code = re.search(pattern, message["text"])
                if message["id"] not in since and code:
                    return code[0]
            time.sleep(0.1)
        raise RuntimeError(f"no {way} with a code arrived for {to}")

    def removal_code(self, email):
        """The code in the link of the registration's mail that removes the account."""
        return self.sent_code(email, set(), pattern=r"(?<=/not-me#code=)[a-p]+")

    def messages(self, to, way="mail"):
        return [message for message in self.ask("GET", f"/{way}", base=f"{self.base}/_local") if message["to"] == to]

    def code_after(self, to, way, asking):
        """The result of `asking`, and the code that was sent because of it."""
        if way == "mail":
            self.sent_code(to, set())  # wait for the registration's mail, so that it is not mistaken for the new one
        since = {message["id"] for message in self.messages(to, way)}
        answer = asking()
        return answer, self.sent_code(to, since, way)

    def upload(self, name="plan.txt", text="Rez-de-chaussée"):
        """Uploads a file as the administrator without completing it; returns its identifier."""
        content = text.encode()
        body = {"name": name, "contentType": "text/plain", "size": len(content), "visibility": "public"}
        made = self.ask("POST", "/files", self.admin, body)
        edge = "between-the-parts-of-a-form"
        parts = [(f'name="{name}"', value) for name, value in made["upload"]["fields"].items()]
        parts.append(('name="file"; filename="file"', text))
        head = f"--{edge}\r\nContent-Disposition: form-data; "
        sent = "".join(f"{head}{name}\r\n\r\n{value}\r\n" for name, value in parts)
        form = {"Content-Type": f"multipart/form-data; boundary={edge}"}
        self.ask("POST", "", body=f"{sent}--{edge}--\r\n".encode(), base=made["upload"]["url"], headers=form)
        return made["file"]["fileID"]

    # One object of each kind, by the name of the parameter that identifies it.

    def get(self, kind):
        if kind not in self.made:
            self.made[kind] = getattr(self, f"make_{kind}")()
        return self.made[kind]

    def forget(self, *kinds):
        for kind in kinds:
            self.made.pop(kind, None)

    def make_throwaway(self):
        return self.newcomer()

    def make_userId(self):
        return self.newcomer().id

    def make_committeeId(self):
        return self.ask("POST", "/committees", self.admin, COMMITTEE)["committee"]["committeeID"]

    def make_courseId(self):
        self.forget("questionId")
        return self.ask("POST", "/courses", self.people["trainer"], COURSE)["course"]["courseID"]

    def make_questionId(self):
        path, body = f"/courses/questions/{self.get('courseId')}", {"questions": [QUESTION]}
        return self.ask("POST", path, self.people["trainer"], body)["questions"][0]["questionID"]

    def make_fileId(self):
        file = self.upload()
        self.ask("POST", f"/files/{file}/complete", self.admin)
        return file

    def make_smsId(self):
        return self.ask("POST", "/sms/single", self.admin, {"to": OTHER_NUMBER, "message": "Bonjour"})["sms"]["smsID"]

    def make_batchId(self):
        body = {"message": "Bonjour", "recipients": [OTHER_NUMBER]}
        return self.ask("POST", "/sms/bulk", self.admin, body)["batch"]["batchID"]

    def make_number(self):
        self.ask("PUT", f"/sms/opt-outs/{NUMBER}", self.admin)
        return NUMBER

    def make_sid(self):
        account = self.get("throwaway")
        self.signed_in(account.email, account.password)
        sessions = self.ask("GET", "/auth/sessions", account)["sessions"]
        return next(session["sid"] for session in sessions if not session["current"])

    def make_key(self):
        return "default.png"

    def make_passkeyId(self):
        account = self.get("throwaway")
        body = {"credential": self.new_passkey(account)[1]}
        return self.ask("POST", "/passkeys", account, body)["passkey"]["passkeyID"]

    def make_rootdomain(self):
        return self.ask("GET", "/cpanel/domains", self.admin)["mainDomain"]

