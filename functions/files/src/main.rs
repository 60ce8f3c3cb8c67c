//! The Lambda function `files`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(files::KEYS, files::routes).await
}
