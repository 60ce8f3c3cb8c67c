//! The baseline of `cargo bench-lambda`: a function that does nothing, built like the functions of the service.

use lambda_http::{Body, Error, Request, Response, run, service_fn};

async fn hello(_: Request) -> Result<Response<Body>, Error> {
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body("{\"code\":200}".into())?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(hello)).await
}
