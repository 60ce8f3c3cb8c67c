//! `POST /courses/{courseId}/copy`: copies a course and its questions to a new draft.

use axum::extract::State;
use common::{
    ApiResult, Input, Message, Now, Path, Permitted, course_rights::writable, input,
    rights::WriteCourses, success, text,
};
use domain::{
    CourseId, Line, QuestionId,
    audit::{Action, AuditedAction, values},
    question::Question,
};
use identity::random;

use crate::{CourseWithQuestions, Courses};

input! {
    pub(crate) struct CopyCourseRequest: 262_144 {
        course_title: Option<Line<200>> = optional("courseTitle", text),
    }
}

/// The copy belongs to the committee of the course and to the caller. An archived course can be copied, too.
pub(crate) async fn copy(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<CopyCourseRequest>,
) -> ApiResult<CourseWithQuestions> {
    let source = courses.full(id, &writer.person, writable).await?;
    let actor = &writer.person.user;
    let course_id = CourseId::new(random::id(now));
    let course = source.course.copied_to(course_id, request.course_title, actor.user_id, now);
    let copied = source.questions.into_iter().map(|question| {
        let question_id = QuestionId::new(random::id(now));
        Question { question_id, course_id, created_at: now, ..question }
    });
    let questions: Vec<Question> = copied.collect();
    let mut tx = courses.store.transaction();
    tx.new_course(&course, questions.clone());
    let copied_from = values([("copiedFrom", id.to_string().into())]);
    let copied = AuditedAction::of_course(Action::CourseCopied, &course.summary, copied_from);
    tx.record_audit(&copied.by(actor, random::id(now), now));
    tx.commit().await?.expect_committed()?;
    let questions = courses.placed(questions, 1);
    success(Message::CourseCopied, CourseWithQuestions { course, questions })
}
