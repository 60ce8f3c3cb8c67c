//! One endpoint that speaks as AWS does: DynamoDB by dynoxide on SQLite, S3 by s3s on a folder, and
//! in front of both the faults that somebody asked for.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use dynoxide::Database;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use s3s::{
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use serde_json::{Value, json};
use store::keys::{IndexSchema, TABLES, TableSchema};
use tokio::net::TcpListener;
use tower::ServiceExt;
use uuid::Uuid;

use crate::{
    Trouble,
    faults::{Faults, Mode, Service},
    tables,
};

/// The one bucket.
pub const BUCKET: &str = "halqa-files";
const SECRET_KEY: &str = "local-secret";

/// A new name at every start: who does not know it, such as a page in a browser that tries ports,
/// is not let in.
fn new_access_key() -> String {
    format!("local{}", Uuid::from_bytes(identity::chance::bytes()).simple())
}

/// A running cloud. It ends with the runtime that it was started on.
#[derive(Clone)]
pub struct Cloud {
    endpoint: SocketAddr,
    access_key: String,
    database: Database,
    parameters: Parameters,
    faults: Faults,
}

/// Parameters of SSM by name.
type Parameters = Arc<Mutex<BTreeMap<String, String>>>;

impl Cloud {
    /// A cloud of tables alone that forgets everything: for a test.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn in_memory() -> Result<Self, Trouble> {
        let database = Database::memory().map_err(|error| Trouble::new(format!("No database in memory: {error}.")))?;
        Self::start(new_access_key(), database, None).await
    }

    /// A cloud that keeps everything in `folder`.
    ///
    /// # Errors
    /// A folder that cannot be written or a data file that is damaged.
    pub async fn in_folder(folder: &Path) -> Result<Self, Trouble> {
        let file = folder.join("dynamodb.sqlite");
        // The library's own words for this suggest features that are not built in.
        let damaged = |_| Trouble::new(format!("The data file {} is damaged or in use; move it away to begin anew.", file.display()));
        let database = Database::new(&file.to_string_lossy()).map_err(damaged)?;
        let files = folder.join("s3");
        let unwritable = |error| Trouble::new(format!("The folder {} cannot be written: {error}.", files.display()));
        std::fs::create_dir_all(files.join(BUCKET)).map_err(unwritable)?;
        let mut s3 = S3ServiceBuilder::new(
            FileSystem::new(&files).map_err(|error| Trouble::new(format!("No file store in {}: {error:?}.", files.display())))?,
        );
        let access_key = new_access_key();
        s3.set_auth(SimpleAuth::from_single(access_key.clone(), SECRET_KEY));
        Self::start(access_key, database, Some(s3.build())).await
    }

    async fn start(access_key: String, database: Database, files: Option<S3Service>) -> Result<Self, Trouble> {
        let faults = Faults::default();
        for table in &TABLES {
            make(&database, table)?;
        }
        let no_port = |error| Trouble::new(format!("No port can be opened on 127.0.0.1: {error}."));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let endpoint = listener.local_addr().map_err(no_port)?;
        let parameters = Parameters::default();
        let gate = Gate {
            access_key: access_key.clone(),
            database: database.clone(),
            parameters: Arc::clone(&parameters),
            files,
            faults: faults.clone(),
        };
        tokio::spawn(accept(listener, Arc::new(gate)));
        tokio::spawn(expire(database.clone()));
        Ok(Self { endpoint, access_key, database, parameters, faults })
    }

    /// The settings by which a function finds this cloud.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", format!("http://{}", self.endpoint)),
            ("AWS_REGION", "eu-west-3".to_owned()),
            ("AWS_ACCESS_KEY_ID", self.access_key.clone()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
            ("RECORDS_TABLE", "records".to_owned()),
            ("TRANSIENT_TABLE", "transient".to_owned()),
        ]
    }

    /// Puts a parameter into SSM.
    pub fn put_parameter(&self, name: &str, value: &str) {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.to_owned());
    }

    /// What may go wrong here.
    pub const fn faults(&self) -> &Faults {
        &self.faults
    }

    /// How many items each table holds.
    pub fn item_counts(&self) -> Vec<(String, u64)> {
        let stats = self.database.table_stats().unwrap_or_default();
        stats.into_iter().map(|table| (table.table_name, u64::try_from(table.item_count).unwrap_or(0))).collect()
    }

    /// Every item of `table`, in no order: for tests that look behind the service's back.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn items(&self, table: &str) -> Result<Vec<Value>, Trouble> {
        let request = request(json!({ "TableName": table }))?;
        let scan = self.database.scan(request).map_err(|error| Trouble::new(error.to_string()))?;
        let items = serde_json::to_value(scan).map_err(|error| Trouble::new(error.to_string()))?;
        Ok(items["Items"].as_array().cloned().unwrap_or_default())
    }
}

/// Makes `table` if it is not there, and adds the indexes that an older folder lacks.
fn make(database: &Database, table: &TableSchema) -> Result<(), Trouble> {
    let failed = |error| Trouble::new(format!("The table {} cannot be made: {error}.", table.name));
    let known = database.get_table_metadata(table.name).map_err(failed)?;
    if known.is_none() {
        let mut create = json!({
            "TableName": table.name,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" }],
            "AttributeDefinitions": definitions(table.indexes),
        });
        if !table.indexes.is_empty() {
            create["GlobalSecondaryIndexes"] = table.indexes.iter().map(index).collect();
        }
        if table.has_stream {
            create["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" });
        }
        database.create_table(request(create)?).map_err(failed)?;
        let ttl = json!({ "TableName": table.name, "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true } });
        database.update_time_to_live(request(ttl)?).map_err(failed)?;
        return Ok(());
    }
    let described = database.describe_table(request(json!({ "TableName": table.name }))?).map_err(failed)?;
    let described = serde_json::to_string(&described).map_err(|error| Trouble::new(error.to_string()))?;
    for missing in table.indexes.iter().filter(|index| !described.contains(&format!("\"IndexName\":\"{}\"", index.name))) {
        let update = json!({
            "TableName": table.name,
            "AttributeDefinitions": definitions(table.indexes),
            "GlobalSecondaryIndexUpdates": [{ "Create": index(missing) }],
        });
        database.update_table(request(update)?).map_err(failed)?;
    }
    Ok(())
}

fn definitions(indexes: &[IndexSchema]) -> Vec<Value> {
    let keys = indexes.iter().flat_map(|index| [(index.pk, "S"), index.sk]);
    let all = [("pk", "S"), ("sk", "S")].into_iter().chain(keys);
    all.map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind })).collect()
}

fn index(index: &IndexSchema) -> Value {
    let projection = match index.projected {
        [] => json!({ "ProjectionType": "KEYS_ONLY" }),
        projected => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": projected }),
    };
    json!({
        "IndexName": index.name,
        "KeySchema": [{ "AttributeName": index.pk, "KeyType": "HASH" }, { "AttributeName": index.sk.0, "KeyType": "RANGE" }],
        "Projection": projection,
    })
}

fn request<T: serde::de::DeserializeOwned>(request: Value) -> Result<T, Trouble> {
    serde_json::from_value(request).map_err(|error| Trouble::new(format!("The embedded store does not know this request: {error}.")))
}

/// Nothing expires by itself in the embedded store.
async fn expire(database: Database) {
    let mut minutes = tokio::time::interval(Duration::from_secs(60));
    loop {
        minutes.tick().await;
        if let Err(failure) = database.sweep_ttl() {
            tracing::warn!(%failure, "items that have expired were not removed");
        }
    }
}

async fn accept(listener: TcpListener, gate: Arc<Gate>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let gate = Arc::clone(&gate);
        let service = service_fn(move |request| {
            let gate = Arc::clone(&gate);
            async move { gate.answer(request).await }
        });
        // A connection that a fault drops ends in an error: that is its purpose.
        tokio::spawn(http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service));
    }
}

struct Gate {
    access_key: String,
    database: Database,
    parameters: Parameters,
    files: Option<S3Service>,
    faults: Faults,
}

/// Drops the connection without an answer.
type Dropped = Box<dyn std::error::Error + Send + Sync>;

impl Gate {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Dropped> {
        let text = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
        let target = text("x-amz-target").to_owned();
        let (service, operation) = target.split_once('.').unwrap_or_default();
        let is_known = text("authorization").contains(&format!("Credential={}/", self.access_key));
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        match service {
            // the file store checks signatures itself
            "" => self.files(Request::from_parts(parts, body)).await,
            _ if !is_known => Ok(error("UnrecognizedClientException", json!({}))),
            "AmazonSSM" => Ok(self.parameters(&body)),
            _ => self.tables(operation, &body).await,
        }
    }

    /// SSM's GetParameters, the only operation of it that anything asks for.
    fn parameters(&self, body: &[u8]) -> Response<Full<Bytes>> {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let known = self.parameters.lock().unwrap_or_else(PoisonError::into_inner);
        let names = asked["Names"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let found: Vec<Value> = names.filter_map(|name| Some(json!({ "Name": name, "Value": known.get(name)? }))).collect();
        tables::response(StatusCode::OK, json!({ "Parameters": found }).to_string())
    }

    async fn tables(&self, operation: &str, body: &Bytes) -> Result<Response<Full<Bytes>>, Dropped> {
        let Some(fault) = self.faults.strike(Service::Dynamodb, operation) else {
            return Ok(tables::answer(&self.database, operation, body));
        };
        match fault.mode {
            Mode::Slow => {
                tokio::time::sleep(fault.delay()).await;
                Ok(tables::answer(&self.database, operation, body))
            }
            Mode::Throttle => Ok(error("ProvisionedThroughputExceededException", json!({}))),
            Mode::Conflict => Ok(conflict(operation, body)),
            Mode::Refuse => Err("refused on demand".into()),
            Mode::Silent => {
                tables::answer(&self.database, operation, body);
                Err("silent on demand".into())
            }
            Mode::Error => Ok(error(fault.error.as_deref().unwrap_or("InternalServerError"), json!({}))),
        }
    }

    async fn files(&self, request: Request<Bytes>) -> Result<Response<Full<Bytes>>, Dropped> {
        let Some(files) = &self.files else {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
            return Ok(response);
        };
        let response = files.clone().oneshot(request.map(Full::new)).await.map_err(|error| format!("{error:?}"))?;
        let (parts, body) = response.into_parts();
        Ok(Response::from_parts(parts, Full::new(body.collect().await.map_err(|error| error.to_string())?.to_bytes())))
    }
}

/// Transactions tell of a conflict part by part, single writes by an exception of their own.
fn conflict(operation: &str, body: &[u8]) -> Response<Full<Bytes>> {
    if operation != "TransactWriteItems" {
        return error("TransactionConflictException", json!({}));
    }
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let parts = body["TransactItems"].as_array().map_or(1, Vec::len);
    let reasons = vec![json!({ "Code": "TransactionConflict", "Message": "Transaction is ongoing for the item" }); parts];
    error("TransactionCanceledException", json!({ "CancellationReasons": reasons }))
}

fn error(name: &str, mut body: Value) -> Response<Full<Bytes>> {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{name}").into();
    body["message"] = "on demand".into();
    let status = if name == "InternalServerError" { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::BAD_REQUEST };
    tables::response(status, body.to_string())
}
