"""A request that succeeds for each operation: the document's example, with what is true of this service just now.

Taken for the phase `examples`, so that every operation is known to have been answered with a success.
"""

import uuid

from stage import PASSWORD, picture

NEW_PASSWORD = "neuf citronniers au matin"


def as_it_stands(stage, case):
    """The example, with identifiers of what there is."""
    for name in case.path_parameters or {}:
        case.path_parameters[name] = stage.living(name)
    # What guards a change, goes on with a list or names somebody needs more than an example.
    for name in ("cursor", "userID", "committeeID", "batchID"):
        (case.query or {}).pop(name, None)
    for name in ("If-Match", "If-None-Match"):
        (case.headers or {}).pop(name, None)
    if isinstance(case.body, dict):
        case.body.pop("version", None)


def comes_from(case, token):
    case.headers["Authorization"] = token


def with_body(make):
    def prepare(stage, case):
        as_it_stands(stage, case)
        case.body = make(stage, stage.living("passer"))
    return prepare


def from_newcomer(make):
    """From somebody who is asked to prove nothing else: who has just had a code gets no second one, and of two that
    are on their way the wrong one might be read."""
    def prepare(stage, case):
        stage.forget("passer", "sid")
        as_it_stands(stage, case)
        newcomer = stage.living("passer")
        case.body = make(stage, newcomer)
        if "Authorization" in case.headers:
            comes_from(case, newcomer.token)
        stage.forget("passer", "sid")
    return prepare


def sign_in(stage, passer):
    return {"email": passer.email, "password": passer.password}


def passwordless(stage, case):
    passer = stage.newcomer()
    asking = lambda: stage.ask("POST", "/auth/passwordless", body={"email": passer.email, "sendMethode": "email"})
    answer, code = stage.code_after(passer.email, "mail", asking)
    case.query = {"code": code}
    comes_from(case, answer["token"])


def enrol(stage, case):
    passer = stage.living("passer")
    otp = stage.ask("GET", "/otp/generate", passer)
    passer.take_secret(otp["otpBase32"])
    case.body = {"code": passer.code(0)}
    comes_from(case, passer.token)


def disable_otp(stage, case):
    person = stage.with_otp()
    case.body = {"password": PASSWORD, "recoveryCode": person.recovery_codes[0]}
    comes_from(case, person.token)


def renew_recovery_codes(stage, case):
    person = stage.with_otp()
    case.body = {"code": person.code(0)}
    comes_from(case, person.token)


def register(stage, passer):
    return {"name": "Youssef", "lastName": "Trabelsi", "email": f"{uuid.uuid4().hex}@example.org",
            "password": PASSWORD, "confirmPassword": PASSWORD, "committeeID": stage.home}


def email_proof(stage, passer):
    """The code of the registration itself."""
    return {"email": passer.email, "code": stage.sent_code(passer.email, set())}


def phone_proof(stage, passer):
    asking = lambda: stage.ask("POST", "/users/phone-verification", passer)
    return {"code": stage.code_after(passer.phone, "sms", asking)[1]}


def ask_for_reset(stage, case):
    case.query = {"sendMethode": "email", "email": stage.living("passer").email}


def reset(stage, passer):
    asking = lambda: stage.ask("GET", f"/users/reset-password?sendMethode=email&email={passer.email}")
    code = stage.code_after(passer.email, "mail", asking)[1]
    return {"email": passer.email, "code": code, "newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}


def change_password(stage, passer):
    return {"oldPassword": passer.password, "newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}


def oneself(stage, case):
    as_it_stands(stage, case)
    passer = stage.living("passer")
    case.path_parameters["userId"] = passer.id
    comes_from(case, passer.token)


def erase_oneself(stage, case):
    oneself(stage, case)
    case.body = {"password": stage.living("passer").password}


def portrait(stage, case):
    as_it_stands(stage, case)
    case.media_type, case.body = "image/png", picture()


def team(stage, case):
    as_it_stands(stage, case)
    stage.ask("GET", f"/users/{case.path_parameters['userId']}", stage.admin)
    case.headers["If-Match"] = stage.etag


def replace_course(stage, case):
    as_it_stands(stage, case)
    stage.ask("GET", f"/courses/{case.path_parameters['courseId']}", stage.admin)
    case.headers["If-Match"] = stage.etag


def complete(stage, case):
    case.path_parameters["fileId"] = stage.upload()


def subdomain(stage, passer):
    return {"domain": f"cours-{uuid.uuid4().hex[:8]}", "rootdomain": stage.living("rootdomain")}


class Successes(dict):
    """Of what is not named, the example as it stands."""

    def __missing__(self, operation):
        return as_it_stands


SUCCESSES = Successes(
    login=with_body(sign_in),
    signInPasswordless=passwordless,
    verifyOtp=enrol,
    disableOtp=disable_otp,
    renewRecoveryCodes=renew_recovery_codes,
    registerUser=with_body(register),
    verifyEmail=from_newcomer(email_proof),
    verifyPhone=from_newcomer(phone_proof),
    requestPasswordReset=ask_for_reset,
    resetPassword=from_newcomer(reset),
    changePassword=with_body(change_password),
    changeUser=oneself,
    exportUser=oneself,
    eraseUser=erase_oneself,
    changeAvatar=portrait,
    changeTeamMember=team,
    replaceCourse=replace_course,
    completeFile=complete,
    createSubdomain=with_body(subdomain),
)
