//! Deletes old versions of functions. Every deployment publishes one, and they count against the account's code storage
//! (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).

use bytes::Bytes;
use http::Method;
use serde::Deserialize;

use crate::{aws_api::AwsApi, versions::path_of};

/// The number of versions of a function that are kept: a rollback returns to the version before the newest.
const KEPT: usize = 5;

/// A page of `ListVersionsByFunction`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    versions: Vec<Version>,
    next_marker: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    /// A number, or `$LATEST`.
    version: String,
}

/// Deletes all but the [`KEPT`] newest versions of `function`, its name or ARN. Lambda refuses to delete a version that
/// an alias names (<https://docs.aws.amazon.com/lambda/latest/api/API_DeleteFunction.html>), so such a version is kept
/// whatever its age.
///
/// # Errors
/// The first request that fails otherwise, in one sentence.
pub(crate) async fn delete_old_versions(api: &AwsApi, function: &str) -> Result<(), String> {
    let mut numbers = version_numbers(api, function).await?;
    numbers.sort_unstable();
    let old = numbers.len().saturating_sub(KEPT);
    for number in numbers.into_iter().take(old) {
        // The ARN of the version, and no query: the role may delete versions, but no function.
        let path = path_of(&format!("{function}:{number}"));
        let response = api.send("lambda", Method::DELETE, &path, &[], Bytes::new());
        let status = response.await?.status().as_u16();
        // 404: another run has deleted it; 409: an alias names it
        if ![204, 404, 409].contains(&status) {
            return Err(format!("Lambda answered {status} to the deletion of {function}:{number}"));
        }
    }
    Ok(())
}

/// The numbers of all versions (<https://docs.aws.amazon.com/lambda/latest/api/API_ListVersionsByFunction.html>).
async fn version_numbers(api: &AwsApi, function: &str) -> Result<Vec<u64>, String> {
    let mut numbers = Vec::new();
    let mut query = String::new();
    loop {
        let path = format!("{}/versions{query}", path_of(function));
        let response = api.send("lambda", Method::GET, &path, &[], Bytes::new()).await?;
        if response.status() != 200 {
            let status = response.status();
            return Err(format!("Lambda answered {status} to the list of versions of {function}"));
        }
        let page: Page = serde_json::from_slice(response.body())
            .map_err(|error| format!("the list of versions of {function}: {error}"))?;
        let versions = page.versions.iter();
        numbers.extend(versions.filter_map(|one| one.version.parse::<u64>().ok()));
        match page.next_marker.filter(|marker| !marker.is_empty()) {
            Some(marker) => {
                let marker: String = form_urlencoded::byte_serialize(marker.as_bytes()).collect();
                query = format!("?Marker={marker}");
            }
            None => return Ok(numbers),
        }
    }
}
