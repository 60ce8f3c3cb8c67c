//! The implementation that is tested.

use aws_sdk_dynamodb::{
    Client,
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::{ProvideErrorMetadata, SdkError},
    types::{
        AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
        Projection, ProjectionType, ScalarAttributeType,
    },
};
use cloud::Cloud;
use dev::home::LocalSettings;
use runtime::{Aws, Settings};
use serde_json::Value;
use store::keys::{IndexSchema, TABLES, TableSchema};
use tempfile::TempDir;

use crate::{DIFFERENCES, partition::Partition};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Implementation {
    /// The store of `cargo dev` and the other tests.
    Embedded,
    /// <https://pypi.org/project/ministack/>.
    Ministack,
}

/// A client of an implementation that has the tables of the service.
pub(crate) struct Endpoint {
    pub(crate) client: Client,
    implementation: Implementation,
    /// The embedded store, with its folder, which is deleted at the end of the test.
    embedded: Option<(Cloud, TempDir)>,
}

impl Endpoint {
    pub(crate) async fn new() -> Self {
        if let Some(url) = LocalSettings::of_environment().get("DYNAMODB_ENDPOINT") {
            let settings = [
                ("AWS_ENDPOINT_URL", url.as_str()),
                ("AWS_REGION", "eu-west-3"),
                ("AWS_ACCESS_KEY_ID", "test"),
                ("AWS_SECRET_ACCESS_KEY", "test"),
            ];
            let client = client(settings.map(|(name, value)| (name, value.to_owned())));
            for table in &TABLES {
                create(&client, table).await;
            }
            return Self { client, implementation: Implementation::Ministack, embedded: None };
        }
        let folder = tempfile::tempdir().unwrap();
        let cloud = Cloud::in_memory(folder.path()).await.unwrap();
        Self {
            client: client(cloud.settings()),
            implementation: Implementation::Embedded,
            embedded: Some((cloud, folder)),
        }
    }

    /// The embedded store; `None` for another implementation, of which its behaviours cannot be asked.
    pub(crate) fn embedded(&self) -> Option<&Cloud> {
        self.embedded.as_ref().map(|(cloud, _)| cloud)
    }

    /// The partition `pk` of the table `records`. Each test has its own, because all of them use the same ministack.
    pub(crate) fn records<'a>(&'a self, pk: &'a str) -> Partition<'a> {
        Partition::new(&self.client, "records", pk)
    }

    /// The partition `pk` of the table `transient`, which has no indexes.
    pub(crate) fn transient<'a>(&'a self, pk: &'a str) -> Partition<'a> {
        Partition::new(&self.client, "transient", pk)
    }

    /// Asserts that `case` ends with `expected`, as on DynamoDB, or otherwise if [`DIFFERENCES`] lists it.
    #[track_caller]
    pub(crate) fn check(&self, case: &str, found: Value, expected: Value) {
        let differs = DIFFERENCES
            .iter()
            .any(|(known, of, _)| *known == case && of.contains(&self.implementation));
        assert_eq!(found != expected, differs, "{case}: {found} instead of {expected}");
    }
}

/// The result of a request: what `show` makes of the response, or the error code as a string.
pub(crate) fn outcome<O, E: ProvideErrorMetadata, R>(
    response: Result<O, SdkError<E, R>>,
    show: impl FnOnce(O) -> Value,
) -> Value {
    match response {
        Ok(output) => show(output),
        Err(error) => error.code().unwrap_or("no error code").into(),
    }
}

/// A client without retries and time-outs, because some requests have megabytes.
fn client(settings: impl IntoIterator<Item = (&'static str, String)>) -> Client {
    let settings = settings.into_iter();
    let settings: Settings = settings.map(|(name, value)| (name.to_owned(), value)).collect();
    let config = Builder::from(Aws::new(&settings).unwrap().sdk())
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::disabled());
    Client::from_conf(config.build())
}

/// Creates `table`, unless another test has done so.
async fn create(client: &Client, table: &TableSchema) {
    let keys = table.indexes.iter().flat_map(|index| [(index.pk, "S"), index.sk]);
    let definitions = [("pk", "S"), ("sk", "S")].into_iter().chain(keys);
    let definitions = definitions.map(|(name, kind)| {
        let definition = AttributeDefinition::builder().attribute_name(name);
        let kind = ScalarAttributeType::from(kind);
        definition.attribute_type(kind).build().unwrap()
    });
    let indexes: Vec<_> = table.indexes.iter().map(index).collect();
    let request = client
        .create_table()
        .table_name(table.name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema("pk", "sk")))
        .set_attribute_definitions(Some(definitions.collect()))
        .set_global_secondary_indexes(Some(indexes).filter(|indexes| !indexes.is_empty()));
    let created = outcome(request.send().await, |_| Value::Null);
    assert!(created.is_null() || created == "ResourceInUseException", "{created}");
}

fn index(index: &IndexSchema) -> GlobalSecondaryIndex {
    let projection = match index.projected {
        [] => Projection::builder().projection_type(ProjectionType::KeysOnly),
        projected => {
            Projection::builder().projection_type(ProjectionType::Include).set_non_key_attributes(
                Some(projected.iter().map(|name| (*name).to_owned()).collect()),
            )
        }
    };
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(key_schema(index.pk, index.sk.0)))
        .projection(projection.build())
        .build()
        .unwrap()
}

fn key_schema(pk: &str, sk: &str) -> Vec<KeySchemaElement> {
    let key = |name: &str, kind| {
        let element = KeySchemaElement::builder().attribute_name(name);
        element.key_type(kind).build().unwrap()
    };
    vec![key(pk, KeyType::Hash), key(sk, KeyType::Range)]
}
