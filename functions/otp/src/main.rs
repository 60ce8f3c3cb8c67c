//! The Lambda function `otp`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(otp::KEYS, otp::routes).await
}
