"""Schemathesis hooks: callers, existing identifiers, and checks of response headers.

Loaded by Schemathesis, which `infra/bin/check-answers` starts.
"""

import collections
import os

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CONTENT_TYPE_PROBES, CoverageScenario, TestPhase

from stage import PREFIX, Stage
from successes import SUCCESSES
from tally import Tally

STAGE = Stage(os.environ["ANSWERS_URL"])
TALLY = Tally(os.environ["ANSWERS_TALLY"])

# The callers of an operation, in turn. `best` has the rights to succeed.
CALLERS = ["best", "best", "committee admin", "best", "member", "best", "anonymous", "best", "trainer", "best",
           "unverified", "best", "bad token"]
# Operations that change the session, secrets or account of their caller. They are called by a throwaway account or
# anonymously, because the other accounts are needed until the end.
OF_ONESELF = {"logout", "listSessions", "endSession", "disableOtp", "generateOtp", "verifyOtp", "renewRecoveryCodes",
              "changePassword", "changeUser", "exportUser", "changeAvatar", "requestEmailVerification",
              "requestPhoneVerification", "verifyPhone", "passkeyRegistrationOptions", "createPasskey",
              "listPasskeys", "renamePasskey", "deletePasskey"}
# What a success consumes; the next call gets a new one.
THROWAWAY, COURSE = ["throwaway", "sid", "passkeyId"], ["courseId", "questionId"]
USED_UP = {"logout": THROWAWAY, "disableOtp": THROWAWAY, "verifyOtp": THROWAWAY, "changePassword": THROWAWAY,
           "changeUser": THROWAWAY, "resetPassword": THROWAWAY, "endSession": ["sid"], "deletePasskey": ["passkeyId"],
           "eraseUser": ["userId", *THROWAWAY], "changeUserStatus": ["userId"], "changeTeamMember": ["userId"],
           "changeCommittee": ["committeeId"], "replaceCourse": COURSE, "archiveCourse": COURSE,
           "publishCourse": COURSE, "publishCourseByGet": COURSE, "deleteQuestion": ["questionId"],
           "deleteFile": ["fileId"], "removeOptOut": ["number"]}
# Query parameters that identify an object, and its kind.
NAMED = {"userID": "userId", "committeeID": "committeeId", "batchID": "batchId"}

calls = collections.Counter()
callers = {}
cursors = {}


def operation_of(case):
    return case.operation.definition.raw["operationId"]


def is_example(case):
    return case.meta.phase.name == TestPhase.EXAMPLES


def is_probe(case, *scenarios):
    return getattr(case.meta.phase.data, "scenario", None) in scenarios


def has_other_method(case):
    return is_probe(case, CoverageScenario.UNSPECIFIED_HTTP_METHOD)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds the prefix to every path without a `servers` entry: Schemathesis uses one server for all paths."""
    paths = raw_schema["paths"].items()
    raw_schema["paths"] = {path if "servers" in item else PREFIX + path: item for path, item in paths}


def role_of(case):
    """The caller of this call. Depends only on `calls`, so repeated questions before the call agree."""
    operation = operation_of(case)
    role = "best" if is_example(case) else CALLERS[calls[operation] % len(CALLERS)]
    if operation in OF_ONESELF:
        return "throwaway" if role == "best" else "anonymous"
    return role


@schemathesis.auth(refresh_interval=None)
class Caller:
    """The caller's token. As an auth provider, so that the check `ignored_auth` repeats a success without a token and
    with an invalid one. Schemathesis does not call it for operations without `security`.
    """

    def get(self, case, context):
        role = role_of(case)
        if role == "anonymous":
            return None
        if role == "bad token":
            return STAGE.admin.token[:-4] + "AAAA"
        return (STAGE.get("throwaway") if role == "throwaway" else STAGE.people[role]).token

    def set(self, case, token, context):
        case.headers["Authorization"] = token


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = operation_of(case)
    if has_other_method(case):
        return
    callers[operation] = role_of(case) if "Authorization" in (case.headers or {}) else "anonymous"
    calls[operation] += 1
    if is_example(case):
        SUCCESSES[operation](STAGE, case)
        return
    # Valid identifiers are replaced by existing ones, except in every fifth call, which gets a 404.
    turn = calls[operation] % 5
    if turn == 0:
        return
    if case.path_parameters and not case.meta.is_negative_at(ParameterLocation.PATH):
        case.path_parameters.update({name: STAGE.get(name) for name in case.path_parameters})
    if case.query and not case.meta.is_negative_at(ParameterLocation.QUERY):
        case.query.update({name: STAGE.get(NAMED[name]) for name in NAMED.keys() & case.query.keys()})
        if "cursor" in case.query and operation in cursors:
            case.query["cursor"] = cursors[operation]
    if case.meta.is_negative_at(ParameterLocation.BODY):
        return
    if isinstance(case.body, dict) and "committeeID" in case.body:
        case.body["committeeID"] = STAGE.home
    # The conditions and idempotency keys of the examples would reject every change after the first.
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
        TALLY.count("another method", caller, response.status_code)
        return
    TALLY.count(operation, caller, response.status_code)
    if response.status_code < 300:
        STAGE.forget(*USED_UP.get(operation, []))
        if b'"nextCursor":"' in response.content:
            cursors[operation] = response.json()["nextCursor"]


def names(headers):
    return {name.lower() for name in headers}


def hold(condition, what):
    if not condition:
        raise AssertionError(what)


@schemathesis.check
def only_documented_headers(ctx, response, case):
    """The document names every header of every response, standard headers included, so there are no exceptions except
    `Content-Type`, which is the key below `content`.
    """
    if has_other_method(case):
        return
    documented = case.operation.responses.find_by_status_code(response.status_code)
    if documented:  # otherwise status_code_conformance reports it
        more = names(response.headers) - names(name for name, _ in documented.headers.items()) - {"content-type"}
        hold(not more, f"A {response.status_code} has headers that are not documented: {', '.join(sorted(more))}")


@schemathesis.check
def refused_content_types_conform(ctx, response, case):
    """Schemathesis does not check responses to its content type probes; they are documented too."""
    if is_probe(case, *CONTENT_TYPE_PROBES):
        documented = case.operation.responses.find_by_status_code(response.status_code)
        hold(documented, f"{response.status_code} is not documented")
        case.operation.validate_response(response, case=case)


@schemathesis.check
def refused_methods_conform(ctx, response, case):
    """The 405 for an undocumented method has the envelope and all headers, like any other error."""
    if not has_other_method(case) or response.request.method == "OPTIONS":
        return
    sets, there = case.operation.schema.raw_schema["x-headers"], names(response.headers)
    more = there - names(sets["limited"]) - {"allow", "content-type"}
    missing = names(sets["unlimited"]) - there
    hold(not more and not missing, f"A 405 has headers that are not documented ({more}), or lacks some ({missing})")
    body = response.json()
    code = body.get("code"), body.get("message", {}).get("RESPONSE_CODE")
    hold(code == (405, "METHOD_NOT_ALLOWED_MESSAGE"), f"The body of a 405 is {body}")
