//! An HTTP server in this process instead of DynamoDB, S3 and cPanel. After [`Cloud::freeze`] the tables are read-only,
//! so that the same input always has the same effect.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Table name, partition key, sort key.
type ItemKey = [String; 3];

#[derive(Clone, Default)]
pub(crate) struct Cloud(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    items: BTreeMap<ItemKey, Value>,
    is_frozen: bool,
    panel_response: Option<Vec<u8>>,
    last_put: Vec<u8>,
}

impl Cloud {
    /// Starts the server on a free port of 127.0.0.1; returns it with its address.
    pub(crate) async fn start() -> io::Result<(Self, SocketAddr)> {
        let (cloud, listener) = (Self::default(), TcpListener::bind("127.0.0.1:0").await?);
        let (address, serving) = (listener.local_addr()?, cloud.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let cloud = serving.clone();
                tokio::spawn(async move { cloud.serve(stream).await });
            }
        });
        Ok((cloud, address))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ignores all later writes to the tables.
    pub(crate) fn freeze(&self) {
        self.inner().is_frozen = true;
    }

    /// Sets the complete HTTP response to all later cPanel requests.
    pub(crate) fn set_panel_response(&self, response: Vec<u8>) {
        self.inner().panel_response = Some(response);
    }

    /// The body of the last `PutObject`.
    pub(crate) fn last_put(&self) -> Vec<u8> {
        self.inner().last_put.clone()
    }

    async fn serve(self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut read = Vec::new();
        loop {
            let head = loop {
                if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                    break end + 4;
                }
                if stream.read_buf(&mut read).await? == 0 {
                    return Ok(());
                }
            };
            let text = String::from_utf8_lossy(&read[..head]).into_owned();
            let header = |name: &str| {
                let lines = text.lines().filter_map(|line| line.split_once(':'));
                lines
                    .into_iter()
                    .find(|(named, _)| named.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.trim().to_owned())
            };
            let length =
                header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            while read.len() < head + length {
                if stream.read_buf(&mut read).await? == 0 {
                    return Ok(());
                }
            }
            let body: Vec<u8> = read.drain(..head + length).skip(head).collect();
            let target = header("x-amz-target")
                .and_then(|target| target.strip_prefix("DynamoDB_20120810.").map(str::to_owned));
            let response = match target {
                Some(operation) => match self.inner().tables(&operation, &serde_json::from_slice(&body)?) {
                    Some(output) => http_response("200 OK", output.to_string().as_bytes()),
                    None => http_response("400 Bad Request", br#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}"#),
                },
                None if text.starts_with("GET /execute/") => self.panel(&text),
                None => self.bucket(&text, body),
            };
            stream.write_all(&response).await?;
            if text.starts_with("GET /execute/") {
                return Ok(());
            }
        }
    }

    fn panel(&self, head: &str) -> Vec<u8> {
        if let Some(response) = self.inner().panel_response.clone() {
            return response;
        }
        let data = match head.contains("/list_domains") {
            true => {
                json!({ "main_domain": "example.org", "addon_domains": [], "parked_domains": [], "sub_domains": ["a.example.org"] })
            }
            false => json!([{ "database": "halqa", "disk_usage": 1, "users": ["halqa"] }]),
        };
        http_response("200 OK", json!({ "status": 1, "data": data }).to_string().as_bytes())
    }

    fn bucket(&self, head: &str, body: Vec<u8>) -> Vec<u8> {
        match head.split(' ').next() {
            Some("PUT") => self.inner().last_put = body,
            Some("DELETE" | "POST") => {}
            _ => return http_response("404 Not Found", b""),
        }
        http_response("200 OK", b"")
    }
}

/// An HTTP/1.1 response with its status line, `Content-Length` and body.
pub(crate) fn http_response(status: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body]
        .concat()
}

fn text(value: &Value) -> String {
    value["S"].as_str().unwrap_or_default().to_owned()
}

fn item_key(table: &Value, key: &Value) -> ItemKey {
    [table.as_str().unwrap_or_default().to_owned(), text(&key["pk"]), text(&key["sk"])]
}

impl Inner {
    /// The output of `operation`; `None` if its condition fails.
    fn tables(&mut self, operation: &str, input: &Value) -> Option<Value> {
        let table = &input["TableName"];
        Some(match operation {
            "GetItem" => self
                .items
                .get(&item_key(table, &input["Key"]))
                .map_or_else(|| json!({}), |item| json!({ "Item": item })),
            "BatchGetItem" => {
                let tables = input["RequestItems"].as_object().into_iter().flatten();
                let items = |name: &String, wanted: &Value| {
                    let table = json!(name);
                    let keys = wanted["Keys"].as_array().into_iter().flatten();
                    keys.filter_map(|key| self.items.get(&item_key(&table, key)).cloned())
                        .collect::<Vec<_>>()
                };
                json!({ "Responses": tables.map(|(name, wanted)| (name.clone(), json!(items(name, wanted)))).collect::<serde_json::Map<_, _>>() })
            }
            "Query" if input["IndexName"].is_null() => {
                let value = |name: &str| text(&input["ExpressionAttributeValues"][name]);
                let (partition, prefix) = (value(":pk"), value(":prefix"));
                let items = self.items.iter().filter(|([of, pk, sk], _)| {
                    *table == **of && *pk == partition && sk.starts_with(&prefix)
                });
                json!({ "Items": items.map(|(_, item)| item).collect::<Vec<_>>() })
            }
            "Query" => json!({ "Items": [] }),
            // The item is returned unchanged; every counter returns 1.
            "UpdateItem" => {
                let before = self.items.get(&item_key(table, &input["Key"]));
                if before.is_none()
                    && input["ConditionExpression"].as_str().is_some_and(|condition| {
                        // The second one is that of an attempt at a code.
                        condition.contains("attribute_exists(")
                            || condition.starts_with("expiresAt > ")
                    })
                {
                    return None;
                }
                let mut after = before.cloned().unwrap_or_else(|| json!({}));
                after["n"] = json!({ "N": "1" });
                after["exp"] = json!({ "N": "9000000000000" });
                json!({ "Attributes": after })
            }
            "PutItem" => self.put(table, &input["Item"]),
            "TransactWriteItems" => {
                for put in
                    input["TransactItems"].as_array().into_iter().flatten().map(|part| &part["Put"])
                {
                    self.put(&put["TableName"], &put["Item"]);
                }
                json!({})
            }
            _ => json!({}),
        })
    }

    fn put(&mut self, table: &Value, item: &Value) -> Value {
        if !self.is_frozen && item.is_object() {
            self.items.insert(item_key(table, item), item.clone());
        }
        json!({})
    }
}
