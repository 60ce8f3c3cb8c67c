//! The stand-in for cPanel.

use bytes::Bytes;
use cloud::{Cloud, uapi::Uapi};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tests::World;

async fn ask(uapi: &Uapi, path: &str, token: Option<&str>) -> (StatusCode, Value) {
    let [(_, url), (_, user), (_, own)] = uapi.settings();
    let authorization = format!("cpanel {user}:{}", token.unwrap_or(&own));
    let request = Request::get(format!("{url}{path}"))
        .header("authorization", authorization)
        .body(Full::<Bytes>::default())
        .unwrap();
    let response =
        Client::builder(TokioExecutor::new()).build_http().request(request).await.unwrap();
    let (parts, body) = response.into_parts();
    (
        parts.status,
        serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap_or_default(),
    )
}

const NEW: &str = "/execute/SubDomain/addsubdomain?domain=cours&rootdomain=formation.example.org";

#[tokio::test]
async fn stand_in_answers_like_cpanel() {
    let world = World::new().await;
    let uapi = world.cloud().uapi();
    let (status, listed) = ask(uapi, "/execute/DomainInfo/list_domains", None).await;
    assert_eq!(
        (status, &listed["status"], &listed["errors"]),
        (StatusCode::OK, &json!(1), &Value::Null)
    );
    assert_eq!(listed["data"]["main_domain"], "formation.example.org");
    for (path, texts) in [
        ("/execute/SubDomain/addsubdomain?domain=cours", "Vous devez fournir"),
        (
            "/execute/SubDomain/addsubdomain?domain=a_b&rootdomain=formation.example.org",
            "n’est pas un nom",
        ),
        ("/execute/SubDomain/addsubdomain?domain=cours&rootdomain=example.org", "ne contrôlez pas"),
        (
            "/execute/SubDomain/addsubdomain?domain=blog&rootdomain=formation.example.org",
            "existe déjà",
        ),
        ("/execute/SubDomain/listsubdomains", "could not find the function"),
        ("/execute/Nowhere/nothing", "Failed to load module"),
    ] {
        let (status, answer) = ask(uapi, path, None).await;
        assert_eq!(
            (status, &answer["status"], &answer["data"]),
            (StatusCode::OK, &json!(0), &Value::Null),
            "{path}"
        );
        assert!(answer["errors"][0].as_str().unwrap().contains(texts), "{answer}");
    }
    assert_eq!(ask(uapi, NEW, Some("WRONG")).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(ask(uapi, "/", None).await.0, StatusCode::NOT_FOUND);
    let outcomes: Vec<Value> =
        uapi.calls().into_iter().map(|call| call["outcome"].clone()).collect();
    assert_eq!(
        outcomes,
        ["unauthorized", "unknown", "unknown", "refused", "refused", "refused", "refused", "done"]
    );
}

#[tokio::test]
async fn account_state_survives_restart() {
    let folder = tempfile::tempdir().unwrap();
    let before = Cloud::in_folder(folder.path()).await.unwrap();
    assert_eq!(ask(before.uapi(), NEW, None).await.1["status"], 1);
    let again = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("cpanel.json"), again.path().join("cpanel.json")).unwrap();
    let after = Cloud::in_folder(again.path()).await.unwrap();
    assert!(after.uapi().shown()["subDomains"].to_string().contains("cours.formation.example.org"));
    assert_eq!(ask(after.uapi(), NEW, None).await.1["status"], 0, "the subdomain exists");
    let [_, _, (_, old)] = before.uapi().settings();
    assert_eq!(
        ask(after.uapi(), NEW, Some(&old)).await.0,
        StatusCode::UNAUTHORIZED,
        "a new token at every start"
    );

    std::fs::write(again.path().join("cpanel.json"), "{").unwrap();
    let damaged = Cloud::in_folder(again.path()).await.err().unwrap().to_string();
    assert!(damaged.contains("cpanel.json") && damaged.contains("Move the file away"), "{damaged}");
}
