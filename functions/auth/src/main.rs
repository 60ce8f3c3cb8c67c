//! Runs `auth` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(auth::KEYS, auth::routes).await
}
