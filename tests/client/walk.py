"""A scenario with the Python client that openapi-python-client generates from infra/api/openapi.yaml.

The generated models refuse what the document does not allow: a missing field, a wrong type, an unknown enum value.

    python walk.py URL EMAIL PASSWORD        EMAIL, PASSWORD: of a super admin
"""

import base64
import io
import re
import sys
import time
import uuid

import httpx

from interface import AuthenticatedClient, Client
from interface.api.auth import check_session, login, logout, show_current_user
from interface.api.committees import list_committees
from interface.api.courses import add_questions, create_course, publish_course, search_courses, show_course
from interface.api.files import complete_file, create_file, show_file
from interface.api.service import health
from interface.api.sms import send_sms, show_sms
from interface.api.users import change_avatar, list_committee_users, register_user, verify_email
from interface.models import (
    AvatarForm,
    ContentType,
    CourseCreation,
    CourseCreationCourseTypeType1,
    EmailProof,
    FileCreation,
    LoggedIn,
    Login,
    QuestionCreation,
    QuestionsAddition,
    QuestionType,
    Registration,
    SmsSendingType0,
    SmsStatus,
    UserList,
)
from interface.types import UNSET, File

BASE, EMAIL, PASSWORD = sys.argv[1:]
TIMEOUT = httpx.Timeout(30)
# A PNG of one transparent pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def succeed(response):
    """The body of a successful response; otherwise the scenario fails."""
    if response.status_code >= 300:
        raise SystemExit(f"{response.status_code}: {response.content!r}")
    return response.parsed


def check(holds, what):
    if not holds:
        raise SystemExit(f"Check failed: {what}.")


def wait_for(what, ask):
    """Repeats `ask` until it finds something, for at most 15 seconds: effects of a write can be delayed."""
    for _ in range(60):
        found = ask()
        if found:
            return found
        time.sleep(0.25)
    raise SystemExit(f"{what} did not arrive.")


def done(step):
    print(f"Python: {step}")


anyone = Client(f"{BASE}/api/v1", timeout=TIMEOUT)


def sign_in(email, password):
    session = succeed(login.sync_detailed(client=anyone, body=Login(email=email, password=password)))
    check(isinstance(session, LoggedIn), "signing in needs no second step")
    # the token has its scheme, so that it can be the header as it is
    return AuthenticatedClient(f"{BASE}/api/v1", token=session.user.token, prefix="", timeout=TIMEOUT)


done(f"the software's version is {succeed(health.sync_detailed(client=anyone)).version}")

committees = succeed(list_committees.sync_detailed(client=anyone)).committees
committee = next(one.committee_id for one in committees if one.type_ == "NATIONAL")
email, password = f"walk-{uuid.uuid4()}@example.org", "le phare de Kelibia"
registration = Registration(
    name="Amel", last_name="Ben Youssef", email=email, password=password, committee_id=committee
)
registered = succeed(register_user.sync_detailed(client=anyone, body=registration)).user
check(not registered.is_verified, "a registered account is not verified yet")


def mailed_code():
    mails = httpx.get(f"{BASE}/_local/mail", params={"limit": 50}, timeout=TIMEOUT).json()
    texts = [mail["text"] for mail in mails if email in mail["to"]]
    return re.search(r"\b\d{6}\b", texts[0]) if texts else None


code = wait_for("the code", mailed_code).group()
succeed(verify_email.sync_detailed(client=anyone, body=EmailProof(email=email, code=code)))
done("registered, and verified the mail address with the code")

wrong = login.sync_detailed(client=anyone, body=Login(email=email, password="not this one"))
check(wrong.status_code == 401, "a wrong password is 401")
check(wrong.parsed.message.response_code == "BAD_AUTH_COMBINATION_MESSAGE", "the error has its code")
member, admin = sign_in(email, password), sign_in(EMAIL, PASSWORD)
user = succeed(check_session.sync_detailed(client=member)).user
check(user.is_verified and user.email == email, "the account is the registered one")
done("401 for a wrong password; signed in, checked")

title = f"Secourisme {uuid.uuid4().hex}"
invalid = create_course.sync_detailed(client=admin, body=CourseCreation(course_title=""))
check(invalid.parsed.errors[0].field == "courseTitle", "an invalid field is named")
creation = CourseCreation(
    course_title=title,
    description="Deux journées pour apprendre à protéger, alerter et secourir.",
    course_type=CourseCreationCourseTypeType1.ONLINE,
    section_of_matter="Secourisme",
    contact_email="formation@example.org",
    price=45.5,
)
course = succeed(create_course.sync_detailed(client=admin, body=creation)).course
question = QuestionCreation(language="FR", question="Pourquoi ?", question_type=QuestionType.SHORT_REPLY)
questions = QuestionsAddition(questions=[question])
succeed(add_questions.sync_detailed(course.course_id, client=admin, body=questions))
succeed(publish_course.sync_detailed(course.course_id, client=admin))
listed = wait_for(
    "the published course", lambda: succeed(search_courses.sync_detailed(client=member, q=title)).courses
)
check(listed[0].price == 45.5, "the course is found as it was written")
shown = show_course.sync_detailed(course.course_id, client=member)
check(len(succeed(shown).questions) == 1, "the course has its question")
unchanged = member.with_headers({"If-None-Match": shown.headers["ETag"]})
check(show_course.sync_detailed(course.course_id, client=unchanged).status_code == 304, "an unchanged course is 304")
done("a course: written, published, found; 304 while unchanged")

content = "un, deux, trois\n".encode()
creation = FileCreation(name="trois.txt", content_type=ContentType.TEXTPLAIN, size=len(content))
created = succeed(create_file.sync_detailed(client=member, body=creation))
sent = httpx.post(
    created.upload.url, data=created.upload.fields.to_dict(), files={"file": ("trois.txt", content)}, timeout=TIMEOUT
)
check(sent.is_success, f"the upload is accepted: {sent.status_code} {sent.text}")
succeed(complete_file.sync_detailed(created.file.file_id, client=member))
stored = succeed(show_file.sync_detailed(created.file.file_id, client=member)).file
check(httpx.get(stored.url, timeout=TIMEOUT).content == content, "the download equals the upload")
done("a file: created, uploaded by form, read")

form = AvatarForm(avatar=File(payload=io.BytesIO(PICTURE), file_name="point.png", mime_type="image/png"))
check(succeed(change_avatar.sync_detailed(client=member, body=form)).avatar.startswith("/media/"), "it has an address")
done("a picture: uploaded by form")

key = str(uuid.uuid4())
message = SmsSendingType0(to="+21698000124", message="Rendez-vous à 9 h.")
first, again = (
    succeed(send_sms.sync_detailed(client=admin, body=message, idempotency_key=key)).sms for _ in range(2)
)
check(first.sms_id == again.sms_id, "the same key sends once")
wait_for(
    "the text message",
    lambda: succeed(show_sms.sync_detailed(first.sms_id, client=admin)).sms.status == SmsStatus.SENT,
)
done("a text message: accepted once, sent")

met, cursor = set(), UNSET
while cursor is not None and len(met) < 100:
    page = succeed(list_committee_users.sync_detailed(client=admin, limit=1, cursor=cursor))
    for one in page.users:
        check(one.user_id not in met, "no user is listed twice")
        met.add(one.user_id)
    cursor = page.next_cursor
check(user.user_id in met, "the new user is listed")
done(f"a list by its cursor: {len(met)} users")

later = page.to_dict() | {"fieldOfALaterVersion": 1}
later["users"] = [one | {"fieldOfALaterVersion": {}} for one in later["users"]]
check(UserList.from_dict(later).to_dict() == later, "the client accepts and keeps fields that it does not know")
done("unknown fields in a response are accepted")

succeed(logout.sync_detailed(client=member))
check(show_current_user.sync_detailed(client=member).status_code == 401, "a token ends with its session")
done("signed out")
