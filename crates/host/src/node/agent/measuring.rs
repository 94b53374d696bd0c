//! Samples on their way into a file.

use std::fs::File;
use std::io::Write;
use std::os::fd::BorrowedFd;

use crate::error::{Attempted, KernelError};
use crate::measure::{MeasureConfig, Measured, Sampler};
use crate::node::programs::Programs;

/// See the module.
#[derive(Debug)]
pub(super) struct Measuring {
    sampler: Sampler,
    file: File,
    /// Why the file takes no more.
    failure: Option<KernelError>,
}

impl Measuring {
    /// Begins to take samples, which go to `file`.
    pub(super) fn begin(config: MeasureConfig, file: File) -> Result<Self, KernelError> {
        Ok(Self { sampler: Sampler::begin(config, false)?, file, failure: None })
    }

    /// One is readable when there is something to do.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sampler.fds().filter(|_| self.failure.is_none())
    }

    /// Takes the sample that is due, if one is; these programs run.
    pub(super) fn take(&mut self, programs: &Programs) {
        self.sampler.take(programs.running());
        if let Some(chunk) = self.sampler.chunk() {
            self.write(&chunk);
        }
    }

    fn write(&mut self, chunk: &[u8]) {
        let written = self.file.write_all(chunk).attempted(|| "write samples");
        self.failure = self.failure.take().or(written.err());
    }

    pub(super) fn end(mut self) -> Measured {
        let (rest, measured) = self.sampler.end();
        if self.failure.is_none() {
            self.failure = self.file.write_all(&rest).attempted(|| "write samples").err();
        }
        let failure = self.failure.map(|error| error.to_string());
        Measured { failure: failure.or(measured.failure), ..measured }
    }
}
