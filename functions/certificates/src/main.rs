//! The Lambda function `certificates`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(certificates::KEYS, certificates::routes).await
}
