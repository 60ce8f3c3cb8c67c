//! `GET` and `POST /courses/{courseId}/publish`: everybody with an account finds the course from now on.

use axum::extract::State;
use common::{Failure, FieldError, Message, Now, Path, Refusal, Refused, Reply, told};
use domain::{
    CourseId,
    course::{Course, State as Stage},
};
use store::{Outcome, Part};

use crate::{Courses, Shown, reasons, rights::Publisher};

/// That the committee is active is part of the transaction: one that is being closed publishes nothing.
pub(crate) async fn publish(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Publisher,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    for _ in 0..crate::TRIES {
        let before = publisher.publishes(courses.store.course(id).await?)?;
        if before.outline.state == Stage::Published {
            return told(Message::AlreadyPublished, Shown { course: before });
        }
        if !before.unready().is_empty() {
            return Err(courses.why_not(&before).await?.into());
        }
        let (after, mut publish) =
            courses.brought(&before, Stage::Published, publisher.0.user.user_id, now)?;
        publish.require_active_committee(after.outline.committee_id);
        match publish.commit().await? {
            Outcome::Done => return told(Message::CoursePublished, Shown { course: after }),
            Outcome::Refused(Part::Committee) => {
                return Err(courses.why_not(&before).await?.into());
            }
            Outcome::Refused(_) => {}
        }
    }
    Err(Refusal::Conflict.into())
}

impl Courses {
    /// All that keeps the course from being published.
    async fn why_not(&self, course: &Course) -> Result<Refused, Failure> {
        let mut errors = reasons(course);
        let committee = self.store.committee(course.outline.committee_id).await?;
        if !committee.is_some_and(|committee| committee.is_active) {
            errors.push(FieldError::new("committeeID", Refusal::CommitteeInvalid));
        }
        Ok(Refused::because(Refusal::CourseNotReady, errors))
    }
}
