//! The Lambda function `dispatcher`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve_events(
        dispatcher::KEYS,
        common::CONNECTIONS,
        dispatcher::Dispatcher::new,
        dispatcher::Dispatcher::answer,
    )
    .await
}
