//! A thread of the engine as its handle sees it: where commands go, and how it ends.

use crate::doorbell::Doorbell;
use crate::driver::Driver;
use crate::mailbox::Command;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender as Outbox;
use std::thread::JoinHandle;

/// See the module.
pub(crate) struct Worker {
    commands: Outbox<Command>,
    doorbell: Arc<Doorbell>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Worker {
    /// Starts the thread of this driver, whose mailbox has the other end of `commands`.
    pub(crate) fn start(name: String, driver: Driver, commands: Outbox<Command>) -> io::Result<Self> {
        let doorbell = Arc::clone(&driver.mailbox.doorbell);
        let thread = std::thread::Builder::new().name(name).spawn(move || driver.run())?;
        Ok(Self { commands, doorbell, thread: Some(thread) })
    }

    pub(crate) fn send(&self, command: Command) {
        // A dead engine takes no commands; the caller that waits for the answer gets an error.
        let _ = self.commands.send(command);
        self.doorbell.ring();
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Whether it was not waited for yet.
    pub(crate) fn is_joinable(&self) -> bool {
        self.thread.is_some()
    }

    /// Waits until the thread has ended; why it did, if it was not told to.
    pub(crate) fn join(&mut self) -> Option<String> {
        match self.thread.take()?.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => Some(match panic.downcast_ref::<String>() {
                Some(text) => text.clone(),
                None => {
                    panic.downcast_ref::<&str>().map_or_else(|| "it panicked".to_owned(), |text| (*text).to_owned())
                }
            }),
        }
    }
}
