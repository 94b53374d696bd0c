//! What the guard hands to the session when it forks the lab process: what the lab is made of, and what only its life needs.

use netloom_commands::Gate;
use netloom_host::firewall::Firewall;
use netloom_host::neighbors::Overflows;
use netloom_judge::examination::Examination;
use netloom_lab::Clock;
use netloom_provision::job::Job;
use netloom_units::Duration;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;

/// The file with the word of whoever keeps all parts, in the folder of the gate, and how much of it is read.
const WORD: &str = "word";
const LONGEST_WORD: u64 = 128;

/// The guard's order for a session.
#[derive(Debug)]
pub(crate) struct Order {
    /// What the lab is made of.
    pub(crate) job: Job,
    /// The warnings that the lab's author should look at before the results are trusted.
    pub(crate) warnings: Vec<String>,
    /// Whether pictures are drawn at the end.
    pub(crate) plots: bool,
    /// Whether a page shows the run at the end.
    pub(crate) page: bool,
    /// The findings of `netloom doctor` about this machine, if it was asked.
    pub(crate) examination: Option<Examination>,
    /// Where rules divert traffic to the lab; none if none is.
    pub(crate) firewall: Option<Rc<Firewall>>,
    /// A sentence that the verdict is to say of this machine.
    pub(crate) machine: Option<String>,
    /// How often the machine's tables of neighbours were full.
    pub(crate) overflows: Rc<Overflows>,
    /// Where lab time is to be held, counted from time zero, until a client lets it go on.
    pub(crate) stop_at: Option<Duration>,
    /// Where a part of a lab over several machines waits for the others.
    pub(crate) gate: Option<PathBuf>,
    /// The guard's process id, as seen from outside.
    pub(crate) guard_pid: i32,
}

impl Order {
    /// Returns the word of whoever keeps all parts of a lab over several machines: who knows it may change this part.
    pub(crate) fn word(&self) -> Option<String> {
        let mut text = String::new();
        let file = File::open(self.gate.as_ref()?.join(WORD)).ok()?;
        file.take(LONGEST_WORD).read_to_string(&mut text).ok()?;
        (!text.is_empty()).then_some(text)
    }

    /// Returns the place where a part of a lab waits for the others, or in virtual time says how far it has come.
    pub(crate) fn gate(&self) -> Gate {
        let (folder, socket) = (self.gate.clone(), &self.job.control_socket);
        let is_virtual = self.job.plan.clock == Clock::Virtual;
        if is_virtual { Gate::of_virtual_time(folder, socket) } else { Gate::new(folder, socket) }
    }
}
