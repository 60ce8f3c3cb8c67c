//! Runs `otp` on Lambda.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), runtime::Error> {
    common::serve(otp::KEYS, otp::routes).await
}
