mod change;
mod conformance;
mod create;
mod list;
mod recovery;
mod remove;
mod settings;
mod sign_in;

use tests::Person;

/// The path of the newest passkey of `person`.
async fn path_of_newest(person: &Person) -> String {
    let listed = person.get("/passkeys").await.expect_ok();
    let id = listed["passkeys"][0]["passkeyID"].as_str().unwrap();
    format!("/passkeys/{id}")
}
