//! The Lambda function `committees`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(committees::KEYS, committees::routes).await
}
