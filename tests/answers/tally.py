"""Counts calls per operation and status while Schemathesis runs; evaluates them afterwards.

    tally.py openapi.json tally
"""

import collections
import json
import sys

import yaml

METHODS = {"get", "put", "post", "delete", "patch"}
# Operations whose examples cannot succeed, and what they take. `tests/api` checks their successes.
CODE, APP, KEY = "a code that was sent", "a code of an authenticator app", "the answer of an authenticator"
UNSUCCESSFUL = {"signInPasswordless": CODE, "verifyEmail": CODE, "removeAccount": CODE, "verifyPhone": CODE,
                "resetPassword": CODE, "verifyOtp": APP, "disableOtp": APP, "renewRecoveryCodes": APP,
                "createPasskey": KEY, "signInWithPasskey": KEY, "changeAvatar": "the bytes of a picture",
                "showAnswerFile": "a file as an answer"}


class Tally:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", buffering=1)

    def count(self, operation, status):
        print(json.dumps([operation, status]), file=self.file)


def judge(document, lines):
    """Prints the statuses of each operation, and returns the operations that should have succeeded."""
    items = document["paths"].values()
    documented = [item[method]["operationId"] for item in items for method in METHODS & item.keys()]
    statuses = collections.defaultdict(collections.Counter)
    for operation, status in map(json.loads, lines):
        statuses[operation][status] += 1
    for operation in [*documented, "another method"]:
        answers = ", ".join(f"{status} × {count}" for status, count in sorted(statuses[operation].items()))
        print(f"{operation:28}{answers}")
    missing = [operation for operation in documented if not any(status < 400 for status in statuses[operation])]
    print(f"\n{len(documented) - len(missing)} of {len(documented)} operations succeeded")
    for operation in missing:
        print(f"{operation} did not succeed: it takes {UNSUCCESSFUL.get(operation, 'what its example has')}")
    return [f"{operation} never succeeded" for operation in missing if operation not in UNSUCCESSFUL]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as document, open(sys.argv[2], encoding="utf-8") as lines:
        sys.exit("\n".join(judge(yaml.safe_load(document), lines)) or None)
