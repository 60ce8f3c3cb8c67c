//! `/_local/people`: the accounts whose passwords are known, and how to sign in as them.

use domain::Email;
use serde::Deserialize;
use serde_json::json;
use store::{Store, StoreError};

use super::markup::{copy_button, escape, page};

/// The people of `cargo dev seed`.
const SEED: &str = include_str!("../seed.json");
/// Their password; a test signs in with it.
const PASSWORD: &str = "sept grenadiers en fleur";

#[derive(Default, Deserialize)]
struct Seed {
    people: Vec<DemoPerson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DemoPerson {
    name: String,
    last_name: String,
    email: String,
    profile: String,
}

/// The page with the first super admin, who has `administrator` as address and password, and the people of the
/// demonstration data, as far as they have accounts. `origin` is that of the API.
///
/// # Errors
/// When the store fails.
pub(crate) async fn list(
    store: &Store,
    administrator: [String; 2],
    origin: &str,
) -> Result<String, StoreError> {
    let [email, admin_password] = administrator;
    let admin = DemoPerson {
        name: "Super".to_owned(),
        last_name: "Admin".to_owned(),
        email,
        profile: "SA".to_owned(),
    };
    let seed: Seed = serde_json::from_str(SEED).unwrap_or_default();
    let people = seed.people.into_iter().map(|person| (person, PASSWORD));
    let mut cards = String::new();
    for (person, password) in [(admin, admin_password.as_str())].into_iter().chain(people) {
        let Ok(email) = person.email.parse::<Email>() else {
            continue;
        };
        if store.email_owner(&email).await?.is_some() {
            cards += &card(&person, password, origin);
        }
    }
    let main = format!(include_str!("people.html"), cards = cards);
    Ok(page("People", "/_local/people", &main))
}

fn card(person: &DemoPerson, password: &str, origin: &str) -> String {
    let email = person.email.as_str();
    let sign_in = json!({ "email": email, "password": password });
    // In a shell, a quotation mark ends the text, is written by itself, and begins the text again.
    let body = sign_in.to_string().replace('\'', r"'\''");
    let curl = format!(
        "curl -s {origin}/api/v1/auth/login -H 'Content-Type: application/json' -d '{body}'"
    );
    format!(
        include_str!("person.html"),
        name = escape(&format!("{} {}", person.name, person.last_name)),
        profile = escape(&person.profile),
        email = escape(email),
        password = escape(password),
        copy_email = copy_button(email, "the address"),
        copy_password = copy_button(password, "the password"),
        sign_in = escape(&sign_in.to_string()),
        curl = escape(&curl),
    )
}
