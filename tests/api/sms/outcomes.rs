//! The status of a message after errors of SNS.

use std::time::Duration;

use cloud::faults::{Fault, Service};
use serde_json::Value;
use tests::World;

use super::{NUMBER, send_one, sender, status, texts};

#[tokio::test]
async fn sms_server_error_becomes_unknown_and_is_not_resent() {
    for error in ["InternalError", "ServiceUnavailable"] {
        let world = World::new().await;
        let admin = sender(&world).await;
        world.inject_fault_in(Service::Sns, Fault::named(error).times(1));
        let id = send_one(&admin, NUMBER).await;
        world.deliver().await;
        for _ in 0..2 {
            assert_eq!(status(&admin, &id).await, ("UNKNOWN".to_owned(), Value::Null), "{error}");
            assert_eq!(texts(&world).len(), 0);
            world.clock().advance(Duration::from_secs(3600));
            world.sweep().await;
        }
    }
}
