//! The Lambda function `registrations`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(registrations::KEYS, registrations::routes).await
}
