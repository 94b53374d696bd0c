//! Whether what is to run in a node is in its image.

use super::found::Found;
use netloom_host::programs::PATH;
use netloom_lab::{Argv, NodeKey, NodePlan, RunCommand};

/// How many programs are named when one is missing.
const MOST_SHOWN: usize = 12;

impl Found {
    /// Looks for the program of a command.
    ///
    /// # Errors
    /// That it is missing, and what there is; or that it cannot start.
    pub(super) fn has_program(&self, node: &NodePlan, run: &RunCommand) -> Result<(), String> {
        let program = match &run.command {
            Argv::Shell(_) => "/bin/sh",
            Argv::Exec(words) => words.first().map_or("", String::as_str),
        };
        let value =
            |env: &[(String, String)]| env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let path = value(&run.env).or_else(|| value(&node.env)).unwrap_or_else(|| PATH.to_owned());
        let folder = run.folder.as_ref().map_or_else(|| self.folder.clone(), |folder| self.folder.join(folder));
        let folder = folder.to_string_lossy();
        let is_put_there = |place: &str| self.is_added(place.trim_end_matches('/'));
        let places: Vec<String> = if program.contains('/') {
            vec![if program.starts_with('/') { program.to_owned() } else { format!("{folder}/{program}") }]
        } else {
            path.split(':').map(|place| format!("{place}/{program}")).collect()
        };
        if places.iter().any(|place| is_put_there(place)) {
            return Ok(());
        }
        let image = node.image.as_ref().map(|image| image.source.to_string()).unwrap_or_default();
        let what = if run.key == Some(NodeKey::Image) { "entry point" } else { "program" };
        if let Some(file) = self.root().program(program, &path, &folder) {
            let cannot = |why| Err(format!("the {what} `{program}` of {image} cannot start: {why}"));
            return self.obstacle(&file).map_or(Ok(()), cannot);
        }
        Err(format!("the {what} `{program}` is not in {image}: {}", self.instead(program, &path)))
    }

    /// What there is: in the folder of a path, or in those of `PATH`.
    fn instead(&self, program: &str, path: &str) -> String {
        let folder = program.rsplit_once('/').map(|(folder, _)| if folder.is_empty() { "/" } else { folder });
        let (mut there, place) = match folder {
            Some(folder) => (self.root().programs(folder), folder),
            None => (self.root().programs(path), path),
        };
        let count = there.len();
        if count == 0 {
            return format!("{place} has nothing");
        }
        // Those that begin alike come first.
        let name = program.rsplit('/').next().unwrap_or(program);
        let alike = |other: &str| other.bytes().zip(name.bytes()).take_while(|(one, own)| one == own).count();
        there.sort_by_key(|other| std::cmp::Reverse(alike(other)));
        there.truncate(MOST_SHOWN);
        let more = if count > there.len() { format!(" and {} more", count - there.len()) } else { String::new() };
        format!("{place} has {}{more}", there.join(", "))
    }
}
