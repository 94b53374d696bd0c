//! A station: its categories and its links.

use crate::config::MediumConfig;
use crate::contender::Contender;
use crate::counters::StationCounters;
use crate::error::ConfigError;
use crate::frame::Destination;
use crate::link::{Link, LinkConfig};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use netloom_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The names of the categories, from which their seeds follow.
pub(crate) const CATEGORIES: [&str; 4] = ["background", "best-effort", "video", "voice"];

/// The description of a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationConfig {
    /// The name, from which the station's seed follows.
    pub name: String,
    /// The link to every other station for which nothing else is said.
    pub link: LinkConfig,
}

#[derive(Clone, Debug)]
pub(crate) struct Station<P> {
    /// The least urgent first; without QoS a single one.
    pub(crate) contenders: Vec<Contender<P>>,
    pub(crate) counters: StationCounters,
    usual: Link,
    basic: Link,
    /// By destination, where it differs from the usual one.
    links: BTreeMap<u32, Link>,
    /// Decides which MPDUs are decoded.
    errors: Xoshiro256PlusPlus,
}

impl<P> Station<P> {
    pub(crate) fn new(config: &MediumConfig, described: &StationConfig, seed: Seed) -> Result<Self, ConfigError> {
        let own = seed.derive(&described.name);
        let of =
            |category: usize| Contender::new(config, config.contention[category], own.derive(CATEGORIES[category]));
        Ok(Self {
            contenders: if config.phy.has_qos() { (0..4).map(of).collect() } else { [1].into_iter().map(of).collect() },
            counters: StationCounters::default(),
            usual: Link::new(&config.phy, described.link)?,
            basic: Link::basic(&config.phy),
            links: BTreeMap::new(),
            errors: Xoshiro256PlusPlus::seed_from_u64(own.derive("errors").get()),
        })
    }

    pub(crate) fn set_link(&mut self, to: u32, link: Link) {
        self.links.insert(to, link);
    }

    /// The link of what is to be sent: management frames go at the basic rate.
    pub(crate) fn link(&self, to: Destination, is_management: bool) -> Link {
        match to {
            Destination::Station(_) if is_management => self.basic,
            Destination::Everybody => self.basic,
            Destination::Station(id) => self.links.get(&id.0).copied().unwrap_or(self.usual),
        }
    }

    /// Finds out which MPDUs of the flow on the air will be decoded, and how many these are.
    pub(crate) fn decide(&mut self, category: usize, flow: usize, link: &Link) -> u32 {
        let errors = &mut self.errors;
        let is_good = || link.error.is_zero() || !link.error.happens(errors.next_u64());
        self.contenders[category].queue.decide(flow, is_good)
    }
}
