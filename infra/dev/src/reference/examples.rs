//! Values of the running store for the examples of the API reference.

use serde_json::{Value, json};

use super::document::Examples;
use crate::seed::text;

/// Examples for `items`, all items of the records table, and `prepared`, which
/// [`Demonstration`](super::demonstration::Demonstration) has prepared; `null` if it has not. Every operation that
/// changes or deletes a course gets one of its own, so that one does not make the next fail.
pub(crate) fn of_store(items: &[Value], prepared: &Value) -> Examples {
    let published = courses(items, "PUBLISHED", |_| true);
    let drafts = courses(items, "DRAFT", is_complete);
    let any = published.first().or(drafts.first()).copied();
    let (mut drafts, mut others) = (drafts.into_iter(), published.into_iter().skip(1));
    let mut draft = || drafts.next().or(any);
    let mut published = || others.next().or(any);
    let (asked, kept, deleted) = questions(items);
    let [verify, remove, reset, sign_in] =
        ["verify", "remove", "reset", "signIn"].map(|name| &prepared[name]);
    let me = json!({ "userId": prepared["me"] });
    let new_member = json!({ "userId": reset["userID"] });
    let main_domain = &prepared["mainDomain"];
    Examples {
        parameters: json!({
            "userId": prepared["member"],
            "committeeId": prepared["committee"],
            "courseId": any,
            "questionId": asked.map(|(_, question)| question),
            "fileId": prepared["file"],
            "smsId": prepared["sms"],
            "batchId": last(items, "BATCH#", "BATCH", |_| true),
            "number": prepared["number"],
            "passkeyId": prepared["passkey"],
            "sid": prepared["sid"],
            "email": prepared["memberEmail"],
        }),
        of_operations: json!({
            "signInPasswordless": { "code": sign_in["code"] },
            "changeUser": me,
            "exportUser": me,
            "eraseUser": { "userId": verify["userID"] },
            "changeTeamMember": new_member,
            "changeUserStatus": new_member,
            "replaceCourse": { "courseId": published() },
            "publishCourseByGet": { "courseId": draft() },
            "publishCourse": { "courseId": draft() },
            "addQuestions": { "courseId": published() },
            "returnCourseToDraftByGet": { "courseId": published() },
            "returnCourseToDraft": { "courseId": published() },
            "archiveCourse": { "courseId": published() },
            "showQuestion": question(asked),
            "replaceQuestion": question(kept),
            "deleteQuestion": question(deleted),
            "completeFile": { "fileId": prepared["upload"] },
            // Not the newest, which another example deletes.
            "showPublicFile": { "fileId": ids(items, "FILE#", "FILE", is_public).first() },
        }),
        bodies: json!({
            "login": { "email": prepared["email"], "password": prepared["password"] },
            "requestPasswordless": { "email": prepared["memberEmail"] },
            "registerUser": { "email": prepared["newEmail"], "committeeID": prepared["committee"] },
            "verifyEmail": { "email": verify["email"], "code": verify["code"] },
            "removeAccount": { "email": remove["email"], "code": remove["code"] },
            "verifyPhone": { "code": prepared["phoneCode"] },
            "resetPassword": { "email": reset["email"], "code": reset["code"] },
            "changePassword": { "oldPassword": prepared["password"] },
            "changeUser": {
                "phoneCode": prepared["phone"]["phoneCode"],
                "phone": prepared["phone"]["phone"],
                "lastName": prepared["phone"]["lastName"],
                "password": prepared["password"],
            },
            "createSubdomain": { "domain": prepared["newDomain"], "rootdomain": main_domain },
        }),
    }
}

/// The ids of the courses in `state` that are fit, the oldest first.
fn courses<'a>(items: &'a [Value], state: &str, is_fit: impl Fn(&Value) -> bool) -> Vec<&'a str> {
    ids(items, "COURSE#", "COURSE", |item| {
        let is = item.pointer("/card/M/state/S");
        is.is_some_and(|is| is == state) && is_fit(item)
    })
}

/// Whether a course of the demonstration data can be published: it has a contact, and a place unless it is held online.
fn is_complete(course: &Value) -> bool {
    let has = |field: &str| {
        let in_part = |part| course.pointer(&format!("/{part}/M/{field}/S"));
        in_part("card").or_else(|| in_part("details")).is_some()
    };
    let course_type = course.pointer("/card/M/courseType/S").map(text);
    let needs_no_place = matches!(course_type, Some("ONLINE" | "OTHER"));
    let contacts = ["contactPerson", "contactPhone", "contactEmail"];
    let place = ["region", "city", "location"];
    contacts.into_iter().any(has) && (needs_no_place || place.into_iter().all(has))
}

/// A course and one of its questions.
type Question<'a> = Option<(&'a str, &'a str)>;

/// Three questions of courses that are not archived: one to read, one to change and one to delete.
fn questions(items: &[Value]) -> (Question<'_>, Question<'_>, Question<'_>) {
    let open = ["PUBLISHED", "DRAFT"].map(|state| courses(items, state, |_| true));
    let open = open.concat();
    let mut all: Vec<(&str, &str)> = items
        .iter()
        .filter_map(|item| {
            let course = text(&item["pk"]["S"]).strip_prefix("COURSE#")?;
            let question = text(&item["sk"]["S"]).strip_prefix("QUESTION#")?;
            open.contains(&course).then_some((course, question))
        })
        .collect();
    all.sort_unstable();
    let first = all.first().copied();
    let or_first = |index: usize| all.get(index).copied().or(first);
    (first, or_first(1), or_first(2))
}

fn question(question: Question) -> Value {
    question.map_or(
        Value::Null,
        |(course, question)| json!({ "courseId": course, "questionId": question }),
    )
}

fn is_public(file: &Value) -> bool {
    let is = |field: &str, value: &str| {
        let found = file.pointer(&format!("/card/M/{field}/S"));
        found.is_some_and(|found| text(found).eq_ignore_ascii_case(value))
    };
    is("visibility", "public") && is("status", "ready")
}

fn last<'a>(
    items: &'a [Value],
    prefix: &str,
    sk: &str,
    is_fit: impl Fn(&Value) -> bool,
) -> Option<&'a str> {
    ids(items, prefix, sk, is_fit).pop()
}

/// The ids in the partition keys of the items with the sort key `sk` that are fit, the oldest first: ids begin with the
/// time.
fn ids<'a>(
    items: &'a [Value],
    prefix: &str,
    sk: &str,
    is_fit: impl Fn(&Value) -> bool,
) -> Vec<&'a str> {
    let mut ids: Vec<&str> = items
        .iter()
        .filter(|item| item["sk"]["S"] == sk && is_fit(item))
        .filter_map(|item| text(&item["pk"]["S"]).strip_prefix(prefix))
        .collect();
    ids.sort_unstable();
    ids
}
