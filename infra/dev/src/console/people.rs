//! `/_local/people`: the accounts whose passwords are known, and how to sign in as them.

use domain::Email;
use serde_json::json;
use store::{Store, StoreError};

use super::markup::{copy_button, escape, page};
use crate::seed::{self, PASSWORD};

/// The page with the first super admin, who has `administrator` as address and password, and the people of the
/// demonstration data, as far as they have accounts.
///
/// # Errors
/// When the store fails.
pub(crate) async fn list(store: &Store, administrator: [String; 2]) -> Result<String, StoreError> {
    let [email, password] = administrator;
    let mut cards = String::new();
    if let Ok(email) = email.parse::<Email>()
        && store.email_owner(&email).await?.is_some()
    {
        cards += &card("Super Admin", "SA", email.as_str(), &password);
    }
    for user in seed::people().unwrap_or_default() {
        if store.email_owner(&user.email).await?.is_some() {
            let name = format!("{} {}", user.name, user.last_name);
            cards += &card(&name, user.profile.code(), user.email.as_str(), PASSWORD);
        }
    }
    let main = format!(include_str!("people.html"), cards = cards);
    Ok(page("People", "/_local/people", &main))
}

fn card(name: &str, profile: &str, email: &str, password: &str) -> String {
    let sign_in = json!({ "email": email, "password": password });
    format!(
        include_str!("person.html"),
        name = escape(name),
        profile = escape(profile),
        email = escape(email),
        password = escape(password),
        copy_email = copy_button(email, "the address"),
        copy_password = copy_button(password, "the password"),
        sign_in = escape(&sign_in.to_string()),
    )
}
