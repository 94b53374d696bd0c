//! The lab process, which the guard forks: it makes the lab, lives in it, and removes what outlives processes.

use crate::order::Order;
use crate::session::Session;
use netloom_control::Server;
use netloom_host::lab::LabSide;
use netloom_host::runtime::RuntimeDir;
use netloom_judge::{ExitCode, RunError};
use netloom_provision::Event;
use netloom_provision::assemble::assemble;
use netloom_provision::guard_link::GuardLink;
use netloom_provision::job::Job;
use netloom_provision::resources::Resources;
use netloom_results::EventLog;
use std::os::unix::net::UnixStream;

/// The lab process, from its beginning to its exit code.
///
/// Whatever outlives processes is removed twice: by the lab, since its guard may be killed at any moment, and by the
/// guard, since the lab may. The runtime folder is left to the guard while there is one: its lock says that the lab is
/// up, and the last of the lab's processes ends with this one.
///
/// `resources` are what the guard has opened for it, and are never dropped here: the guard gives back what the machine has lent.
pub(crate) fn lab_main(side: LabSide, order: &Order, resources: &mut Resources, runtime: Option<RuntimeDir>) -> i32 {
    resources.kernels.bare = side.bare;
    let (code, guard_is_alive) = live(side.channel, order, resources);
    if let (false, Some(firewall)) = (guard_is_alive, &order.firewall) {
        // There is nobody left to tell that this failed; packets pass rules without a queue as if there were none.
        let _ = firewall.remove();
    }
    if let Some(Ok(group)) = &order.job.cpu_group {
        // The guard tries it again.
        let _ = group.remove();
    }
    if let (false, Some(folder)) = (guard_is_alive, runtime) {
        // There is nobody left to tell that this failed; the next command sweeps what is left.
        let _ = folder.remove();
    }
    code
}

/// The lab's life: the exit code, and whether the guard was there to the end.
fn live(channel: UnixStream, order: &Order, resources: &mut Resources) -> (i32, bool) {
    let job = &order.job;
    let mut guard = match GuardLink::new(channel) {
        Ok(guard) => guard,
        // Without the channel there is nobody to tell; the guard reports that the lab died.
        Err(_) => return (i32::from(ExitCode::Died.number()), true),
    };
    let assembled = assemble(job, &mut guard, resources)
        .map_err(RunError::from)
        .and_then(|parts| Ok((parts, listen(job)?, EventLog::create(&job.folder)?)));
    match assembled {
        Ok((parts, server, events)) => Session::new(order, guard, parts, server, events).live(),
        Err(error) => {
            let code = error.exit_code().number();
            guard.report_last(&Event::Failed { code, message: error.to_string() });
            (i32::from(code), true)
        }
    }
}

fn listen(job: &Job) -> Result<Server, RunError> {
    Server::listen(&job.control_socket)
        .map_err(|error| RunError::Machine(format!("listening at {}: {error}", job.control_socket.display())))
}
