//! The Lambda function `dispatcher`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve_events(dispatcher::KEYS, dispatcher::Dispatcher::new, dispatcher::Dispatcher::handle).await
}
