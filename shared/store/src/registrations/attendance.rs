//! The attendance of one person for one course: one item with their marks and the code of their certificate. Each write has the condition that the item is as it
//! was read.

use domain::{
    CourseId, UserId, attendance::Marks, certificate::CertificateCode, registration::Registration,
    user::User,
};
use serde::Deserialize;

use crate::{
    Part, Store, StoreError, Transaction,
    accounts::users::unless_erased,
    keys::{self, Key},
    retry::Retries,
    table::{MAX_KEYS, read},
    write::Write,
};

/// The attendance of a person as it is stored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct StoredMarks {
    /// The marks.
    pub marks: Marks,
    /// The code of the latest certificate.
    pub certificate: Option<CertificateCode>,
    /// Number of changes.
    revision: u64,
    /// Whether the registration is anonymous: then no mark follows.
    #[serde(rename = "isErased")]
    is_erased: bool,
}

/// A registered person whose account is not erased.
#[derive(Debug, Clone)]
pub struct Attendee {
    /// The registration, in any state.
    pub registration: Registration,
    /// The attendance.
    pub stored: StoredMarks,
    /// The account.
    pub user: User,
}

impl Store {
    /// The attendance of `users` for `course`, each with the registration; `None` for those who have never
    /// registered or are erased.
    pub async fn attendees(
        &self,
        course: CourseId,
        users: &[UserId],
    ) -> Result<Vec<Option<Attendee>>, StoreError> {
        let keys_of = |user: &UserId| {
            [keys::registration(course, *user), keys::attendance(course, *user), keys::user(*user)]
        };
        let mut found = Vec::new();
        for users in users.chunks(MAX_KEYS / 3) {
            let keys: Vec<Key> = users.iter().flat_map(keys_of).collect();
            let mut items = self.get_all(&keys).await?.into_iter();
            while let (Some(registration), Some(stored), Some(user)) =
                (items.next(), items.next(), items.next())
            {
                let stored: StoredMarks = read(stored)?.unwrap_or_default();
                let user = unless_erased(read(user)?).filter(|_| !stored.is_erased);
                let found_one = read(registration)?.zip(user);
                found.push(found_one.map(|(registration, user)| Attendee {
                    registration,
                    stored,
                    user,
                }));
            }
        }
        Ok(found)
    }

    /// The attendance of these people for these courses, at most 100, in that order.
    pub async fn attendance(
        &self,
        of: impl Iterator<Item = (CourseId, UserId)>,
    ) -> Result<Vec<StoredMarks>, StoreError> {
        let keys: Vec<Key> = of.map(|(course, user)| keys::attendance(course, user)).collect();
        let items = self.get_all(&keys).await?.into_iter().map(read::<StoredMarks>);
        items.map(|stored| Ok(stored?.unwrap_or_default())).collect()
    }

    /// Stores the marks that `decide` makes of the attendance of `user` for `course`, and returns its other value. It may have
    /// been read, as `first`; when it has changed since, it is read and decided again. A write whose answer is lost is decided
    /// again, too: marks that were sent twice are stored once.
    pub async fn update_marks<T, E: From<StoreError>>(
        &self,
        course: CourseId,
        user: UserId,
        first: Option<Attendee>,
        decide: impl Fn(Option<&Attendee>) -> Result<(Option<Marks>, T), E>,
    ) -> Result<T, E> {
        let mut retries = Retries::new();
        let mut attendee = first;
        loop {
            let (marks, decided) = decide(attendee.as_ref())?;
            let Some((marks, before)) = marks.zip(attendee.as_ref()) else {
                return Ok(decided);
            };
            let update = attendance_update(course, user, &before.stored)
                .expression("SET marks = :marks, revision = :after")
                .value(":marks", &marks);
            let outcome = self.apply(update).await;
            let error = match outcome {
                Ok(true) => return Ok(decided),
                Ok(false) => StoreError::TransactionConflict,
                Err(error) => error,
            };
            retries.pause(error).await?;
            attendee = self.attendees(course, &[user]).await?.pop().flatten();
        }
    }
}

/// An update of the attendance of `user` for `course`, which was read as `before`. `:after` is the next revision.
pub(crate) fn attendance_update(course: CourseId, user: UserId, before: &StoredMarks) -> Write {
    let update = Write::at(&keys::attendance(course, user));
    let update = match before.revision {
        0 => update.when("attribute_not_exists(pk)"),
        revision => update.when("revision = :before").number(":before", revision),
    };
    update.number(":after", before.revision + 1)
}

impl Transaction {
    /// Deletes the marks of `user` for `course`, for good.
    pub(super) fn clear_marks(&mut self, course: CourseId, user: UserId) {
        let update = Write::at(&keys::attendance(course, user))
            .expression("SET isErased = :true REMOVE marks ADD revision :one")
            .value(":true", &true)
            .number(":one", 1);
        self.update(Part::Other, update);
    }
}
