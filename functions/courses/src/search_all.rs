//! `GET /courses/search-all`: the published courses of all committees.

use std::collections::BTreeSet;

use axum::extract::State;
use common::{Asked, Fields, FromFields, Now, Paging, Reply, SignedIn, shown, text};
use domain::{Flaw, Line, course::Outline, words};
use serde::Serialize;

use crate::Courses;

/// Nobody asks for more words at once.
const MOST_WORDS: usize = 5;

pub(crate) struct Wish {
    /// Folded, each once; `None` when nothing is asked for.
    words: Option<Vec<String>>,
}

impl<S> FromFields<S> for Wish {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let words = fields.nullable("q", |value| {
            let text: Line<200> = text(value)?;
            let words: BTreeSet<String> = words(text.as_str()).collect();
            if words.len() > MOST_WORDS {
                Err(Flaw::Length)
            } else {
                Ok(words.into_iter().collect())
            }
        });
        Some(Self {
            words: words?.flatten(),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    courses: Vec<Outline>,
    next_cursor: Option<String>,
}

/// Newest publishing first. With `q`, those that have all its words; a page may be short before the list ends.
pub(crate) async fn search(
    State(courses): State<Courses>,
    Now(now): Now,
    person: SignedIn,
    paging: Paging,
    Asked(wish): Asked<Wish>,
) -> Reply<Shown> {
    let list = format!(
        "GET /courses/search-all {:?} caller={}",
        wish.words, person.user.user_id
    );
    let position = paging
        .cursor
        .map(|cursor| courses.cursors.read(&cursor, &list, now))
        .transpose()?;
    let (position, limit) = (position.as_deref(), paging.limit);
    let page = match wish.words {
        None => courses.store.published(position, limit).await?,
        Some(words) => courses.store.search(&words, position, limit).await?,
    };
    let next_cursor = page
        .last
        .map(|position| courses.cursors.write(&position, &list, now))
        .transpose()?;
    shown(Shown {
        courses: page.items,
        next_cursor,
    })
}
