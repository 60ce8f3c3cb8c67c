"""An authenticator for passkeys (https://www.w3.org/TR/webauthn-3/).

Its private key and the nonce of its signatures are 1, so that it needs no arithmetic on the curve P-256.
"""

import base64
import hashlib
import json
import os

X = 0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296
Y = 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
# Presence and verification of a person; attested data.
UP_UV, AT = 0x05, 0x40


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def integer(number):
    """An ASN.1 INTEGER of at most 33 bytes."""
    content = number.to_bytes(number.bit_length() // 8 + 1, "big")
    return bytes([2, len(content)]) + content


class Authenticator:
    def __init__(self, origin):
        self.origin, self.id, self.count = origin, os.urandom(16), 0

    def create(self, options):
        """`PublicKeyCredential.toJSON()` in answer to the options of a registration."""
        self.handle = options["user"]["id"]
        key = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + X.to_bytes(32, "big") + b"\x22\x58\x20" + Y.to_bytes(32, "big")
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + key
        data = self.data(options["rp"]["id"], AT) + attested
        attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58" + bytes([len(data)]) + data
        client = self.client("webauthn.create", options)
        return self.credential({"clientDataJSON": encoded(client), "attestationObject": encoded(attestation),
                                "transports": ["internal"]})

    def get(self, options):
        """The same in answer to the options of a sign-in."""
        self.count += 1
        client, data = self.client("webauthn.get", options), self.data(options["rpId"], 0)
        digest = hashlib.sha256(data + hashlib.sha256(client).digest()).digest()
        content = integer(X % ORDER) + integer((int.from_bytes(digest, "big") + X) % ORDER)
        return self.credential({"clientDataJSON": encoded(client), "authenticatorData": encoded(data),
                                "signature": encoded(bytes([0x30, len(content)]) + content), "userHandle": self.handle})

    def client(self, kind, options):
        data = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(data).encode()

    def data(self, domain, flags):
        return hashlib.sha256(domain.encode()).digest() + bytes([UP_UV | flags]) + self.count.to_bytes(4, "big")

    def credential(self, response):
        return {"id": encoded(self.id), "rawId": encoded(self.id), "type": "public-key", "response": response,
                "clientExtensionResults": {}}
