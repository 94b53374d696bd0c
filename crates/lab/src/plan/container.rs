//! The container that a node is.

use crate::words::words;
use std::fmt;

/// A container that runs already, of an engine that is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerPlan {
    /// Its line in the lab file.
    pub line: usize,
    /// Its name, or the beginning of its identifier, as its engine knows it.
    pub name: String,
    /// The engine of the container; none: whichever engine has it.
    pub engine: Option<ContainerEngine>,
}

words! {
    /// A container engine.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ContainerEngine {
        /// Docker.
        Docker = "docker",
        /// podman.
        Podman = "podman",
    }
}

impl ContainerEngine {
    /// All engines, in the order in which they are asked.
    pub const ALL: [Self; 2] = [Self::Docker, Self::Podman];
}

impl fmt::Display for ContainerPlan {
    /// For people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine {
            Some(engine) => write!(f, "container {} of {}", self.name, engine.name()),
            None => write!(f, "container {}", self.name),
        }
    }
}
