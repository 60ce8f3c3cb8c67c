"""Uses the Python package of infra/bin/clients. Its models refuse what the document does not allow: a missing field, a wrong
type. walk.ts has the whole scenario. Checked by `mypy --strict`.

    python walk.py URL EMAIL PASSWORD        EMAIL, PASSWORD: of a super admin
"""

import base64
import datetime
import io
import sys
import uuid
from typing import Any, TypeVar

import httpx

from halqa_client import AuthenticatedClient, Client
from halqa_client.api.auth import login, logout, show_current_user
from halqa_client.api.certificates import download_certificate, revoke_certificate, show_certificate
from halqa_client.api.courses import add_questions, create_course, publish_course, search_courses
from halqa_client.api.files import complete_file, create_file
from halqa_client.api.registrations import (
    cancel_registration,
    issue_certificates,
    mark_attendance,
    register,
    replace_registration_settings,
    replace_sessions,
)
from halqa_client.api.sms import send_sms
from halqa_client.api.users import change_avatar, list_committee_users
from halqa_client.models import (
    Answers,
    AttendanceRecorded,
    AvatarForm,
    AvatarUpdated,
    BadAuthCombinationResponse,
    CertificateIssue,
    CertificateKind,
    CertificateRevocation,
    CertificateRevoked,
    CertificatesIssued,
    ContentType,
    CourseCreated,
    CourseCreation,
    CoursePublished,
    CourseSearch,
    CourseType,
    CreateCourse400Response,
    FileCreated,
    FileCreation,
    FileReady,
    LoggedIn,
    LoggedOut,
    Login,
    Marking,
    MarkingMarksItem,
    MarkingMarksItemStatus,
    QuestionCreation,
    QuestionType,
    QuestionsAdded,
    QuestionsAddition,
    Registering,
    RegistrationCancelled,
    RegistrationCreated,
    RegistrationMode,
    RegistrationSettingsChange,
    RegistrationSettingsChangeCertificateType0,
    RegistrationSettingsUpdated,
    SessionsChange,
    SessionsChangeSessionsItem,
    SessionsUpdated,
    ShownCertificate,
    SmsAccepted,
    SmsSendingType0,
    UserList,
)
from halqa_client.types import File, Response

BASE, EMAIL, PASSWORD = sys.argv[1:]
API, TIMEOUT = f"{BASE}/api/v1", httpx.Timeout(30)
# A PNG of one transparent pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


Model = TypeVar("Model")


def check(holds: object, what: str) -> None:
    if not holds:
        raise SystemExit(f"Check failed: {what}.")


def expect(kind: type[Model], response: Response[Any]) -> Model:
    if not isinstance(response.parsed, kind):
        raise SystemExit(f"Check failed: {response.status_code} is no {kind.__name__}: {response.content!r}.")
    return response.parsed


anyone = Client(API, timeout=TIMEOUT)
wrong = login.sync_detailed(client=anyone, body=Login(email=EMAIL, password="not this one"))
refused = expect(BadAuthCombinationResponse, wrong)
check(refused.message.response_code == "BAD_AUTH_COMBINATION_MESSAGE", "the error has its code")
session = expect(LoggedIn, login.sync_detailed(client=anyone, body=Login(email=EMAIL, password=PASSWORD)))
# The token has its scheme, which the client adds again: both are understood.
admin = AuthenticatedClient(API, token=session.user.token, timeout=TIMEOUT)
invalid = create_course.sync_detailed(client=admin, body=CourseCreation(course_title=""))
fields = expect(CreateCourse400Response, invalid).errors
check(fields and fields[0].field == "courseTitle", "an invalid field is named")
creation = CourseCreation(
    course_title=f"Secourisme {uuid.uuid4().hex}",
    description="Deux journées pour apprendre à protéger, alerter et secourir.",
    course_type=CourseType.ONLINE,
    section_of_matter="Secourisme",
    contact_email="formation@example.org",
    price=45.5,
)
course = expect(CourseCreated, create_course.sync_detailed(client=admin, body=creation)).course
check(course.price == 45.5, "the course is as it was written")
course_id = uuid.UUID(course.course_id)
question = QuestionCreation(language="FR", question="Pourquoi ?", question_type=QuestionType.SHORT_REPLY)
added = expect(QuestionsAdded, add_questions.sync_detailed(course_id, client=admin, body=QuestionsAddition([question])))
expect(CoursePublished, publish_course.sync_detailed(course_id, client=admin))
expect(CourseSearch, search_courses.sync_detailed(client=admin, q="Secourisme"))

settings = RegistrationSettingsChange(mode=RegistrationMode.AUTOMATIC, capacity=1)
expect(RegistrationSettingsUpdated, replace_registration_settings.sync_detailed(course_id, client=admin, body=settings))
answers = Answers.from_dict({added.questions[0].question_id: "Pour aider"})
seat = expect(RegistrationCreated, register.sync_detailed(course_id, client=admin, body=Registering(answers))).registration
check((seat.state, seat.answers[0].value) == ("CONFIRMED", "Pour aider"), "the seat is the caller's")
user_id = uuid.UUID(seat.user_id)
ended = expect(RegistrationCancelled, cancel_registration.sync_detailed(course_id, "me", client=admin)).registration
check(ended.state == "CANCELLED", "the registration is cancelled")

expect(RegistrationCreated, register.sync_detailed(course_id, client=admin, body=Registering(answers)))
end = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=1)
half_day = SessionsChangeSessionsItem(start_at=end - datetime.timedelta(hours=1), end_at=end)
planned = expect(SessionsUpdated, replace_sessions.sync_detailed(course_id, client=admin, body=SessionsChange([half_day])))
mark = MarkingMarksItem(user_id, uuid.UUID(planned.sessions[0].session_id), MarkingMarksItemStatus.PRESENT, version=0)
marking = Marking(sent_at=end, marks=[mark])
expect(AttendanceRecorded, mark_attendance.sync_detailed(course_id, client=admin, body=marking))
settings.certificate = RegistrationSettingsChangeCertificateType0(kind=CertificateKind.ATTENDANCE)
expect(RegistrationSettingsUpdated, replace_registration_settings.sync_detailed(course_id, client=admin, body=settings))
issued = expect(CertificatesIssued, issue_certificates.sync_detailed(course_id, client=admin, body=CertificateIssue()))
code = issued.results[0].code or ""
certificate = expect(ShownCertificate, show_certificate.sync_detailed(code, client=admin)).certificate
check((certificate.status, certificate.minutes) == ("VALID", 60), "the certificate verifies")
pdf = download_certificate.sync_detailed(code, client=admin).content
check(pdf.startswith(b"%PDF-"), "the certificate has a page")
reason = CertificateRevocation(reason="Le nom est faux.")
expect(CertificateRevoked, revoke_certificate.sync_detailed(code, client=admin, body=reason))
revoked = expect(ShownCertificate, show_certificate.sync_detailed(code, client=admin)).certificate
check((revoked.status, revoked.name) == ("REVOKED", None), "a revoked certificate says so")

content = b"un, deux, trois\n"
upload = FileCreation(name="trois.txt", content_type=ContentType.TEXTPLAIN, size=len(content))
created = expect(FileCreated, create_file.sync_detailed(client=admin, body=upload))
sent = httpx.post(
    created.upload.url, data=created.upload.fields.to_dict(), files={"file": ("trois.txt", content)}, timeout=TIMEOUT
)
check(sent.is_success, f"the upload is accepted: {sent.status_code}")
ready = expect(FileReady, complete_file.sync_detailed(uuid.UUID(created.file.file_id), client=admin)).file
check(ready.status == "READY", "the file is ready")

text = SmsSendingType0(to="+21698000123", message="Rendez-vous à 9 h.")
keys = [str(uuid.uuid4())] * 2
texts = [expect(SmsAccepted, send_sms.sync_detailed(client=admin, body=text, idempotency_key=key)).sms for key in keys]
check(texts[0].sms_id == texts[1].sms_id, "the same key sends once")

form = AvatarForm(avatar=File(payload=io.BytesIO(PICTURE), file_name="point.png", mime_type="image/png"))
check(expect(AvatarUpdated, change_avatar.sync_detailed(client=admin, body=form)).avatar.startswith("/media/"), "it has an address")
page = expect(UserList, list_committee_users.sync_detailed(client=admin, limit=1)).to_dict() | {"fieldOfALaterVersion": 1}
check(UserList.from_dict(page).to_dict() == page, "the client accepts and keeps fields that it does not know")
expect(LoggedOut, logout.sync_detailed(client=admin))
check(show_current_user.sync_detailed(client=admin).status_code == 401, "a token ends with its session")
print("Python: signed in, published, registered, uploaded, sent a text message, listed, signed out")
