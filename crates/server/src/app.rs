//! What all requests share.

use crate::answer::Refusal;
use crate::folder::Folder;
use crate::jobs::Jobs;
use crate::journals::Journals;
use crate::names::Names;
use crate::options::Opened;
use crate::shelf::Shelf;
use crate::token::Tokens;
use crate::world::World;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// See the module.
pub(crate) struct App {
    pub(crate) names: Names,
    pub(crate) tokens: Tokens,
    pub(crate) opened: Option<Opened>,
    /// The folder with the lab files.
    pub(crate) folder: Option<Arc<Folder>>,
    pub(crate) shelf: Shelf,
    pub(crate) journals: Journals,
    pub(crate) jobs: Arc<Jobs>,
    /// What changes, for pages that watch.
    pub(crate) world: World,
    /// How many WebSockets there may be.
    pub(crate) sockets: Arc<Semaphore>,
    /// How many of them may be terminals.
    pub(crate) terminals: Arc<Semaphore>,
    /// How many lab files may be read at a time.
    pub(crate) readers: Arc<Semaphore>,
    /// True when the server ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl App {
    /// The folder with the lab files.
    pub(crate) fn lab_folder(&self) -> Result<Arc<Folder>, Refusal> {
        self.folder
            .clone()
            .ok_or_else(|| Refusal::missing("this server has no folder with lab files: it shows results"))
    }

    /// Waits until it is somebody's turn to have a lab file read.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        Arc::clone(&self.readers).acquire_owned().await.map_err(|_| Refusal::failed("the server ends"))
    }
}

/// WebSockets of all pages together.
pub(crate) const MOST_SOCKETS: usize = 512;
/// Terminals of all pages together: each is a program in a node.
pub(crate) const MOST_TERMINALS: usize = 64;
/// Reading a lab file takes a processor; a page asks at each keystroke.
pub(crate) const MOST_READERS: usize = 2;
