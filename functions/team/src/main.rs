//! Runs `team` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(team::KEYS, team::routes).await
}
