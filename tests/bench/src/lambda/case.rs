//! Starts a function, calls it with an event, and measures both.

use std::{fs, io::Write, path::PathBuf, time::Duration};

use bench::{Result, Samples, error};
use bytes::Bytes;
use flate2::{Compression, write::DeflateEncoder};
use serde_json::Value;

use cloud::runtime_api::RuntimeApi;

use crate::process::Process;

/// A function, an event, and their measurements.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) function: String,
    path: PathBuf,
    environment: Vec<(String, String)>,
    pub(crate) event: Option<Bytes>,
    /// Calls per round, and calls before memory is read.
    calls: [u32; 2],
    pub(crate) start_cpu: Samples,
    pub(crate) start_faults: Samples,
    pub(crate) first: Samples,
    pub(crate) warm: Samples,
    pub(crate) call_cpu: Samples,
    pub(crate) memory: f64,
    pub(crate) zip: f64,
}

impl Case {
    pub(crate) fn new(
        function: &str,
        path: PathBuf,
        environment: Vec<(String, String)>,
        event: Option<(&str, Bytes)>,
    ) -> Result<Self> {
        let binary = fs::read(&path).map_err(error)?;
        let mut zip = DeflateEncoder::new(Vec::new(), Compression::best());
        zip.write_all(&binary).map_err(error)?;
        let name = event.as_ref().map_or("start alone", |(name, _)| name);
        Ok(Self {
            name: format!("{function}, {name}"),
            function: function.to_owned(),
            path,
            environment,
            // A sign-in hashes a password.
            calls: if name == "login" { [10, 60] } else { [150, 2000] },
            event: event.map(|(_, event)| event),
            start_cpu: Samples::new()?,
            start_faults: Samples::new()?,
            first: Samples::new()?,
            warm: Samples::new()?,
            call_cpu: Samples::new()?,
            memory: 0.0,
            zip: zip.finish().map_err(error)?.len() as f64 / 1e6,
        })
    }

    /// Starts the function, and waits until it requests its first event.
    pub(crate) async fn start(&self) -> Result<(Process, RuntimeApi)> {
        let mut api = RuntimeApi::open().await?;
        let mut environment = self.environment.clone();
        environment.push(("AWS_LAMBDA_RUNTIME_API".to_owned(), api.address.to_string()));
        for name in [
            "FUNCTION_NAME",
            "FUNCTION_VERSION",
            "FUNCTION_MEMORY_SIZE",
            "LOG_GROUP_NAME",
            "LOG_STREAM_NAME",
        ] {
            environment.push((format!("AWS_LAMBDA_{name}"), "128".to_owned()));
        }
        let process = Process::start(&self.path, &environment)?;
        api.wait_for_next().await?;
        Ok((process, api))
    }

    pub(crate) async fn measure_round(&mut self) -> Result<()> {
        let (process, mut api) = self.start().await?;
        let started = process.cpu()?;
        self.start_cpu.record_time(started);
        self.start_faults.record(process.page_faults()?);
        self.memory = self.memory.max(process.peak_memory()?);
        let Some(event) = &self.event else {
            return Ok(());
        };
        self.first.record_time(call(&mut api, event).await?);
        let before = process.cpu()?;
        for _ in 0..self.calls[0] {
            self.warm.record_time(call(&mut api, event).await?);
        }
        self.call_cpu.record_time((process.cpu()? - before) / self.calls[0]);
        Ok(())
    }

    pub(crate) async fn measure_memory(&mut self) -> Result<()> {
        let Some(event) = &self.event else {
            return Ok(());
        };
        let (process, mut api) = self.start().await?;
        for _ in 0..self.calls[1] {
            call(&mut api, event).await?;
        }
        self.memory = process.peak_memory()?;
        Ok(())
    }
}

/// Calls the function, and returns how long it took; a status other than 200 is an error.
pub(crate) async fn call(api: &mut RuntimeApi, event: &Bytes) -> Result<Duration> {
    let (took, answer) = api.call(event).await?;
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
    if answer["statusCode"].as_u64().is_some_and(|status| status != 200) {
        return Err(error(format!("the function returned {answer}")));
    }
    api.wait_for_next().await?;
    Ok(took)
}
