//! What mahimahi's `mm-link` does beside delivering packets: logs, and traces that are followed once.

use netloom_dataplane::{Act, ScheduledEvent, Task};
use netloom_fabric::PipeId;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::Direction;
use netloom_link::{DeliveryTraceConfig, PipeConfig, RateConfig};
use netloom_results::MahimahiLog;
use netloom_units::{Bytes, Duration, Instant};
use std::path::PathBuf;

/// The largest packet of the link, as of Ethernet.
const MTU_BYTES: Bytes = Bytes::new(1_500);

/// Where programs find what shells say before their prompts.
pub(super) const PREFIX: &str = "MAHIMAHI_SHELL_PREFIX";

/// The log of one way of a link, which has a trace for its rate.
#[derive(Clone, Debug)]
pub struct LinkLog {
    /// The file to write.
    pub file: PathBuf,
    /// The trace, as the user named it.
    pub trace_name: String,
    /// The queue, as mahimahi calls it.
    pub queue: String,
    /// The command line.
    pub command_line: String,
}

/// The logs that are asked for, out and in.
pub(super) fn logs(asked: [Option<LinkLog>; 2], pipes: &[PipeConfig; 2], once: bool) -> Vec<MahimahiLog> {
    let ways = asked.into_iter().zip(pipes).zip([Direction::Forward, Direction::Backward]);
    let log = |((one, pipe), direction): ((Option<LinkLog>, &PipeConfig), Direction)| {
        let LinkLog { file, trace_name, queue, command_line } = one?;
        let (trace, around) = (trace(pipe)?.clone(), std::env::var(PREFIX).ok());
        Some(MahimahiLog { file, direction, trace_name, trace, once, command_line, queue, around })
    };
    ways.filter_map(log).collect()
}

/// What ends deliveries when the traces are over.
pub(super) fn ends(pipes: &[PipeConfig; 2]) -> Vec<ScheduledEvent> {
    let end = |(pipe, number): (&PipeConfig, u32)| {
        // The last opportunity is one still.
        let at = Instant::ZERO + trace(pipe)?.times.period() + Duration::from_nanos(1);
        Some(ScheduledEvent { number: number.into(), at, task: Task::Acts(vec![(PipeId(number), Act::SetUp(false))]) })
    };
    pipes.iter().zip(0..).filter_map(end).collect()
}

fn trace(pipe: &PipeConfig) -> Option<&DeliveryTraceConfig> {
    match &pipe.rate {
        RateConfig::DeliveryTrace(trace) => Some(trace),
        _ => None,
    }
}

/// The pipe that these keys of a lab file describe.
pub(super) fn pipe(way: &str, keys: &[(String, String)]) -> Result<PipeConfig, RunError> {
    let wrong = |why: String| RunError::Reported { code: ExitCode::Usage, message: format!("{way}: {why}") };
    let pipe = netloom_lab::parse_pipe(keys).map_err(|error| wrong(error.to_string()))?;
    pipe.check(MTU_BYTES).map_err(|error| wrong(error.to_string()))?;
    Ok(pipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_that_is_played_once_ends_behind_its_last_opportunity() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "3\n20\n").unwrap();
        let rate = format!("{{kind: delivery-trace, file: {}}}", file.path().display());
        let pipes = [pipe("uplink", &[]).unwrap(), pipe("downlink", &[("rate".into(), rate)]).unwrap()];
        let ends = ends(&pipes);
        assert_eq!(ends.len(), 1);
        assert_eq!(ends[0].at.as_nanos(), 20_000_001);
        assert_eq!(ends[0].task, Task::Acts(vec![(PipeId(1), Act::SetUp(false))]));
        let asked =
            || LinkLog { file: "a".into(), trace_name: "t".into(), queue: "q".into(), command_line: "c".into() };
        let logs = logs([Some(asked()), Some(asked())], &pipes, true);
        assert_eq!(logs.iter().map(|log| log.direction).collect::<Vec<_>>(), [Direction::Backward]);
        assert!(
            pipe("uplink", &[("delay".into(), "4".into())]).unwrap_err().to_string().starts_with("uplink: delay: ")
        );
    }
}
