//! `GET /courses/search-all`: lists or searches the published courses of all committees.

use std::collections::BTreeMap;

use axum::extract::State;
use common::{
    ApiResult, ErrorCode, Filtered, InvalidValue, Listed, Now, SignedIn, choice, input, ok, text,
};
use domain::{
    Constraint, Prose, Unit, Word,
    course::{CourseSummary, Include},
    words,
};
use store::Page;

use crate::{Courses, listed::ListedCourse};

/// The most distinct words of a search.
const MAX_WORDS: usize = 5;

input! {
    pub(crate) struct SearchQuery {
        /// `None` lists all published courses.
        words: Option<Vec<Word>> = nullable("q", |value| search_words(text(value)?)),
        include: Option<Include> = nullable("include", choice),
    }
}

/// The words of `text` that are distinct when folded. `Prose` because pasted Arabic text can carry bidirectional controls.
pub(crate) fn search_words(text: Prose<200>) -> Result<Vec<Word>, InvalidValue> {
    let words: BTreeMap<String, Word> =
        words(text.as_str()).map(|word| (word.folded(), word)).collect();
    if words.len() > MAX_WORDS {
        Err(InvalidValue {
            code: ErrorCode::FieldLength,
            constraint: Constraint::length(1, MAX_WORDS, Unit::Words),
        })
    } else {
        Ok(words.into_values().collect())
    }
}

/// Sorted by publication, newest first. With `q` a course must match all its words, and a page may be shorter than
/// the limit before the last one.
pub(crate) async fn search(
    State(courses): State<Courses>,
    Now(now): Now,
    person: SignedIn,
    Filtered(paging, request): Filtered<SearchQuery>,
) -> ApiResult<Listed<ListedCourse<CourseSummary>>> {
    let list = paging.open(&courses.cursors, &request.words)?;
    let (position, limit) = (list.position(), list.limit);
    let page = match request.words {
        None => {
            let page = courses.store.published(position, limit).await?;
            courses.listed(page, request.include, &person, now).await?
        }
        Some(words) => {
            let Page { items: found, last } = courses.store.search(&words, position, limit).await?;
            let (items, beside) = tokio::try_join!(
                courses.store.found_courses(&words, &found),
                courses.beside(&found, request.include, &person)
            )?;
            beside.list(Page { items, last }, &person, now)?
        }
    };
    ok(list.listed("courses", page)?)
}
