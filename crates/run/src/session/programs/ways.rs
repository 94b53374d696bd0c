//! Connections from this machine into nodes that programs in these go on with.

use super::launch::{Launch, null};
use super::processes::Purpose;
use super::state::Programs;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_judge::RunError;
use netloom_provision::exposed;
use netloom_units::Duration;

/// How long such a program has to end when it is asked to: it has nothing to write down.
const GRACE: Duration = Duration::from_millis(100);

impl Programs {
    /// Starts the programs that are asked for over the channel of this number. Without its program, a connection ends.
    pub(crate) fn lead_on(&mut self, context: &mut Context<'_>, number: usize) -> Result<(), RunError> {
        while let Some((node, asked)) = self.ways.asked(number) {
            if matches!(context.stage, Stage::Stopping(_)) || self.gone.contains(&node) || self.is_away(node) {
                continue;
            }
            let argv = exposed::program(&context.job.plan.nodes[node], &asked);
            let stdio = [asked.input, asked.output, null()?];
            let launch = Launch { node, argv, env: Vec::new(), cwd: "/".into(), stdio, terminal: false, user: None };
            match self.launch(context, launch) {
                Ok(key) => self.processes.add(key, Purpose::PortForward, context.links.now(), None, GRACE),
                Err(error) => context.report(format!("a connection from this machine failed: {error}")),
            }
        }
        Ok(())
    }

    /// Tells of the ways into nodes.
    pub(crate) fn show_ways(&mut self, context: &mut Context<'_>) {
        exposed::ways_into(&context.job.plan).into_iter().for_each(|way| context.report(way));
    }
}
