//! The Lambda function `committees`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(committees::KEYS, committees::routes).await
}
