//! Lists of registrations, and the waiting list of a course.

use std::collections::HashMap;

use domain::{
    CourseId, Instant, UserId, folded,
    question::Question,
    registration::{
        Answer, MAX_POSITION, Reader, Registration, RegistrationCard, RegistrationState,
        RegistrationView, ViewContext,
    },
    user::User,
};
use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::{
    CourseTerms, FullRegistration, Page, Store, StoreError, StoredMarks,
    keys::{self, Key, List, OVERVIEW, Table, WAITING},
    table::{ListedItem, Order, text},
};

/// The order of a course's registrations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationOrder {
    /// By number.
    Number,
    /// By last name and name, of those whose folded last name begins with this folded text.
    Name(String),
}

/// A person on a waiting list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WaitingPerson {
    /// The person.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    sk: String,
}

impl WaitingPerson {
    /// The number of the registration that has this place.
    pub fn number(&self) -> Option<u64> {
        self.sk.strip_prefix(WAITING)?.parse().ok()
    }
}

impl Store {
    /// At most `limit` registrations for `course` in one of `states`, after `position`, in `order`: one query of each
    /// state. A registration that changes its state keeps its position.
    pub async fn registrations(
        &self,
        course: CourseId,
        states: &[RegistrationState],
        order: &RegistrationOrder,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<RegistrationCard>, StoreError> {
        let pages = states.iter().map(|state| async move {
            match order {
                RegistrationOrder::Number => {
                    let list = keys::registrations_in(course, *state);
                    self.cards(&list, position, limit, Order::Ascending).await
                }
                RegistrationOrder::Name(start) => {
                    let list = keys::registrants_in(course, *state);
                    let start_of_key = keys::sortable(start);
                    let mut page = self.cards_from(&list, &start_of_key, position, limit).await?;
                    // Keys have only the beginnings of long names.
                    if start_of_key != *start {
                        let has_start = |card: &RegistrationCard| {
                            folded(card.last_name.as_str()).starts_with(start)
                        };
                        page.items.retain(has_start);
                    }
                    Ok(page)
                }
            }
        });
        let position = match order {
            RegistrationOrder::Number => keys::number_of,
            RegistrationOrder::Name(_) => keys::name_of,
        };
        let pages = try_join_all(pages).await?;
        Ok(Page::merged(pages, limit, Order::Ascending, position, |card| card.user_id))
    }

    /// The cards of `list`, whose index is `overview`, with sort keys that begin with `start`, in ascending order.
    async fn cards_from(
        &self,
        list: &List,
        start: &str,
        after: Option<&str>,
        limit: u16,
    ) -> Result<Page<RegistrationCard>, StoreError> {
        if start.is_empty() {
            return self.cards(list, after, limit, Order::Ascending).await;
        }
        // The next possible key after the position, up to the last one that begins with `start`.
        let first = after.map_or_else(|| start.to_owned(), |after| format!("{after}\0"));
        let request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .index_name(OVERVIEW.name)
            .key_condition_expression("#pk = :pk AND #sk BETWEEN :first AND :last")
            .expression_attribute_names("#pk", OVERVIEW.pk)
            .expression_attribute_names("#sk", OVERVIEW.sk.0)
            .expression_attribute_values(":pk", text(&list.pk))
            .expression_attribute_values(":first", text(&first))
            .expression_attribute_values(":last", text(&format!("{start}\u{10ffff}")));
        let page: Page<ListedItem<RegistrationCard>> =
            self.page(request, OVERVIEW.sk.0, limit).await?;
        Ok(page.map(|item| item.card))
    }

    /// At most `limit` registrations of `user` in one of `states`, after `position`, latest change first, without their
    /// histories. One that changes meanwhile moves to the front.
    pub async fn registrations_of(
        &self,
        user: UserId,
        states: &[RegistrationState],
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Registration>, StoreError> {
        let lists: Vec<List> =
            states.iter().map(|state| keys::registrations_by(user, *state)).collect();
        let pages = lists.iter().map(|list| self.list(list, position, limit, Order::Descending));
        let change = |one: &Registration| keys::change_of_registration(&one.card);
        let pages = try_join_all(pages).await?;
        Ok(Page::merged(pages, limit, Order::Descending, change, |one| one.card.course_id))
    }

    /// At most `limit` people on the waiting list of `course` after `position`, in the order of their numbers; strongly
    /// consistent.
    pub async fn waiting_list(
        &self,
        course: CourseId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<WaitingPerson>, StoreError> {
        let pk = keys::seats(course).pk;
        let request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .consistent_read(true)
            .key_condition_expression("pk = :pk AND begins_with(sk, :waiting)")
            .expression_attribute_values(":pk", text(&pk))
            .expression_attribute_values(":waiting", text(WAITING));
        let start = position
            .map(|sk| HashMap::from([("pk".to_owned(), text(&pk)), ("sk".to_owned(), text(sk))]));
        self.page(request.set_exclusive_start_key(start), "sk", limit).await
    }

    /// The place of `card` on its waiting list, from 1; `None` beyond 100 and in other states.
    pub async fn position(&self, card: &RegistrationCard) -> Result<Option<usize>, StoreError> {
        if card.state != RegistrationState::Waitlisted {
            return Ok(None);
        }
        let page = self.waiting_list(card.course_id, None, MAX_POSITION).await?;
        let place = page.items.iter().position(|waiting| waiting.user_id == card.user_id);
        Ok(place.map(|place| place + 1))
    }

    /// The accounts `users`, at most 100, also erased ones, by id; eventually consistent.
    pub async fn accounts(&self, users: &[UserId]) -> Result<HashMap<UserId, User>, StoreError> {
        let keys: Vec<Key> = users.iter().map(|id| keys::user(*id)).collect();
        let found: Vec<ListedItem<User>> = self.get_many(&keys, "card").await?;
        Ok(found.into_iter().map(|item| (item.card.user_id, item.card)).collect())
    }

    /// The whole registration `full` for `course` as a response shows it to `reader`. `questions` are read if they are not
    /// known and there are answers to show.
    pub async fn registration_view(
        &self,
        course: &CourseTerms,
        questions: Option<Vec<Question>>,
        full: FullRegistration,
        reader: Reader,
        now: Instant,
    ) -> Result<RegistrationView, StoreError> {
        let FullRegistration { registration, answers, user, attendance, .. } = full;
        let StoredMarks { marks, certificate, .. } = attendance;
        let questions = async {
            match questions {
                Some(questions) => Ok(questions),
                None if answers.is_empty() => Ok(Vec::new()),
                None => self.questions(registration.card.course_id).await,
            }
        };
        // Those who may mark see who did.
        let marks = async {
            if !reader.is_writer {
                return Ok(marks.of_own());
            }
            let erased = self.erased_of(marks.markers()).await?;
            Ok(marks.by_those(|id| !erased.contains(&id)))
        };
        let codes = [certificate];
        let (position, marks, certificates, files, questions) = tokio::try_join!(
            self.position(&registration.card),
            marks,
            self.certificates(&codes),
            self.ready_files(answers.iter().filter_map(Answer::file)),
            questions
        )?;
        let context = ViewContext {
            user: &user,
            course: &course.course.summary,
            settings: &course.settings,
            sessions: &course.sessions.sessions,
            marks: &marks,
            certificate: certificates.first().and_then(Option::as_ref),
            required: &course.required,
            files: &files,
            reader,
            now,
        };
        let view = RegistrationView::whole(registration, answers, &questions, &context);
        Ok(view.at(position))
    }
}
