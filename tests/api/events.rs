//! The replay of events that the worker did not get, against an emulation of SQS and Lambda.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use canary::AwsApi;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use ops::Replayed;
use runtime::Aws;
use serde_json::{Value, json};
use tests::World;

use crate::aws_services::serve;

const QUEUE: &str = "https://sqs.eu-south-1.amazonaws.com/123456789012/halqa-dev-WorkerFailures-1";

/// A queue with the records of events, by receipt handle, and the worker of a World.
#[derive(Clone)]
struct AwsServices {
    world: World,
    visible: Arc<Mutex<Vec<(String, String)>>>,
    kept: Arc<Mutex<Vec<String>>>,
}

impl AwsServices {
    /// With the record of an invocation with each of `events`.
    fn with(world: &World, events: &[Value]) -> Self {
        let record = |(number, event): (usize, &Value)| {
            // https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
            let record = json!({
                "version": "1.0", "timestamp": "2026-11-20T12:00:00.000Z",
                "requestContext": {
                    "functionArn": "arn:aws:lambda:eu-south-1:123456789012:function:halqa-dev-Worker-1:live",
                    "condition": "EventAgeExceeded", "approximateInvokeCount": 0,
                },
                "requestPayload": event,
            });
            (number.to_string(), record.to_string())
        };
        let visible: Vec<_> = events.iter().enumerate().map(record).collect();
        let kept = visible.iter().map(|(handle, _)| handle.clone()).collect();
        let world = world.clone();
        Self { world, visible: Arc::new(Mutex::new(visible)), kept: Arc::new(Mutex::new(kept)) }
    }

    /// Serves on a free port; returns the URL.
    async fn start(&self) -> String {
        let server = self.clone();
        serve(move |request| {
            let server = server.clone();
            async move { server.answer(request).await }
        })
        .await
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = request.into_parts();
        let body: Value =
            serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
        match parts.headers.get("x-amz-target").map(|target| target.to_str().unwrap()) {
            Some("AmazonSQS.ReceiveMessage") => {
                assert_eq!(body["QueueUrl"], QUEUE);
                let mut visible = self.visible.lock().unwrap();
                let count = visible.len().min(2);
                let received: Vec<Value> = visible
                    .drain(..count)
                    .map(|(handle, body)| json!({ "Body": body, "ReceiptHandle": handle }))
                    .collect();
                // SQS leaves an empty list out.
                reply(&if count == 0 { json!({}) } else { json!({ "Messages": received }) })
            }
            Some("AmazonSQS.DeleteMessage") => {
                let handle = body["ReceiptHandle"].as_str().unwrap();
                self.kept.lock().unwrap().retain(|kept| kept != handle);
                reply(&json!({}))
            }
            _ => {
                let function = "arn:aws:lambda:eu-south-1:123456789012:function:halqa-dev-Worker-1";
                let path = parts.uri.path().replace("%3A", ":");
                assert_eq!(path, format!("/2015-03-31/functions/{function}:live/invocations"));
                let worker = self.world.consumers().worker.clone();
                let event = serde_json::from_value(body).unwrap();
                let mut response = reply(&json!({}));
                if worker.answer(event).await.is_err() {
                    let value = "Unhandled".parse().unwrap();
                    response.headers_mut().insert("x-amz-function-error", value);
                }
                response
            }
        }
    }
}

fn reply(body: &Value) -> Response<Full<Bytes>> {
    Response::new(Full::new(body.to_string().into()))
}

#[tokio::test]
async fn replay_handles_events_drops_sweeps_and_keeps_what_fails() {
    let (world, member) = World::with_member().await;
    let email = &member.user().email;
    let mut bounce: Value =
        serde_json::from_str(include_str!("../../events/worker/bounce.json")).unwrap();
    bounce["detail"]["mail"]["timestamp"] = json!(world.clock().now());
    bounce["detail"]["mail"]["destination"] = json!([email]);
    let receipts = serde_json::from_str(include_str!("../../events/worker/receipts.json")).unwrap();
    let sweep = serde_json::from_str(include_str!("../../events/worker/sweep.json")).unwrap();
    let unreadable = json!({ "awslogs": { "data": "no gzip" } });
    let events = [sweep, bounce, Value::Null, unreadable, receipts];
    let services = AwsServices::with(&world, &events);
    let replay = async {
        let mut settings = world.settings();
        settings.set("AWS_ENDPOINT_URL", services.start().await);
        let aws = Aws::new(&settings.settings()).unwrap();
        ops::replay_events(&AwsApi::new(&aws, world.clock()), QUEUE).await
    };
    let replayed = replay.await;
    assert_eq!(replayed, Ok(Replayed { done: 2, dropped: 2, failed: 1 }));
    assert_eq!(*services.kept.lock().unwrap(), ["3"]);
    let stop = world.setup().store.mail_stop(email, world.clock().now()).await.unwrap();
    assert!(stop.is_some());
}
