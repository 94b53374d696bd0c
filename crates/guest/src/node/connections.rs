//! What is known of a node's TCP connections, whose kernel is asked and not waited for.

use netloom_host::KernelError;
use netloom_host::measure::TcpState;
use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Whether an answer is on its way.
    is_asked: bool,
    /// The last one, and when it came.
    told: Option<(Result<TcpState, KernelError>, Instant)>,
}

impl Connections {
    /// Whether the kernel is to be asked: it is not asked twice before it has answered.
    pub(super) fn begin_asking(&mut self) -> bool {
        !std::mem::replace(&mut self.is_asked, true)
    }

    /// The kernel has answered, which may be anybody's.
    pub(super) fn are(&mut self, told: Result<TcpState, KernelError>) {
        *self = Self { is_asked: false, told: Some((told.map(TcpState::ordered), Instant::now())) };
    }

    /// The last answer, and how old it is; none before the first.
    pub(super) fn last(&self) -> Result<Option<(TcpState, Duration)>, KernelError> {
        let told = self.told.as_ref();
        told.map(|(told, at)| told.clone().map(|state| (state, at.elapsed()))).transpose()
    }
}
