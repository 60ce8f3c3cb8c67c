//! The Lambda function `sms`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(sms::KEYS, sms::routes).await
}
