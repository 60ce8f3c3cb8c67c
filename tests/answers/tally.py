"""Counts calls per operation, caller and status while Schemathesis runs; evaluates them afterwards.

    tally.py openapi.yaml tally
"""

import collections
import json
import sys

import yaml

METHODS = {"get", "put", "post", "delete", "patch"}


class Tally:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", buffering=1)

    def count(self, operation, caller, status):
        print(json.dumps([operation, caller, status]), file=self.file)


def judge(document, lines):
    """Prints the statistics of a run, and returns its failures."""
    documented = {}
    for item in document["paths"].values():
        for method in METHODS & item.keys():
            documented[item[method]["operationId"]] = {int(status) for status in item[method]["responses"]}
    statuses, callers = collections.defaultdict(collections.Counter), collections.defaultdict(set)
    for operation, caller, status in map(json.loads, lines):
        statuses[operation][status] += 1
        callers[operation].add(caller)
    for operation in [*documented, "another method"]:
        answers = ", ".join(f"{status} × {count}" for status, count in sorted(statuses[operation].items()))
        print(f"{operation:28}{answers}")
    succeeded = {operation for operation in documented if any(status < 400 for status in statuses[operation])}
    seen = sum(len(documented[operation] & statuses[operation].keys()) for operation in documented)
    classes = collections.Counter()
    for operation in documented:
        for status, count in statuses[operation].items():
            classes[f"{status // 100}xx"] += count
    kinds = set().union(*callers.values())
    print(f"\n{sum(classes.values())} calls of {len(documented)} operations by {len(kinds)} kinds of callers: "
          + ", ".join(f"{count} {name}" for name, count in sorted(classes.items())))
    answers = sum(map(len, documented.values()))
    print(f"{len(succeeded)} operations succeeded; {seen} of {answers} documented responses were seen")
    return [f"{operation} never succeeded" for operation in documented if operation not in succeeded]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as document, open(sys.argv[2], encoding="utf-8") as lines:
        sys.exit("\n".join(judge(yaml.safe_load(document), lines)) or None)
