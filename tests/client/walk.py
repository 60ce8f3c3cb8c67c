"""Uses the Python package of infra/bin/clients. Its models refuse what the
document does not allow: a missing field, a wrong type, an unknown enum value. walk.ts has the whole scenario.

    python walk.py URL EMAIL PASSWORD        EMAIL, PASSWORD: of a super admin
"""

import base64
import io
import sys

import httpx

from halqa_client import AuthenticatedClient, Client
from halqa_client.api.auth import login, logout, show_current_user
from halqa_client.api.courses import create_course, search_courses
from halqa_client.api.users import change_avatar, list_committee_users
from halqa_client.models import AvatarForm, CourseCreation, CourseCreationCourseTypeType1, Login, UserList
from halqa_client.types import File

BASE, EMAIL, PASSWORD = sys.argv[1:]
API, TIMEOUT = f"{BASE}/api/v1", httpx.Timeout(30)
# A PNG of one transparent pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def check(holds, what):
    if not holds:
        raise SystemExit(f"Check failed: {what}.")


def succeed(response):
    check(response.status_code < 300, f"{response.status_code}: {response.content!r}")
    return response.parsed


anyone = Client(API, timeout=TIMEOUT)
wrong = login.sync_detailed(client=anyone, body=Login(email=EMAIL, password="not this one"))
check(wrong.parsed.message.response_code == "BAD_AUTH_COMBINATION_MESSAGE", "the error has its code")
session = succeed(login.sync_detailed(client=anyone, body=Login(email=EMAIL, password=PASSWORD)))
# The token has its scheme, which the client adds again: both are understood.
admin = AuthenticatedClient(API, token=session.user.token, timeout=TIMEOUT)
invalid = create_course.sync_detailed(client=admin, body=CourseCreation(course_title=""))
check(invalid.parsed.errors[0].field == "courseTitle", "an invalid field is named")
creation = CourseCreation(course_title="Secourisme", course_type=CourseCreationCourseTypeType1.ONLINE, price=45.5)
course = succeed(create_course.sync_detailed(client=admin, body=creation)).course
check(course.price == 45.5, "the course is as it was written")
succeed(search_courses.sync_detailed(client=admin, q="Secourisme"))
form = AvatarForm(avatar=File(payload=io.BytesIO(PICTURE), file_name="point.png", mime_type="image/png"))
check(succeed(change_avatar.sync_detailed(client=admin, body=form)).avatar.startswith("/media/"), "it has an address")
page = succeed(list_committee_users.sync_detailed(client=admin, limit=1)).to_dict() | {"fieldOfALaterVersion": 1}
check(UserList.from_dict(page).to_dict() == page, "the client accepts and keeps fields that it does not know")
succeed(logout.sync_detailed(client=admin))
check(show_current_user.sync_detailed(client=admin).status_code == 401, "a token ends with its session")
print("Python: signed in, wrote and listed, signed out")
