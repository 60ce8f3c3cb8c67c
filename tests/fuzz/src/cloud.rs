//! What the service asks over the network, answered from memory by a server in this process: tables of which nothing
//! changes once the stage is set, so that the same input always does the same, a bucket, and a panel.

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

/// Table, partition key, sort key.
type Place = [String; 3];

#[derive(Clone, Default)]
pub(crate) struct Cloud(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    items: BTreeMap<Place, Value>,
    is_set: bool,
    panel: Option<Vec<u8>>,
    last_put: Vec<u8>,
}

impl Cloud {
    /// A cloud and where it listens.
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

    /// From now on nothing changes.
    pub(crate) fn set(&self) {
        self.inner().is_set = true;
    }

    /// What the panel answers from now on, to the letter.
    pub(crate) fn panel_says(&self, answer: Vec<u8>) {
        self.inner().panel = Some(answer);
    }

    /// What was last put into the bucket.
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
            let length = header("content-length")
                .and_then(|length| length.parse().ok())
                .unwrap_or(0);
            while read.len() < head + length {
                if stream.read_buf(&mut read).await? == 0 {
                    return Ok(());
                }
            }
            let body: Vec<u8> = read.drain(..head + length).skip(head).collect();
            let target = header("x-amz-target")
                .and_then(|target| target.strip_prefix("DynamoDB_20120810.").map(str::to_owned));
            let said = match target {
                Some(operation) => match self.inner().tables(&operation, &serde_json::from_slice(&body)?) {
                    Some(answer) => whole("200 OK", answer.to_string().as_bytes()),
                    None => whole("400 Bad Request", br#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}"#),
                },
                None if text.starts_with("GET /execute/") => self.panel(&text),
                None => self.bucket(&text, body),
            };
            stream.write_all(&said).await?;
            if text.starts_with("GET /execute/") {
                return Ok(());
            }
        }
    }

    fn panel(&self, head: &str) -> Vec<u8> {
        if let Some(answer) = self.inner().panel.clone() {
            return answer;
        }
        let data = match head.contains("/list_domains") {
            true => {
                json!({ "main_domain": "example.org", "addon_domains": [], "parked_domains": [], "sub_domains": ["a.example.org"] })
            }
            false => json!([{ "database": "halqa", "disk_usage": 1, "users": ["halqa"] }]),
        };
        whole(
            "200 OK",
            json!({ "status": 1, "data": data }).to_string().as_bytes(),
        )
    }

    fn bucket(&self, head: &str, body: Vec<u8>) -> Vec<u8> {
        match head.split(' ').next() {
            Some("PUT") => self.inner().last_put = body,
            Some("DELETE" | "POST") => {}
            _ => return whole("404 Not Found", b""),
        }
        whole("200 OK", b"")
    }
}

/// A whole answer over HTTP.
pub(crate) fn whole(status: &str, body: &[u8]) -> Vec<u8> {
    [
        format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .as_bytes(),
        body,
    ]
    .concat()
}

fn text(value: &Value) -> String {
    value["S"].as_str().unwrap_or_default().to_owned()
}

fn place(table: &Value, key: &Value) -> Place {
    [
        table.as_str().unwrap_or_default().to_owned(),
        text(&key["pk"]),
        text(&key["sk"]),
    ]
}

impl Inner {
    /// `None` where a condition does not hold.
    fn tables(&mut self, operation: &str, asked: &Value) -> Option<Value> {
        let table = &asked["TableName"];
        Some(match operation {
            "GetItem" => self
                .items
                .get(&place(table, &asked["Key"]))
                .map_or_else(|| json!({}), |item| json!({ "Item": item })),
            "BatchGetItem" => {
                let tables = asked["RequestItems"].as_object().into_iter().flatten();
                let items = |name: &String, wanted: &Value| {
                    let table = json!(name);
                    let keys = wanted["Keys"].as_array().into_iter().flatten();
                    keys.filter_map(|key| self.items.get(&place(&table, key)).cloned())
                        .collect::<Vec<_>>()
                };
                json!({ "Responses": tables.map(|(name, wanted)| (name.clone(), json!(items(name, wanted)))).collect::<serde_json::Map<_, _>>() })
            }
            "Query" if asked["IndexName"].is_null() => {
                let value = |name: &str| text(&asked["ExpressionAttributeValues"][name]);
                let (partition, prefix) = (value(":pk"), value(":prefix"));
                let items = self.items.iter().filter(|([of, pk, sk], _)| {
                    *table == **of && *pk == partition && sk.starts_with(&prefix)
                });
                json!({ "Items": items.map(|(_, item)| item).collect::<Vec<_>>() })
            }
            "Query" => json!({ "Items": [] }),
            // The item as it stands; what counts, counts its first.
            "UpdateItem" => {
                let before = self.items.get(&place(table, &asked["Key"]));
                if before.is_none()
                    && asked["ConditionExpression"]
                        .as_str()
                        .is_some_and(|condition| condition.contains("attribute_exists("))
                {
                    return None;
                }
                let mut after = before.cloned().unwrap_or_else(|| json!({}));
                after["n"] = json!({ "N": "1" });
                after["exp"] = json!({ "N": "9000000000000" });
                json!({ "Attributes": after })
            }
            "PutItem" => self.keep(table, &asked["Item"]),
            "TransactWriteItems" => {
                for put in asked["TransactItems"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|part| &part["Put"])
                {
                    self.keep(&put["TableName"], &put["Item"]);
                }
                json!({})
            }
            _ => json!({}),
        })
    }

    fn keep(&mut self, table: &Value, item: &Value) -> Value {
        if !self.is_set && item.is_object() {
            self.items.insert(place(table, item), item.clone());
        }
        json!({})
    }
}
