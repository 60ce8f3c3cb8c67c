//! The devices and address ranges from which an account signs in. Its owner is notified of new ones.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use crate::{
    Instant,
    agent::Agent,
    login_activity::{self, LoginActivity},
};

/// Most entries of one account, so that the stored item stays below 4 KB: one read unit.
const MAX_ENTRIES: usize = 80;
/// An entry is written again once it is this old, so that few sign-ins have to write.
const PRECISION: Duration = Duration::from_secs(86_400);

/// When an account last signed in from each device and each address range, in Unix seconds, accurate to a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDevices(BTreeMap<String, i64>);

/// From the stored entries.
impl FromIterator<(String, i64)> for KnownDevices {
    fn from_iter<I: IntoIterator<Item = (String, i64)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl KnownDevices {
    /// Those of the sign-ins `activity`, newest first: for accounts that have no stored entries yet.
    pub fn of(activity: &[LoginActivity]) -> Self {
        let mut known = Self::default();
        for entry in activity.iter().rev() {
            if let Ok(ip) = entry.ip.parse() {
                known = known.with(&entry.agent, ip, entry.created_at);
            }
        }
        known
    }

    /// The entries: a name, such as `RANGE#197.2`, and Unix seconds.
    pub const fn entries(&self) -> &BTreeMap<String, i64> {
        &self.0
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the account signed in with `agent`, and from the address range of `ip`, in the 180 days before `now`.
    pub fn includes(&self, agent: &Agent, ip: IpAddr, now: Instant) -> bool {
        let oldest = now.before(login_activity::RETENTION).unix_seconds();
        let is_known = |name: &String| self.0.get(name).is_some_and(|at| *at > oldest);
        names(agent, ip).iter().all(is_known)
    }

    /// These and a sign-in at `now` with `agent` from `ip`. Entries of more than 180 days are removed, and the oldest of
    /// more than 80.
    pub fn with(mut self, agent: &Agent, ip: IpAddr, now: Instant) -> Self {
        let oldest = now.before(login_activity::RETENTION).unix_seconds();
        self.0.retain(|_, at| *at > oldest);
        for name in names(agent, ip) {
            let at = self.0.entry(name).or_default();
            if *at <= now.before(PRECISION).unix_seconds() {
                *at = now.unix_seconds();
            }
        }
        while self.0.len() > MAX_ENTRIES
            && let Some((oldest, _)) = self.0.iter().min_by_key(|(_, at)| **at)
        {
            let oldest = oldest.clone();
            self.0.remove(&oldest);
        }
        self
    }
}

/// The names of the device and of the address range: the first 16 bits of an IPv4 address, the first 32 of an IPv6
/// address.
fn names(agent: &Agent, ip: IpAddr) -> [String; 2] {
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
    [format!("DEVICE#{browser}#{os}#{device}"), format!("RANGE#{range}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn known_devices_compare_agent_and_address_range() {
        let now = Instant::from_unix_milliseconds(1_800_000_000_000);
        let (curl, unknown) = (Agent::of("curl/8.5.0"), Agent::of(""));
        let known = KnownDevices::default().with(&curl, ip("197.2.3.4"), now).with(
            &curl,
            ip("2001:db8:1:2::3"),
            now,
        );
        for (agent, address, expected) in [
            (&curl, "197.2.3.4", true),
            (&curl, "197.2.255.1", true),
            (&curl, "::ffff:197.2.9.9", true),
            (&curl, "197.3.3.4", false),
            (&unknown, "197.2.3.4", false),
            (&curl, "2001:db8:ffff::1", true),
            (&curl, "2001:db9:1:2::3", false),
        ] {
            assert_eq!(known.includes(agent, ip(address), now), expected, "{address}");
        }
    }

    #[test]
    fn known_devices_are_forgotten_after_180_days() {
        let start = Instant::from_unix_milliseconds(1_800_000_000_000);
        let (agent, address) = (Agent::of(""), ip("197.2.3.4"));
        let known = KnownDevices::default().with(&agent, address, start);
        let (day_179, day_180) = (start.after(DAY * 179), start.after(DAY * 180));
        assert!(known.includes(&agent, address, day_179));
        assert!(!known.includes(&agent, address, day_180));
        let elsewhere = known.with(&agent, ip("197.3.3.4"), day_180);
        assert_eq!(elsewhere.entries().len(), 2, "{elsewhere:?}");
    }

    #[test]
    fn known_devices_of_one_day_are_unchanged() {
        let start = Instant::from_unix_milliseconds(1_800_000_000_000);
        let (agent, address) = (Agent::of(""), ip("197.2.3.4"));
        let known = KnownDevices::default().with(&agent, address, start);
        let later = start.after(DAY - Duration::from_secs(1));
        assert_eq!(known.clone().with(&agent, address, later), known);
        assert_ne!(known.clone().with(&agent, address, start.after(DAY)), known);
    }

    #[test]
    fn known_devices_beyond_80_replace_the_oldest() {
        let mut now = Instant::from_unix_milliseconds(1_800_000_000_000);
        let agent = Agent::of("");
        let mut known = KnownDevices::default();
        for number in 0..100_u8 {
            now = now.after(DAY);
            known = known.with(&agent, IpAddr::from([197, number, 0, 1]), now);
        }
        assert_eq!(known.entries().len(), MAX_ENTRIES);
        assert!(!known.includes(&agent, ip("197.20.0.1"), now));
        assert!(known.includes(&agent, ip("197.21.0.1"), now));
    }
}
