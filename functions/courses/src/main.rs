//! The Lambda function `courses`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(courses::KEYS, courses::routes).await
}
