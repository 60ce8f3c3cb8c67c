//! The devices, address ranges and networks from which an account signs in. Its owner is notified of new devices and
//! ranges; attempts of others do not lock it out of its networks.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use crate::{Instant, agent::Agent, login_activity::RETENTION, network::network};

/// Most entries of one account, so that the stored item stays below 4 KB: one read unit.
const MAX_ENTRIES: usize = 80;
/// An entry is written again once it is this old, so that few sign-ins have to write.
const PRECISION: Duration = Duration::from_secs(86_400);

/// When an account first and last signed in from each device, address range and network, in Unix seconds; the last time
/// is accurate to a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDevices(BTreeMap<String, (i64, i64)>);

/// From the stored entries.
impl FromIterator<(String, (i64, i64))> for KnownDevices {
    fn from_iter<I: IntoIterator<Item = (String, (i64, i64))>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl KnownDevices {
    /// The entries: a name, such as `RANGE#197.2`, and the first and last time in Unix seconds.
    pub const fn entries(&self) -> &BTreeMap<String, (i64, i64)> {
        &self.0
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the account signed in with `agent`, and from the address range of `ip`, in the 180 days before `now`.
    pub fn includes(&self, agent: &Agent, ip: IpAddr, now: Instant) -> bool {
        let [device, range, _] = names(agent, ip);
        self.has(&device, now) && self.has(&range, now)
    }

    /// Whether the account signed in from the network of `ip` ([`network`]) in the 180 days before `now`.
    pub fn include_network(&self, ip: IpAddr, now: Instant) -> bool {
        self.has(&network_name(ip), now)
    }

    fn has(&self, name: &str, now: Instant) -> bool {
        self.0.get(name).is_some_and(|(_, last)| *last > now.before(RETENTION).unix_seconds())
    }

    /// These and a sign-in at `now` with `agent` from `ip`. Entries of more than 180 days are removed. Of more than 80 those
    /// that have been known longest are kept, and those of this sign-in: so an attacker who signs in from many networks
    /// does not replace the owner's.
    pub fn with(mut self, agent: &Agent, ip: IpAddr, now: Instant) -> Self {
        let (oldest, seconds) = (now.before(RETENTION).unix_seconds(), now.unix_seconds());
        self.0.retain(|_, (_, last)| *last > oldest);
        let names = names(agent, ip);
        for name in &names {
            let (_, last) = self.0.entry(name.clone()).or_insert((seconds, seconds));
            if *last <= now.before(PRECISION).unix_seconds() {
                *last = seconds;
            }
        }
        while self.0.len() > MAX_ENTRIES {
            let others = self.0.iter().filter(|(name, _)| !names.contains(name));
            let Some((newest, _)) = others.max_by_key(|(_, (first, _))| *first) else { break };
            let newest = newest.clone();
            self.0.remove(&newest);
        }
        self
    }
}

/// The names of the device, of the address range (the first 16 bits of an IPv4 address, the first 32 of an IPv6 address)
/// and of the network.
fn names(agent: &Agent, ip: IpAddr) -> [String; 3] {
    let Agent { browser, os, device } = agent;
    let range = match ip.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            format!("{a}.{b}")
        }
        IpAddr::V6(address) => {
            let [a, b, ..] = address.segments();
            format!("{a:x}:{b:x}")
        }
    };
    [format!("DEVICE#{browser}#{os}#{device}"), format!("RANGE#{range}"), network_name(ip)]
}

fn network_name(ip: IpAddr) -> String {
    format!("NETWORK#{}", network(ip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_devices_compare_agent_and_address_range() {
        let now = Instant::from_unix_milliseconds(1_800_000_000_000);
        let (curl, unknown) = (Agent::of("curl/8.5.0"), Agent::of(""));
        let known = ["197.2.3.4", "2001:db8:1:2::3"]
            .into_iter()
            .fold(KnownDevices::default(), |known, address| {
                known.with(&curl, address.parse().unwrap(), now)
            });
        for (agent, address, expected) in [
            (&curl, "197.2.3.4", true),
            (&curl, "197.2.255.1", true),
            (&curl, "::ffff:197.2.9.9", true),
            (&curl, "197.3.3.4", false),
            (&unknown, "197.2.3.4", false),
            (&curl, "2001:db8:ffff::1", true),
            (&curl, "2001:db9:1:2::3", false),
        ] {
            assert_eq!(known.includes(agent, address.parse().unwrap(), now), expected, "{address}");
        }
        for (address, expected) in
            [("197.2.3.4", true), ("197.2.3.5", false), ("2001:db8:1:2::9", true)]
        {
            assert_eq!(known.include_network(address.parse().unwrap(), now), expected, "{address}");
        }
        let later = now.after(RETENTION);
        let known = known.with(&unknown, "197.3.3.4".parse().unwrap(), later);
        assert_eq!(known.entries().len(), 3, "older entries are removed");
    }
}
