//! The Lambda function `dispatcher`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    runtime::serve_events(dispatcher::start, dispatcher::Dispatcher::answer).await
}
