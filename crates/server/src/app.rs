//! What all requests share.

use crate::air_logs::AirLogs;
use crate::air_maps::AirMaps;
use crate::answer::Refusal;
use crate::connections::Connections;
use crate::jobs::Jobs;
use crate::journals::Journals;
use crate::lab_files::LabFiles;
use crate::names::Names;
use crate::options::Opened;
use crate::results_index::ResultsIndex;
use crate::scope::Scope;
use crate::shares::{Limits, Shares};
use crate::shells::Shells;
use crate::turns::Turns;
use crate::visitors::Visitors;
use crate::world::World;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// See the module.
pub(crate) struct App {
    pub(crate) names: Names,
    pub(crate) visitors: Arc<Visitors>,
    pub(crate) opened: Option<Opened>,
    /// What others than whoever has started the server may reach.
    pub(crate) scope: Scope,
    /// The lab files that are served.
    pub(crate) labs: Option<Arc<LabFiles>>,
    pub(crate) results_index: ResultsIndex,
    pub(crate) journals: Journals,
    pub(crate) air_maps: AirMaps,
    pub(crate) air_logs: AirLogs,
    pub(crate) jobs: Arc<Jobs>,
    /// What changes, for pages that watch.
    pub(crate) world: World,
    pub(crate) connections: Arc<Connections>,
    /// How many WebSockets there may be.
    pub(crate) sockets: Arc<Shares>,
    /// How many of them may be terminals, and downloads of packets.
    pub(crate) terminals: Arc<Shares>,
    pub(crate) captures: Arc<Shares>,
    /// Terminals that pages come back to.
    pub(crate) shells: Arc<Shells>,
    /// Requests of others that are being answered: each may take a thread, which waits for a lab or a disk.
    pub(crate) others: Arc<Semaphore>,
    /// Who may have a lab file read.
    pub(crate) turns: Turns,
    /// True when the server ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl App {
    /// Those who are here or were, as pages of the role `edit` see them.
    pub(crate) fn people(&self) -> Vec<Value> {
        let mut all = self.visitors.described();
        for visitor in &mut all {
            visitor["kept"] = self.shells.kept_of(visitor["id"].as_u64().unwrap_or_default()).into();
        }
        all
    }

    /// The lab files that are served.
    pub(crate) fn lab_files(&self) -> Result<Arc<LabFiles>, Refusal> {
        self.labs.clone().ok_or_else(|| Refusal::missing("this server has no folder with lab files: it shows results"))
    }
}

/// Requests of others than the role `edit` that are answered at a time; more wait.
pub(crate) const MOST_OF_OTHERS: usize = 64;
/// WebSockets of all pages together: a page has one for events, and one for each lab that it shows.
pub(crate) const SOCKETS: Limits = Limits { all: 512, role: 192, address: 128, one: 72 };
/// Terminals of all pages together: each is a program in a node.
pub(crate) const TERMINALS: Limits = Limits { all: 64, role: 48, address: 32, one: 8 };
/// Downloads of packets: each costs the lab a copy of what it captures.
pub(crate) const CAPTURES: Limits = Limits { all: 64, role: 40, address: 16, one: 4 };
