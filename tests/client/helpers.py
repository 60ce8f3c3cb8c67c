"""What the package adds to the generated functions, against the service. What only a gateway or a later version does comes from
a transport in front of httpx. Checked by `mypy --strict`.

    python helpers.py URL EMAIL PASSWORD        EMAIL, PASSWORD: of a super admin
"""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import httpx

from halqa_client import AuthenticatedClient, HalqaError, connect, paginate, upload
from halqa_client.api.auth import login, show_current_user
from halqa_client.api.courses import (
    add_questions,
    create_course,
    list_committee_courses,
    publish_course,
    show_course,
)
from halqa_client.api.registrations import register, replace_registration_settings, show_calendar
from halqa_client.models import (
    AlreadyRegistered,
    Answers,
    AnyAnswer,
    ChoicesAnswer,
    ContentType,
    CourseCreated,
    CourseCreation,
    CourseList,
    CourseType,
    LoggedIn,
    Login,
    QuestionCreation,
    QuestionsAdded,
    QuestionsAddition,
    QuestionType,
    Registering,
    RegistrationCreated,
    RegistrationMode,
    RegistrationSettingsChange,
    ShownCourse,
    TooManyRequestsResponse,
)

API, EMAIL, PASSWORD = f"{sys.argv[1]}/api/v1", *sys.argv[2:]


def check(holds: object, what: str) -> None:
    if not holds:
        raise SystemExit(f"Check failed: {what}.")


class Between(httpx.BaseTransport):
    """Counts requests; `answer` can replace their responses."""

    def __init__(self, answer: Callable[[int, httpx.Response], httpx.Response]) -> None:
        self.inner, self.answer, self.paths = httpx.HTTPTransport(), answer, list[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        response = self.inner.handle_request(request)
        response.read()
        return self.answer(len(self.paths), response)


session = login.sync(client=connect(API), body=Login(email=EMAIL, password=PASSWORD))
if not isinstance(session, LoggedIn):
    raise HalqaError(session)
token = session.user.token


def connected(answer: Callable[[int, httpx.Response], httpx.Response], patience: float = 60) -> AuthenticatedClient:
    return connect(API, token, transport=Between(answer), patience=patience)


def refuse(count: int, response: httpx.Response) -> httpx.Response:
    refusal = httpx.Response(429, json={"message": "Too Many Requests"}, headers={"Retry-After": "1"})
    return response if count > 2 else refusal


refused = show_current_user.sync(client=connected(refuse, patience=0))
if not isinstance(refused, TooManyRequestsResponse):
    raise SystemExit("The gateway's 429 has the form of ours.")
check(refused.message.response_code == "TOO_MANY_REQUESTS_MESSAGE", "the gateway's 429 has its code")
check(show_current_user.sync_detailed(client=connected(refuse)).status_code == 200, "a 429 is repeated after its time")

client = connect(API, token)
start = datetime(2030, 3, 8, 9, 0, tzinfo=UTC)
body = CourseCreation(
    course_title="Premiers secours",
    description="Les gestes qui sauvent.",
    course_type=CourseType.ONLINE,
    section_of_matter="Secourisme",
    contact_email="info@example.org",
    start_at=start,
)
created = create_course.sync(client=client, body=body)
if not isinstance(created, CourseCreated):
    raise HalqaError(created)
check(created.course.start_at == start, "a time is given and returned as a datetime")
course_id = UUID(created.course.course_id)
question = QuestionCreation("FR", "Taille ?", QuestionType.MULTIPLE_CHOICE, options=["M", "L"])
added = add_questions.sync(course_id, client=client, body=QuestionsAddition([question]))
if not isinstance(added, QuestionsAdded):
    raise HalqaError(added)
publish_course.sync(course_id, client=client)
settings = RegistrationSettingsChange(mode=RegistrationMode.AUTOMATIC)
replace_registration_settings.sync(course_id, client=client, body=settings)
answers = Registering(Answers.from_dict({added.questions[0].question_id: ["L"]}))
registered = register.sync(course_id, client=client, body=answers)
if not isinstance(registered, RegistrationCreated):
    raise HalqaError(registered)
answer = registered.registration.answers[0]
check(isinstance(answer, ChoicesAnswer) and answer.value == ["L"], "the type of an answer tells that of its value")
calendar = show_calendar.sync_detailed(course_id, registered.registration.user_id, client=client)
check(calendar.content.startswith(b"BEGIN:VCALENDAR"), "a calendar is a text")


def rename(_: int, response: httpx.Response) -> httpx.Response:
    text = response.text.replace('"ONLINE"', '"IN_A_BUS"').replace('"MULTIPLE_CHOICE"', '"DRAWING"')
    return httpx.Response(response.status_code, text=text)


later = connected(rename)
shown = show_course.sync(course_id, client=later)
if not isinstance(shown, ShownCourse):
    raise HalqaError(shown)
check(shown.course.course_type == "IN_A_BUS", "a new value of an enum is read")
check(shown.course.to_dict()["courseType"] == "IN_A_BUS", "and written")
again = register.sync(course_id, client=later, body=answers)
if not isinstance(again, AlreadyRegistered):
    raise HalqaError(again)
other = again.registration.answers[0]
check(isinstance(other, AnyAnswer) and other.value == ["L"], "an answer of a new type is read")

told: list[str] = []
counting = Between(lambda _, response: response)
renewing = connect(API, token, on_token=told.append, transport=counting)
show_current_user.sync(client=renewing)
check(counting.paths == ["/api/v1/auth/current-user"], "a young token is not renewed")
real = time.time
time.time = lambda: real() + 7 * 3600
try:
    check(show_current_user.sync_detailed(client=renewing).status_code == 200, "the renewed token is good")
finally:
    time.time = real
check(counting.paths[1:] == ["/api/v1/auth/check", "/api/v1/auth/current-user"], "an old token is renewed once")
check(len(told) == 1 and told[0].startswith("Bearer "), "the renewed token is told")

pages = list(paginate(CourseList, list_committee_courses.sync, client=client, limit=1))
check(len({course.course_id for page in pages for course in page.courses}) > 1, "all pages of a list come")
try:
    next(paginate(CourseList, list_committee_courses.sync, client=client, cursor="x"))
    check(False, "a refused page raises an error")
except HalqaError as error:
    check(str(error) == "INVALID_CURSOR_MESSAGE", "the error has its code")
file = upload(client, b"un, deux\n", name="deux.txt", content_type=ContentType.TEXTPLAIN)
check(file.status == "READY", "the file is ready")
print("Python: waited, renewed, listed, uploaded, read values of a later version")
