//! Connections from this machine into nodes that programs in these go on with.

use super::Session;
use super::launch::{Launch, null};
use super::processes::Purpose;
use super::stage::Stage;
use crate::exposed;
use netloom_judge::RunError;
use netloom_units::Duration;

/// How long such a program has to end when it is asked to: it has nothing to write down.
const GRACE: Duration = Duration::from_millis(100);

impl Session<'_> {
    /// Starts the programs that are asked for over the channel of this number. Without its program, a connection ends.
    pub(super) fn lead_on(&mut self, number: usize) -> Result<(), RunError> {
        while let Some((node, asked)) = self.ways.asked(number) {
            if matches!(self.stage, Stage::Stopping(_)) || self.gone.contains(&node) {
                continue;
            }
            let argv = exposed::program(&self.job.plan.nodes[node], asked.port);
            let stdio = [asked.input, asked.output, null()?];
            let launch = Launch { node, argv, env: Vec::new(), cwd: "/".into(), stdio, terminal: false, user: None };
            match self.launch(launch) {
                Ok(key) => self.processes.add(key, Purpose::Way, self.links.now(), None, GRACE),
                Err(error) => self.tell(format!("a connection from this machine found no way: {error}")),
            }
        }
        Ok(())
    }

    /// Tells of the ways into nodes.
    pub(super) fn show_ways(&mut self) {
        exposed::ways_into(&self.job.plan).into_iter().for_each(|way| self.tell(way));
    }
}
