//! Runs `fallback` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(fallback::KEYS, fallback::routes).await
}
