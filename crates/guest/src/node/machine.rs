use std::fmt::Debug;
use std::os::fd::BorrowedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A machine that runs a node's kernel, as far as the node has to know: User-Mode Linux, which is the process itself, or a virtual machine.
pub trait Machine: Debug {
    /// Returns a descriptor that is readable when [`Machine::hear`] has something to do; none if it never has. It is the same for life.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Takes in what the machine reports beside what the agent does, without waiting.
    fn hear(&mut self) -> Heard {
        Heard::End
    }

    /// How many processors it has, which may all be busy or wait at the same time.
    fn processors(&self) -> u32 {
        1
    }

    /// Where to write what is typed at its serial console, without waiting; none if it reads nothing there.
    fn console(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// What was done so that the agent gets into a system that does not bring it, and what came of it; none where it is there.
    fn entrance(&self) -> Option<String> {
        None
    }

    /// How far the program that runs the machine has come, in words, if that is known.
    fn standing(&self) -> Option<String> {
        None
    }

    /// Gives the device of its disk an order, if that is outside of the kernel.
    ///
    /// # Errors
    /// The refusal of the device, in words.
    fn order_disk(&mut self, order: &str) -> Result<(), String> {
        Err(format!("no disk outside of the kernel takes the order {order:?}"))
    }

    /// Holds all that it runs with its clocks, which stand still, or lets it go on, if that can be done from outside.
    ///
    /// # Errors
    /// Why it cannot, in words.
    fn pause(&mut self, _holds: bool) -> Result<(), String> {
        Err("it cannot be paused from outside".to_owned())
    }

    /// Why it has ended, in words that follow the node's name.
    fn ending(&mut self, status: ExitStatus) -> String;
}

/// The outcome of listening to a machine with [`Machine::hear`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing that the node would have to know.
    Nothing,
    /// The machine will report nothing any more.
    End,
    /// The node cannot go on, for this reason.
    Over(String),
}

/// The exit code of a kernel that one of its programs rebooted (`shim/start.c`).
const REBOOTED: i32 = 79;

/// User-Mode Linux.
#[derive(Debug)]
pub(super) struct UserMode;

impl Machine for UserMode {
    fn ending(&mut self, status: ExitStatus) -> String {
        describe(status)
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its kernel was ended by signal {signal}"),
        (None, Some(0)) => "it was powered off from inside".to_owned(),
        (None, Some(REBOOTED)) => "one of its programs rebooted it, and a node does not come back".to_owned(),
        (None, _) => format!("its kernel ended unexpectedly ({status})"),
    }
}
