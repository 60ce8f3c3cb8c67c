//! The Lambda function `cpanel`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(cpanel::KEYS, cpanel::routes).await
}
