//! The Lambda function `canary`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve_events(canary::KEYS, 0, canary::Canary::new, canary::Canary::answer).await
}
