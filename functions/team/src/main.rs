//! The Lambda function `team`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), common::LambdaError> {
    common::serve(team::KEYS, team::routes).await
}
