//! Signals to the programs of a node.

use super::KernelNode;
use netloom_host::guest::message::{ProcessId, ToGuest};
use netloom_host::node::NodeError;

impl KernelNode {
    /// Sends `signal` (`libc::SIGINT` and so on) to the process group of a program. Nothing happens to one that has
    /// ended. After SIGKILL, what the program had written and was not read yet is lost.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn signal(&mut self, process: ProcessId, signal: i32) -> Result<(), NodeError> {
        self.ask(&ToGuest::Signal { process, signal })?;
        self.expect_done()?;
        if signal == libc::SIGKILL {
            self.give_up_output(process);
        }
        Ok(())
    }

    /// Sends `signal` to all processes of the node but its agent. Of those that are killed, what they had written and was not
    /// read yet arrives.
    ///
    /// # Errors
    /// The refusal of the guest's kernel, or [`NodeError::Kernel`].
    pub fn signal_all(&mut self, signal: i32) -> Result<(), NodeError> {
        self.ask(&ToGuest::SignalAll { signal })?;
        self.expect_done()
    }
}
