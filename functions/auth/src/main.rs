//! The Lambda function `auth`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(auth::KEYS, auth::routes).await
}
