//! The authenticated read with a store that responds after 4 ms, beside one read of the same store alone.

use std::{collections::BTreeMap, time::Instant};

use bench::{Result, Samples, error, service::LocalService};
use cloud::faults::{Fault, Mode, Service};
use domain::CommitteeId;
use runtime::Clock;
use store::Store;

use crate::case::{Case, call};

/// Reads per round.
const CALLS: u32 = 50;

/// Time of the read in this process, and of the whole call.
pub(crate) struct Delayed {
    store: Store,
    pub(crate) alone: Samples,
    pub(crate) call: Samples,
}

impl Delayed {
    /// Reads from the store of `service`, by TLS if its settings say so.
    pub(crate) fn new(service: &LocalService) -> Result<Self> {
        Ok(Self {
            store: service.settings.setup(Clock::default())?.store,
            alone: Samples::new()?,
            call: Samples::new()?,
        })
    }

    /// Measures both by turns; `case` is the authenticated read.
    pub(crate) async fn measure_round(
        &mut self,
        service: &LocalService,
        case: &Case,
    ) -> Result<()> {
        let mut slow = Fault::new(Mode::Slow);
        slow.delay_ms = Some(4);
        let faults = service.cloud.faults();
        let (process, mut api) = case.start().await?;
        faults.add(Service::Dynamodb, slow);
        let event = case.event.as_ref().ok_or_else(|| error("the case has no event"))?;
        let unknown = CommitteeId::NONE;
        for round in 0..=CALLS {
            let start = Instant::now();
            self.store.committee(unknown).await.map_err(error)?;
            let alone = start.elapsed();
            let call = call(&mut api, event).await?;
            // The first of each opens connections.
            if round > 0 {
                self.alone.record_time(alone);
                self.call.record_time(call);
            }
        }
        faults.set(BTreeMap::new());
        drop(process);
        Ok(())
    }
}
