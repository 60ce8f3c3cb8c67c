//! The Lambda function `users`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(users::KEYS, users::routes).await
}
