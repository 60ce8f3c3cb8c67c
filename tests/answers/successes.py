"""A request that succeeds for each operation: the document's example with existing identifiers and valid credentials.

Used in the phase `examples`, so that every operation succeeds at least once.
"""

import uuid

from stage import PASSWORD, picture

NEW_PASSWORD = "neuf citronniers au matin"


def with_existing_ids(stage, case):
    """The example with existing identifiers."""
    for name in case.path_parameters or {}:
        case.path_parameters[name] = stage.get(name)
    # Conditions, cursors and identifiers in the examples do not match existing objects.
    for name in ("cursor", "userID", "committeeID", "batchID"):
        (case.query or {}).pop(name, None)
    for name in ("If-Match", "If-None-Match"):
        (case.headers or {}).pop(name, None)
    if isinstance(case.body, dict):
        case.body.pop("version", None)


def set_token(case, token):
    case.headers["Authorization"] = token


def with_body(make):
    def prepare(stage, case):
        with_existing_ids(stage, case)
        case.body = make(stage, stage.get("throwaway"))
    return prepare


def from_newcomer(make):
    """Uses a new account, before and after which no other code is sent to the same address: codes are rate-limited, and
    the wrong one of two might be read."""
    def prepare(stage, case):
        stage.forget("throwaway", "sid", "passkeyId")
        with_existing_ids(stage, case)
        newcomer = stage.get("throwaway")
        case.body = make(stage, newcomer)
        if "Authorization" in case.headers:
            set_token(case, newcomer.token)
        stage.forget("throwaway", "sid", "passkeyId")
    return prepare


def sign_in(stage, account):
    return {"email": account.email, "password": account.password}


def passwordless(stage, case):
    account = stage.newcomer()
    asking = lambda: stage.ask("POST", "/auth/passwordless", body={"email": account.email, "sendMethode": "email"})
    answer, code = stage.code_after(account.email, "mail", asking)
    case.query = {"code": code}
    set_token(case, answer["token"])


def enrol(stage, case):
    account = stage.get("throwaway")
    otp = stage.ask("GET", "/otp/generate", account)
    account.take_secret(otp["otpBase32"])
    case.body = {"code": account.code(0)}
    set_token(case, account.token)


def disable_otp(stage, case):
    person = stage.with_otp()
    case.body = {"password": PASSWORD, "recoveryCode": person.recovery_codes[0]}
    set_token(case, person.token)


def renew_recovery_codes(stage, case):
    person = stage.with_otp()
    case.body = {"code": person.code(0)}
    set_token(case, person.token)


def create_passkey(stage, case):
    account = stage.newcomer()
    case.body = {"credential": stage.new_passkey(account)[1], "name": "Ordinateur"}
    set_token(case, account.token)


def sign_in_with_passkey(stage, case):
    account = stage.newcomer()
    authenticator, credential = stage.new_passkey(account)
    stage.ask("POST", "/passkeys", account, {"credential": credential})
    begun = stage.ask("POST", "/auth/passkey/options")
    case.body = {"credential": authenticator.get(begun["options"]), "token": begun["token"]}


def register(stage, account):
    return {"name": "Youssef", "lastName": "Trabelsi", "email": f"{uuid.uuid4().hex}@example.org",
            "password": PASSWORD, "confirmPassword": PASSWORD, "committeeID": stage.home}


def email_proof(stage, account):
    """The code that the registration sent."""
    return {"email": account.email, "code": stage.sent_code(account.email, set())}


def remove_account(stage, case):
    email = stage.newcomer().email
    case.body = {"email": email, "code": stage.removal_code(email)}


def phone_proof(stage, account):
    asking = lambda: stage.ask("POST", "/users/phone-verification", account)
    return {"code": stage.code_after(account.phone, "sms", asking)[1]}


def ask_for_reset(stage, case):
    case.query = {"sendMethode": "email", "email": stage.get("throwaway").email}


def reset(stage, account):
    asking = lambda: stage.ask("GET", f"/users/reset-password?sendMethode=email&email={account.email}")
    code = stage.code_after(account.email, "mail", asking)[1]
    return {"email": account.email, "code": code, "newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}


def change_password(stage, account):
    return {"oldPassword": account.password, "newPassword": NEW_PASSWORD, "confirmPassword": NEW_PASSWORD}


def own_account(stage, case):
    with_existing_ids(stage, case)
    account = stage.get("throwaway")
    case.path_parameters["userId"] = account.id
    set_token(case, account.token)


def change_own_account(stage, case):
    own_account(stage, case)
    case.body = case.body | {"password": stage.get("throwaway").password}


def erase_own_account(stage, case):
    own_account(stage, case)
    case.body = {"password": stage.get("throwaway").password}


def portrait(stage, case):
    with_existing_ids(stage, case)
    case.media_type, case.body = "image/png", picture()


def team(stage, case):
    with_existing_ids(stage, case)
    stage.ask("GET", f"/users/{case.path_parameters['userId']}", stage.admin)
    case.headers["If-Match"] = stage.etag


def replace_course(stage, case):
    with_existing_ids(stage, case)
    stage.ask("GET", f"/courses/{case.path_parameters['courseId']}", stage.admin)
    case.headers["If-Match"] = stage.etag


def complete(stage, case):
    case.path_parameters["fileId"] = stage.upload()


def subdomain(stage, account):
    return {"domain": f"cours-{uuid.uuid4().hex[:8]}", "rootdomain": stage.get("rootdomain")}


class Successes(dict):
    """The default for an operation without an entry is its example."""

    def __missing__(self, operation):
        return with_existing_ids


SUCCESSES = Successes(
    login=with_body(sign_in),
    signInPasswordless=passwordless,
    verifyOtp=enrol,
    createPasskey=create_passkey,
    signInWithPasskey=sign_in_with_passkey,
    disableOtp=disable_otp,
    renewRecoveryCodes=renew_recovery_codes,
    registerUser=with_body(register),
    verifyEmail=from_newcomer(email_proof),
    removeAccount=remove_account,
    verifyPhone=from_newcomer(phone_proof),
    requestPasswordReset=ask_for_reset,
    resetPassword=from_newcomer(reset),
    changePassword=with_body(change_password),
    changeUser=change_own_account,
    exportUser=own_account,
    eraseUser=erase_own_account,
    changeAvatar=portrait,
    changeTeamMember=team,
    replaceCourse=replace_course,
    completeFile=complete,
    createSubdomain=with_body(subdomain),
)
