//! Runs `canary` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    runtime::serve_events(canary::Function::start, canary::Function::answer).await
}
