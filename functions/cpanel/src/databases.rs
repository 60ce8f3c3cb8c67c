//! `GET /cpanel/db`: the databases of the hosting account, MySQL's first, by name.

use axum::extract::State;
use common::{Now, Reply, shown};
use cpanel_client::Database;
use serde::Serialize;

use crate::{Cpanel, gate::told_of, rights::Reader};

#[derive(Serialize)]
pub(crate) struct Listed {
    databases: Vec<Database>,
}

pub(crate) async fn list(State(cpanel): State<Cpanel>, Now(now): Now, _: Reader) -> Reply<Listed> {
    let mut guest = cpanel.enter(now).await?;
    let answered = guest.panel.databases(guest.visit).await;
    let databases = guest
        .hear(answered)
        .await
        .map_err(|trouble| told_of(&trouble))?;
    shown(Listed { databases })
}
