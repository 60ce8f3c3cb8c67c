//! The Lambda function `files`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(files::KEYS, files::routes).await
}
