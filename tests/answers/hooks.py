"""Schemathesis hooks: callers, existing identifiers, and checks of response headers.

`infra/bin/check-answers` runs them. The document's examples are sent as they are, to the demonstration data.
"""

import collections
import http.client
import json
import os
from urllib.parse import urlsplit

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CONTENT_TYPE_PROBES, CoverageScenario, TestPhase

from tally import METHODS, Tally

BASE = urlsplit(os.environ["ANSWERS_URL"])
PREFIX = "/api/v1"
TALLY = Tally(os.environ["ANSWERS_TALLY"])
PASSWORD = "sept grenadiers en fleur"
PEOPLE = {"best": "amina.bensalah@example.org", "committee admin": "salma.khelifi@example.org",
          "trainer": "nizar.gharsalli@example.org", "member": "wassim.ferchiou@example.org",
          "unverified": "khadija.damak@example.com"}
# The callers of an operation, in turn. `best` has the rights to succeed.
CALLERS = ["best", "best", "committee admin", "best", "member", "best", "anonymous", "best", "trainer", "best",
           "unverified", "best", "bad token"]

calls = collections.Counter()
callers, cursors, tokens = {}, {}, {}
# By operation and name of the parameter.
examples = collections.defaultdict(dict)


def ask(method, path, body, token=""):
    """The body of a successful response. Calls from 127.0.0.2, which wrong passwords in the checked calls do not lock."""
    connection = http.client.HTTPConnection(BASE.netloc, timeout=30, source_address=("127.0.0.2", 0))
    headers = {"Content-Type": "application/json", "Authorization": token}
    connection.request(method, PREFIX + path, json.dumps(body), headers)
    answer = json.load(connection.getresponse())
    connection.close()
    assert answer["code"] < 400, f"{method} {path}: {answer}"
    return answer


def sign_in(role):
    return ask("POST", "/auth/login", {"email": PEOPLE[role], "password": PASSWORD})["user"]["token"]


def token_of(role):
    if role not in tokens:
        tokens[role] = sign_in(role)
    return tokens[role]


def operation_of(case):
    return case.operation.definition.raw["operationId"]


def is_example(case):
    return case.meta.phase.name == TestPhase.EXAMPLES


def scenario_of(case):
    return getattr(case.meta.phase.data, "scenario", None)


def has_other_method(case):
    return scenario_of(case) == CoverageScenario.UNSPECIFIED_HTTP_METHOD


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Reads the examples of parameters, and adds the prefix to paths: Schemathesis uses one server for all."""
    for item in raw_schema["paths"].values():
        for operation in (item[method] for method in METHODS & item.keys()):
            for parameter in operation.get("parameters", []):
                if "$ref" in parameter:
                    parameter = raw_schema["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
                if "example" in parameter:
                    examples[operation["operationId"]][parameter["name"]] = parameter["example"]
    paths = raw_schema["paths"].items()
    raw_schema["paths"] = {path if "servers" in item else PREFIX + path: item for path, item in paths}


def role_of(case):
    """The caller of this call. Depends only on `calls`, so repeated questions before the call agree."""
    return "best" if is_example(case) else CALLERS[calls[operation_of(case)] % len(CALLERS)]


@schemathesis.auth(refresh_interval=None)
class Caller:
    """The caller's token. As an auth provider, so that `ignored_auth` repeats a success without a valid token."""

    def get(self, case, context):
        role = role_of(case)
        if role == "anonymous":
            return None
        return token_of("best")[:-4] + "AAAA" if role == "bad token" else token_of(role)

    def set(self, case, token, context):
        case.headers["Authorization"] = token


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    if has_other_method(case):
        return
    callers[operation] = role_of(case) if "Authorization" in (case.headers or {}) else "anonymous"
    calls[operation] += 1
    # Valid identifiers are replaced by existing ones, except in every fifth call, which gets a 404.
    turn = calls[operation] % 5
    if operation == "endSession" and is_example(case):
        # The session of the example ended when the password was changed.
        sign_in("best")
        sessions = ask("GET", "/auth/sessions", {}, token_of("best"))["sessions"]
        case.path_parameters["sid"] = next(session["sid"] for session in sessions if not session["current"])
    if turn == 0 or is_example(case):
        return
    known = examples[operation]
    if case.path_parameters and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters.update({name: known[name] for name in case.path_parameters})
    if case.query and not case.meta.is_negative_at(ParameterLocation.QUERY):
        ids = {"userID", "committeeID", "batchID"} & case.query.keys() & known.keys()
        case.query.update({name: known[name] for name in ids})
        if "cursor" in case.query and operation in cursors:
            case.query["cursor"] = cursors[operation]
    if case.meta.is_negative_at(ParameterLocation.BODY):
        return
    if isinstance(case.body, dict) and "committeeID" in case.body:
        case.body["committeeID"] = examples["showCommittee"]["committeeId"]
    # Conditions and idempotency keys would reject every change after the first.
    if turn < 4 and case.headers:
        for name in ("If-Match", "If-None-Match", "Idempotency-Key"):
            case.headers.pop(name, None)
    if turn < 4 and isinstance(case.body, dict):
        case.body.pop("version", None)


@schemathesis.hook
def after_call(context, case, response):
    operation = operation_of(case)
    caller = callers.get(operation, "anonymous")
    if has_other_method(case):
        TALLY.count("another method", response.status_code)
        return
    TALLY.count(operation, response.status_code)
    if response.status_code < 300:
        if b'"nextCursor":"' in response.content:
            cursors[operation] = response.json()["nextCursor"]
        take_back(operation, caller, case.body)


def take_back(operation, caller, body):
    """Undoes a success that would keep the callers from succeeding again."""
    if operation == "logout":
        tokens.pop(caller, None)
    elif operation == "changePassword":
        change = {"oldPassword": body["newPassword"], "newPassword": PASSWORD, "confirmPassword": PASSWORD}
        ask("PUT", "/users/reset-password", change, token_of(caller))
    elif operation == "changeCommittee":
        path = f"/committees/{examples['showCommittee']['committeeId']}"
        ask("PUT", path, {"isActive": True}, token_of("best"))


def names(headers):
    return {name.lower() for name in headers}


def hold(condition, what):
    if not condition:
        raise AssertionError(what)


@schemathesis.check
def only_documented_headers(ctx, response, case):
    """The document names every header but `Content-Type`, which is the key below `content`."""
    if has_other_method(case):
        return
    documented = case.operation.responses.find_by_status_code(response.status_code)
    if documented:  # otherwise status_code_conformance reports it
        more = names(response.headers) - names(name for name, _ in documented.headers.items()) - {"content-type"}
        hold(not more, f"A {response.status_code} has headers that are not documented: {', '.join(sorted(more))}")


@schemathesis.check
def refused_content_types_conform(ctx, response, case):
    """Schemathesis does not check responses to its content type probes; they are documented too."""
    if scenario_of(case) in CONTENT_TYPE_PROBES:
        documented = case.operation.responses.find_by_status_code(response.status_code)
        hold(documented, f"{response.status_code} is not documented")
        case.operation.validate_response(response, case=case)


@schemathesis.check
def refused_methods_conform(ctx, response, case):
    """The 405 for an undocumented method has the envelope and all headers, like any other error."""
    if not has_other_method(case) or response.request.method == "OPTIONS":
        return
    responses, there = case.operation.schema.raw_schema["components"]["responses"], names(response.headers)
    more = there - names(responses["InternalError"]["headers"]) - {"allow", "content-type"}
    missing = names(responses["InternalErrorUnlimited"]["headers"]) - there
    hold(not more and not missing, f"A 405 has headers that are not documented ({more}), or lacks some ({missing})")
    body = response.json()
    code = body.get("code"), body.get("message", {}).get("RESPONSE_CODE")
    hold(code == (405, "METHOD_NOT_ALLOWED_MESSAGE"), f"The body of a 405 is {body}")
