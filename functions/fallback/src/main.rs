//! The Lambda function `fallback`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(fallback::KEYS, fallback::routes).await
}
