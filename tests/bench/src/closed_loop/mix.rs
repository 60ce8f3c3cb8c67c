//! What people ask for, and how often.

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `GET /health`
    Health,
    /// `GET /auth/check`
    Check,
    /// `GET /auth/current-user`
    CurrentUser,
    /// `GET /courses/search-all`, the first page and the second in turns
    Courses,
    /// `GET /courses/search-all?q=`, two words
    Search,
    /// `GET /courses/{courseId}`
    Course,
    /// `GET /files/my-files`
    Files,
    /// `PUT /users/{userId}`
    ChangeOneself,
    /// `PUT /courses/{courseId}` with the version that was seen
    ChangeCourse,
    /// `POST /auth/login`
    Login,
}

/// How many of a thousand requests are of each kind.
pub(crate) const MIX: [(Kind, &str, u64); 10] = [
    (Kind::Health, "GET /health", 20),
    (Kind::Check, "GET /auth/check", 160),
    (Kind::CurrentUser, "GET /auth/current-user", 150),
    (Kind::Courses, "GET /courses/search-all", 200),
    (Kind::Search, "GET /courses/search-all?q=", 100),
    (Kind::Course, "GET /courses/{courseId}", 220),
    (Kind::Files, "GET /files/my-files", 98),
    (Kind::ChangeOneself, "PUT /users/{userId}", 25),
    (Kind::ChangeCourse, "PUT /courses/{courseId}", 25),
    (Kind::Login, "POST /auth/login", 2),
];
/// Has no divisor in common with a thousand, so each kind is spread over all of it.
const STRIDE: u64 = 381;

/// The kind of the request with this number.
pub(crate) fn kind(number: u64) -> Kind {
    let mut place = number % 1000 * STRIDE % 1000;
    for (kind, _, share) in MIX {
        match place.checked_sub(share) {
            Some(rest) => place = rest,
            None => return kind,
        }
    }
    Kind::Health
}

/// What a request of this kind is called.
pub(crate) fn name(kind: Kind) -> &'static str {
    MIX.iter()
        .find(|(other, ..)| *other == kind)
        .map_or("", |(_, name, _)| name)
}
