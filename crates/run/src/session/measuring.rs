//! What is measured inside nodes: begun before the first program, and collected when the last has ended.

use super::context::Context;
use super::programs::Programs;
use crate::job::{Job, Mode};
use crate::refusal;
use netloom_host::measure::{Finding, MeasureConfig, TcpStream, columns};
use netloom_judge::{RunError, TcpReport};
use netloom_lab::Clock;
use netloom_results::TcpTable;
use netloom_units::{Duration, Instant};
use std::fs::File;
use std::io::{BufReader, Seek};

/// The files into which nodes write their samples, which have no names; none of a node in which nothing is measured.
#[derive(Debug, Default)]
pub(super) struct Measuring {
    files: Vec<Option<File>>,
}

/// What is to be measured inside the node at this place. A lab that is up may stay for days, and nothing is.
pub(crate) fn of_node(job: &Job, place: usize) -> Option<MeasureConfig> {
    let tcp = job.plan.nodes[place].measure.tcp.filter(|_| job.mode == Mode::Run)?;
    Some(MeasureConfig { tcp_ns: tcp.as_nanos(), reads_clock: job.plan.clock != Clock::Virtual })
}

impl Measuring {
    /// Begins to measure.
    pub(super) fn begin(context: &Context<'_>, programs: &mut Programs) -> Result<Self, RunError> {
        let folder = context.job.folder.path();
        let mut files = Vec::new();
        for (place, node) in programs.nodes.iter_mut().enumerate() {
            let Some(config) = of_node(context.job, place) else {
                files.push(None);
                continue;
            };
            let file = tempfile::tempfile_in(folder).map_err(RunError::results(folder))?;
            let theirs = file.try_clone().map_err(RunError::results(folder))?;
            node.begin_measure(&config, theirs).map_err(refusal::of_node)?;
            files.push(Some(file));
        }
        Ok(Self { files })
    }

    /// Ends it, and writes what was measured since `zero`. None if nothing was to be.
    pub(super) fn end(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        zero: Instant,
    ) -> Result<Option<TcpReport>, RunError> {
        if self.files.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut table = TcpTable::create(&context.job.folder, &columns())?;
        for (place, file) in self.files.iter_mut().enumerate() {
            let Some(file) = file.take() else { continue };
            let name = context.job.plan.nodes[place].name.clone();
            let ended = if programs.gone.contains(&place) {
                Err("what was measured in it is lost with it".to_owned())
            } else {
                end_in(context, programs, place)
            };
            match ended {
                Ok(clock) => copy(file, &name, clock, zero, &mut table)?,
                Err(why) => context.notes.push(format!("node {name}: {why}")),
            }
        }
        table.finish().map(Some)
    }
}

/// What a node's clock showed at an instant of the lab.
#[derive(Clone, Copy)]
struct Reading {
    clock_ns: u64,
    at: Instant,
}

/// The end of measuring in a node. Why there are no more samples, if something went wrong, is noted.
fn end_in(context: &mut Context<'_>, programs: &mut Programs, place: usize) -> Result<Reading, String> {
    let asked = context.links.now();
    let ended = programs.nodes[place].end_measure().map_err(|error| error.to_string())?;
    let (measured, heard) = ended.ok_or("nothing can be measured in it")?;
    let at = heard.unwrap_or_else(|| asked + Duration::from_nanos(context.links.now().since(asked).as_nanos() / 2));
    if let Some(failure) = measured.failure {
        let name = &context.job.plan.nodes[place].name;
        context.notes.push(format!("node {name}: TCP connections are not measured any more: {failure}"));
    }
    Ok(Reading { clock_ns: measured.clock_ns, at })
}

/// Copies samples from a node's file, of which none is older than time zero.
fn copy(mut file: File, node: &str, clock: Reading, zero: Instant, table: &mut TcpTable) -> Result<(), RunError> {
    let wrong = |error| RunError::Machine(format!("reading what was measured in node {node}: {error}"));
    file.rewind().map_err(wrong)?;
    let mut stream = TcpStream::new(BufReader::with_capacity(1 << 16, file));
    let mut values = String::new();
    while let Some(found) = stream.read().map_err(wrong)? {
        match found {
            Finding::Sample(sample) => {
                let before_end = Duration::from_nanos(clock.clock_ns.saturating_sub(sample.time_ns));
                let since_zero = clock.at.since(zero);
                if before_end <= since_zero {
                    values.clear();
                    sample.write(&mut values);
                    table.add(since_zero - before_end, node, sample.number, &values)?;
                }
            }
            Finding::LeftOut(rows) => table.left_out(rows),
            Finding::Full => table.is_full(node),
        }
    }
    Ok(())
}
