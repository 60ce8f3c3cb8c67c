//! The Lambda function `users`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(users::KEYS, users::routes).await
}
