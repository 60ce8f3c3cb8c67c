//! Runs `passkeys` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(passkeys::KEYS, passkeys::routes).await
}
