//! Lines for a reader that may not read: the writer never waits.

use crate::Event;
use netloom_host::jsonl::to_line;
use std::cell::RefCell;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// The writer of events over a stream, which several may share.
#[derive(Clone, Debug)]
pub struct ProgressWriter {
    stream: Rc<UnixStream>,
    unsent: Rc<RefCell<Vec<u8>>>,
}

impl ProgressWriter {
    /// Takes over a stream, and never waits at it any more.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream: Rc::new(stream), unsent: Rc::default() })
    }

    /// Returns the stream, to be read.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Reports something that must arrive: what the reader does not take now waits.
    pub fn report(&self, event: &Event) {
        self.unsent.borrow_mut().extend(to_line(event));
        self.flush();
    }

    /// Reports something that can be left out: nothing, if the other side does not listen.
    pub fn report_if_ready(&self, event: &Event) {
        if !self.has_unsent() {
            self.report(event);
        }
    }

    /// Whether something waits until the other side listens.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.borrow().is_empty()
    }

    /// Sends what the reader takes now. That it is gone shows when the stream is read.
    pub(crate) fn flush(&self) {
        let mut unsent = self.unsent.borrow_mut();
        while !unsent.is_empty() {
            match self.stream.as_ref().write(&unsent) {
                Ok(0) | Err(_) => return,
                Ok(length) => drop(unsent.drain(..length)),
            }
        }
    }

    /// Reports the last thing, and waits until the reader has it or is gone.
    pub fn report_last(&self, event: &Event) {
        self.unsent.borrow_mut().extend(to_line(event));
        if self.stream.set_nonblocking(false).is_ok() {
            // There is nobody left to tell that this failed.
            let _ = self.stream.as_ref().write_all(&self.unsent.borrow());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_host::jsonl::Lines;
    use std::io::Read;

    #[test]
    fn a_reader_that_does_not_read_misses_what_can_be_left_out_and_nothing_else() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let progress_writer = ProgressWriter::new(ours).unwrap();
        let step = |number: u32| Event::Step { text: format!("{number} {}", "x".repeat(1_000)) };
        (0..10_000).for_each(|number| progress_writer.report_if_ready(&step(number)));
        assert!(progress_writer.unsent.borrow().len() < 2_000, "{}", progress_writer.unsent.borrow().len());
        progress_writer.report(&Event::Ready);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        progress_writer.report_last(&Event::Failed { code: 8, message: "the end".into() });
        // The reader reads until nobody is left to write.
        drop(progress_writer);
        let mut lines = Lines::default();
        lines.feed(&reader.join().unwrap());
        let heard: Vec<Event> = std::iter::from_fn(|| lines.pop().map(Result::unwrap)).collect();
        assert!((10..10_000).contains(&heard.len()), "{}", heard.len());
        assert!(matches!(heard[..], [.., Event::Ready, Event::Failed { .. }]));
    }
}
