//! The Lambda function `cpanel`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(cpanel::KEYS, cpanel::routes).await
}
