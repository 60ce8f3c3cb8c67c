//! The Lambda function `courses`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(courses::KEYS, courses::routes).await
}
