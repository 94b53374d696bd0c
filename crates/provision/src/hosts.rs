//! What nodes see as `/etc/hosts` where that differs from node to node: a file for all that see the same, in the lab's
//! runtime folder.
//!
//! A thousand routers may have a thousand views of a quarter of a megabyte each, and programs run in few of them: a file
//! stays empty until one of its nodes runs a program.

use crate::job::Job;
use crate::setup_error::SetupError;
use netloom_host::KernelError;
use netloom_host::node::{Hosts, NodeError, SpawnError};
use netloom_lab::{Plan, Stack};
use netloom_results::WriteError;
use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The files that nodes see as `/etc/hosts` where these differ.
#[derive(Debug, Default)]
pub struct HostsFiles {
    files: Vec<PathBuf>,
    /// The number of each node's file; none: it sees what the lab sees.
    of_nodes: Vec<Option<usize>>,
    /// Whether each file has its text.
    written: Vec<bool>,
}

impl HostsFiles {
    /// Makes the files, still empty, that namespace nodes need.
    pub(crate) fn create(job: &Job) -> Result<Self, SetupError> {
        let mut made = Self::default();
        let mut known = BTreeMap::new();
        for node in &job.plan.nodes {
            let needs_file = node.stack == Stack::Namespace && node.has_own_names();
            let next = made.files.len();
            let number = needs_file.then(|| *known.entry((&node.names, &node.hidden)).or_insert(next));
            if number == Some(made.files.len()) {
                let path = job.hosts_file.with_extension(format!("of-{}", node.name));
                let file = File::create(&path).map_err(WriteError::file(&path))?;
                // Programs of all users in the node look names up.
                file.set_permissions(Permissions::from_mode(0o644)).map_err(WriteError::file(&path))?;
                made.files.push(path);
            }
            made.of_nodes.push(number);
        }
        made.written = vec![false; made.files.len()];
        for node in 0..job.plan.nodes.len() {
            if job.plan.nodes[node].overlay {
                // It is copied into the node's own file system before any program runs there.
                made.fill(&job.plan, node).map_err(|(path, error)| WriteError::file(&path)(error))?;
            }
        }
        Ok(made)
    }

    /// The settings that the node at this place needs.
    pub(crate) fn of(&self, plan: &Plan, node: usize) -> Option<Hosts> {
        let own = &plan.nodes[node];
        match self.of_nodes.get(node).copied().flatten() {
            Some(number) => Some(Hosts::File(self.files[number].clone())),
            // A virtual machine does not see this machine's files.
            None if own.stack == Stack::Vm || (own.stack == Stack::Kernel && own.has_own_names()) => {
                Some(Hosts::Text(plan.hosts_of(own)))
            }
            None => None,
        }
    }

    /// Writes what the node at this place sees, before it runs its first program.
    pub fn write(&mut self, plan: &Plan, node: usize) -> Result<(), SpawnError> {
        self.fill(plan, node).map_err(|(path, error)| {
            let error = KernelError::from_io(format!("write {}", path.display()), &error);
            SpawnError::Node(NodeError::Refused { node: plan.nodes[node].name.clone(), error })
        })
    }

    /// Or which file could not be written.
    fn fill(&mut self, plan: &Plan, node: usize) -> Result<(), (PathBuf, io::Error)> {
        let Some(number) = self.of_nodes.get(node).copied().flatten() else { return Ok(()) };
        if !self.written[number] {
            let path = &self.files[number];
            std::fs::write(path, plan.hosts_of(&plan.nodes[node])).map_err(|error| (path.clone(), error))?;
            self.written[number] = true;
        }
        Ok(())
    }
}
