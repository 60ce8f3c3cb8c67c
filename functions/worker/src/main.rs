//! The Lambda function `worker`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    runtime::serve_events(worker::start, worker::Worker::answer).await
}
