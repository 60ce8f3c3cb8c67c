//! `cargo bench-scale`: what lists, a course and searches cost does not grow with the number of courses.
//!
//! One store on a file is loaded with more and more courses, and at each size the same requests go through
//! the real edge. With `million` it is loaded once more, and `scale.md` and `scale.svg` are written anew. It
//! fails when a request costs more units at one size than at another, beyond what unequal titles make.

mod catalogue;
mod loading;
mod picture;
mod requests;
mod table;
mod words;

use std::{fs, net::Ipv4Addr, path::Path};

use bench::{grouped, say, trouble};
use bytes::Bytes;
use common::{Edge};
use domain::{CommitteeId, committee::Committee};
use http::{Request, Response, header};
use identity::chance;
use local::{Trouble, cloud::Cloud, home, home::LocalSettings, house};
use runtime::Clock;
use serde_json::json;
use store::Setup;

use catalogue::{Catalogue, parsed};
use loading::Shelf;
use requests::{Asker, Row};

const EMAIL: &str = "admin@example.org";
const PASSWORD: &str = "sept grenadiers en fleur";
/// The sizes at which is measured.
const SIZES: [u64; 4] = [10, 1_000, 10_000, 100_000];
/// One more, when it is asked for.
const MILLION: u64 = 1_000_000;
/// From here on every list is longer than a page, and the rarest of five frequent words has more courses
/// than a search reads.
const FULL: u64 = 10_000;
/// Courses differ in length, and read units are steps of four kilobytes.
const TOLERANCE: f64 = 1.0;

// On one thread requests that leave side by side are counted so, however busy the machine is.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Trouble> {
    let is_whole = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [size] if size == "million" => true,
        _ => {
            return Err(Trouble::new(
                "Say nothing, or `million` for a million courses and new files.",
            ));
        }
    };
    let sizes: Vec<u64> = SIZES
        .into_iter()
        .chain(is_whole.then_some(MILLION))
        .collect();
    let folder = tempfile::tempdir().map_err(trouble)?;
    let cloud = Cloud::in_folder(folder.path()).await?;
    let mut settings = LocalSettings::default();
    settings
        .with_new_keys()
        .find(&cloud)
        .set("RATE_LIMIT", "4000000000");
    let setup = settings.setup(Clock::default())?;
    home::found(&setup, EMAIL, &PASSWORD.into()).await?;
    let edge = house(&setup)?;
    let mut shelf = Shelf::new(Catalogue::new(
        committees(&setup).await?,
        setup.clock.now(),
        &sizes,
    ));
    let asker = Asker {
        token: sign_in(&edge).await?,
        edge,
    };

    let mut rows: Vec<Row> = Vec::new();
    for size in &sizes {
        let loaded = shelf.fill(&cloud, *size)?;
        // What the machine has still to write is nobody's time.
        fs::File::open(folder.path().join("dynamodb.sqlite"))
            .and_then(|file| file.sync_all())
            .map_err(trouble)?;
        say(&format!("{} courses: {loaded}", grouped(*size)));
        let middle = shelf.middle(*size)?;
        requests::ask(&asker, *size, &middle, &mut rows).await?;
    }

    let markdown = table::markdown(&sizes, &rows);
    say(&format!("\n{markdown}"));
    if is_whole {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::write(here.join("scale.md"), table::page(&markdown)).map_err(trouble)?;
        fs::write(here.join("scale.svg"), picture::svg(&sizes, &rows)).map_err(trouble)?;
    }
    match rows.iter().find(|row| row.spread() > TOLERANCE) {
        None => Ok(()),
        Some(row) => Err(Trouble::new(format!(
            "What {} costs depends on the number of courses.",
            row.name
        ))),
    }
}

/// The 24 committees, the caller's first.
async fn committees(setup: &Setup) -> Result<Vec<CommitteeId>, Trouble> {
    let first = setup
        .store
        .committees(None, 1)
        .await?
        .items
        .into_iter()
        .next();
    let first = first.ok_or_else(|| Trouble::new("There is no committee."))?;
    let mut ids = vec![first.committee_id];
    for city in words::CITIES.iter().skip(1) {
        let committee_id = CommitteeId::new(chance::id(setup.clock.now()));
        let name_latin = parsed(&format!("Comité de formation de {city}"))?;
        let committee = Committee {
            committee_id,
            name_latin,
            city: parsed(city)?,
            region: parsed(city)?,
            ..first.clone()
        };
        setup.store.create_committee(&committee).await?;
        ids.push(committee_id);
    }
    Ok(ids)
}

async fn sign_in(edge: &Edge) -> Result<String, Trouble> {
    let credentials = json!({ "email": EMAIL, "password": PASSWORD }).to_string();
    let answer = answer(edge, "POST", "/api/v1/auth/login", "", credentials).await?;
    let token = answer
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|token| token.to_str().ok());
    token
        .map(str::to_owned)
        .ok_or_else(|| Trouble::new("The administrator is not let in."))
}

/// The answer to one request, without a network in between; only a success.
async fn answer(
    edge: &Edge,
    method: &str,
    path: &str,
    token: &str,
    body: String,
) -> Result<Response<Bytes>, Trouble> {
    let mut request = Request::builder().method(method).uri(path);
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, token);
    }
    let request = request.body(Bytes::from(body)).map_err(trouble)?;
    let answer = edge.answer(request, Ipv4Addr::LOCALHOST.into()).await;
    if !answer.status().is_success() {
        return Err(Trouble::new(format!(
            "{path} answered {}",
            String::from_utf8_lossy(answer.body())
        )));
    }
    Ok(answer)
}
