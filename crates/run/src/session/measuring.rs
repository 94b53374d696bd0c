//! What is measured inside nodes: begun before the first program, and collected when the last has ended.

use super::context::Context;
use super::programs::Programs;
use netloom_host::measure::{Finding, MeasureConfig, SampleStream, TcpLog, columns, system_columns};
use netloom_judge::expectations::{NodeWatch, TcpSeen, TcpWatch};
use netloom_judge::{NodeSampleReport, RunError, TcpReport};
use netloom_lab::Plan;
use netloom_provision::driver::Driver;
use netloom_provision::job::Job;
use netloom_provision::measure::{by_kernel, of_node, wants_owners};
use netloom_provision::setup_error::SetupError;
use netloom_provision::virtual_time::TcpSampling;
use netloom_results::{NodeTable, TcpTable};
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Seek};

/// The files into which nodes write their samples, which have no names.
#[derive(Debug, Default)]
pub(super) struct Measuring {
    files: Vec<Files>,
    /// What expectations and figures want of the samples.
    pub(super) watch: Watch,
}

/// Those of a node; none where nothing is measured.
#[derive(Debug, Default)]
struct Files {
    /// What its first process measures.
    agent: Option<File>,
    /// What its kernel hands over without it.
    kernel: Option<File>,
}

/// What expectations and figures want of the samples.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) tcp: TcpWatch,
    pub(super) nodes: NodeWatch,
}

impl Watch {
    fn of(plan: &Plan) -> Self {
        Self { tcp: TcpWatch::of(plan), nodes: NodeWatch::of(plan) }
    }
}

impl Measuring {
    /// Begins to measure.
    pub(super) fn begin(context: &Context<'_>, programs: &mut Programs) -> Result<Self, RunError> {
        let folder = context.job.folder.path();
        let mut files = Vec::new();
        let create = || -> std::io::Result<(File, File)> {
            let file = tempfile::tempfile_in(folder)?;
            Ok((file.try_clone()?, file))
        };
        for (place, node) in programs.nodes.iter_mut().enumerate() {
            let mut own = Files::default();
            if let Some(config) = of_node(context.job, place) {
                let (ours, theirs) = create().map_err(RunError::results(folder))?;
                node.begin_measure(&config, theirs).map_err(SetupError::Node)?;
                own.agent = Some(ours);
            }
            if let (Some(step), Driver::Virtual(time)) = (by_kernel(context.job, place), context.links.driver()) {
                let (ours, theirs) = create().map_err(RunError::results(folder))?;
                let owners = wants_owners(&context.job.plan);
                time.sample_tcp(node.name(), TcpSampling { step, owners, log: TcpLog::new(theirs) });
                own.kernel = Some(ours);
            }
            files.push(own);
        }
        Ok(Self { files, watch: Watch::of(&context.job.plan) })
    }

    /// Ends it, and writes what was measured since `zero`. None of what was not to be.
    pub(super) fn end(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        zero: Instant,
    ) -> Result<(Option<TcpReport>, Option<NodeSampleReport>), RunError> {
        let mut tables = Tables::create(context.job)?;
        for (place, files) in self.files.iter_mut().enumerate() {
            let name = context.job.plan.nodes[place].name.clone();
            if let (Some(file), Driver::Virtual(time)) = (files.kernel.take(), context.links.driver()) {
                if let Some(failure) = time.end_samples(&name) {
                    context.notes.push(format!("node {name}: {failure}"));
                }
                let node = Place { place, name: &name, owners: &programs.sessions };
                // These have the lab's own time.
                let now = context.links.now();
                let clock = Reading { clock_ns: now.as_nanos(), at: now };
                copy(file, &node, clock, zero, (&mut tables, &mut self.watch))?;
            }
            let Some(file) = files.agent.take() else { continue };
            // Of a node that has booted since, nobody knows any more by which clock its samples were taken.
            let ended = if programs.gone.contains(&place) || programs.ever_crashed.contains(&place) {
                Err("what was measured in it is lost with it".to_owned())
            } else {
                end_in(context, programs, place)
            };
            match ended {
                Ok(clock) => {
                    let node = Place { place, name: &name, owners: &programs.owners };
                    copy(file, &node, clock, zero, (&mut tables, &mut self.watch))?;
                }
                Err(why) => context.notes.push(format!("node {name}: {why}")),
            }
        }
        tables.finish()
    }
}

/// The files for all nodes; none of what is measured in no node.
struct Tables {
    tcp: Option<TcpTable>,
    nodes: Option<NodeTable>,
}

impl Tables {
    fn create(job: &Job) -> Result<Self, RunError> {
        let configs: Vec<MeasureConfig> = (0..job.plan.nodes.len()).filter_map(|place| of_node(job, place)).collect();
        let of_kernels = (0..job.plan.nodes.len()).any(|place| by_kernel(job, place).is_some());
        let has_tcp = of_kernels || configs.iter().any(|config| config.tcp_ns.is_some());
        let has_nodes = configs.iter().any(|config| config.node_ns.is_some());
        Ok(Self {
            tcp: has_tcp.then(|| TcpTable::create(&job.folder, &columns())).transpose()?,
            nodes: has_nodes.then(|| NodeTable::create(&job.folder, &system_columns())).transpose()?,
        })
    }

    fn finish(self) -> Result<(Option<TcpReport>, Option<NodeSampleReport>), RunError> {
        Ok((self.tcp.map(TcpTable::finish).transpose()?, self.nodes.map(NodeTable::finish).transpose()?))
    }
}

/// What a node's clock showed at an instant of the lab.
#[derive(Clone, Copy)]
struct Reading {
    clock_ns: u64,
    at: Instant,
}

impl Reading {
    /// How long after `zero` the clock showed that; none if it was before, or if it does not show that yet, as when a run ends while some of
    /// its kernels are ahead.
    fn since(&self, zero: Instant, time_ns: u64) -> Option<Duration> {
        let before_end = Duration::from_nanos(self.clock_ns.checked_sub(time_ns)?);
        let since_zero = self.at.since(zero);
        (before_end <= since_zero).then(|| since_zero - before_end)
    }
}

/// The end of measuring in a node. Why there are no more samples, if something went wrong, is noted.
fn end_in(context: &mut Context<'_>, programs: &mut Programs, place: usize) -> Result<Reading, String> {
    let asked = context.links.now();
    let ended = programs.nodes[place].end_measure().map_err(|error| error.to_string())?;
    let (measured, heard) = ended.ok_or("nothing can be measured in it")?;
    let at = heard.unwrap_or_else(|| asked + Duration::from_nanos(context.links.now().since(asked).as_nanos() / 2));
    if let Some(failure) = measured.failure {
        let name = &context.job.plan.nodes[place].name;
        context.notes.push(format!("node {name}: {failure}"));
    }
    Ok(Reading { clock_ns: measured.clock_ns, at })
}

/// A node, and the entries of the timeline that have started its programs, by what samples call these.
struct Place<'a> {
    place: usize,
    name: &'a str,
    owners: &'a BTreeMap<(usize, u64), usize>,
}

/// Copies samples from a node's file. None older than time zero comes into a table.
fn copy(
    mut file: File,
    node: &Place<'_>,
    clock: Reading,
    zero: Instant,
    (tables, watch): (&mut Tables, &mut Watch),
) -> Result<(), RunError> {
    let wrong = |error| RunError::Machine(format!("reading what was measured in node {}: {error}", node.name));
    file.rewind().map_err(wrong)?;
    let mut stream = SampleStream::new(BufReader::with_capacity(1 << 16, file));
    let mut values = String::new();
    while let Some(found) = stream.read().map_err(wrong)? {
        values.clear();
        match (found, &mut tables.tcp, &mut tables.nodes) {
            (Finding::Sample(sample), Some(tcp), _) => {
                let elapsed = clock.since(zero, sample.time_ns);
                let at = elapsed.unwrap_or_default();
                let seen = TcpSeen { at, node: node.place, connection: sample.number };
                watch.tcp.add(seen, |column| sample.value(column));
                if let Some(elapsed) = elapsed {
                    sample.write(&mut values);
                    tcp.add(elapsed, node.name, sample.number, &values)?;
                }
            }
            (Finding::System(sample), _, Some(nodes)) => {
                let elapsed = clock.since(zero, sample.time_ns);
                watch.nodes.add(elapsed.unwrap_or_default(), node.place, |column| sample.value(column));
                if let Some(elapsed) = elapsed {
                    sample.write(&mut values);
                    nodes.add(elapsed, node.name, &values)?;
                }
            }
            (Finding::Owner { number, owner }, ..) => {
                if let Some(event) = node.owners.get(&(node.place, owner)) {
                    watch.tcp.is_of(node.place, number, *event);
                }
            }
            (Finding::LeftOut(rows), Some(tcp), _) => tcp.left_out(rows),
            (Finding::Full, Some(tcp), _) => tcp.is_full(node.name),
            (Finding::SystemFull, _, Some(nodes)) => nodes.is_full(node.name),
            _ => {}
        }
    }
    Ok(())
}
