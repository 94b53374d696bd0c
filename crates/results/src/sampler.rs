//! `samples.csv`: what every pipe had counted, ten times a second or as often as the lab file says.
//!
//! Nodes sample themselves (`netloom_host::measure`): the agents of namespaces and kernels. In virtual time the
//! kernels themselves hand over the state of TCP connections between two instants at which something happens, and it
//! reaches the scheduler among the frames, so samples shift nothing. Whoever watches a lab that is up gets the last
//! sample, and otherwise what nodes answer when asked; a node's own kernel is never waited for.

use crate::Folder;
use crate::WriteError;
use crate::regular;
use netloom_judge::{Effects, PipePlace, SampleReport};
use netloom_lab::Plan;
use netloom_link::{PipeCounters, PipeSample};
use netloom_units::{Duration, Rate};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The file's name.
const FILE: &str = "samples.csv";

/// The time between two samples, unless the lab file says otherwise, and between two searches for the busiest pipe.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// A plot has at least so many points, unless that would be more than one per microsecond.
const POINTS: u64 = 400;
const LEAST_INTERVAL: Duration = Duration::from_micros(1);

const HEADER: &str = "time_s,link,direction,pipe,arrived_packets,arrived_bytes,departed_packets,departed_bytes,\
dropped_queue_packets,dropped_loss_packets,dropped_early_packets,dropped_down_packets,dropped_partition_packets,dropped_fault_packets,dropped_air_packets,queue_packets,queue_bytes,\
in_flight_packets";

/// What waits of the cross traffic, which takes room in the same queue.
const CROSS_QUEUE: &str = "cross_queue_packets,cross_queue_bytes";

/// What follows from what was counted since the sample before, and how things stand.
const OF_STEPS: &str = "rate_bits_per_second,queue_ns,throughput_bits_per_second,one_way_delay_p50_ns,\
one_way_delay_p99_ns,one_way_delay_max_ns";

/// Samples end when there are so many rows: about a gigabyte.
const MOST_ROWS: u64 = 4_000_000;

/// The pipe that carries most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Busiest {
    /// The link's name.
    pub link: String,
    /// The pipe's direction: `forward` or `backward`; `shared` of a shared medium.
    pub direction: String,
    /// The name of a further pipe; none: the direction's own pipe.
    pub pipe: Option<String>,
    /// The rate at which the pipe delivers at present.
    pub bits_per_second: f64,
}

/// The writer of `samples.csv`, which has one row per pipe and sample. The counters are totals since time zero; a pipe
/// whose counters are what they were at the sample before has no row, so that a large lab with little traffic stays
/// cheap.
#[derive(Debug)]
pub struct Sampler {
    file: BufWriter<File>,
    path: PathBuf,
    /// The name of every pipe's link, and where the pipe belongs.
    pipes: Vec<(String, PipePlace)>,
    latest: Vec<PipeCounters>,
    /// When the sample before was taken, after time zero; none before the first.
    latest_at: Option<Duration>,
    report: SampleReport,
    /// What had been counted when it was looked at last which pipe is the busiest.
    before: Vec<PipeCounters>,
    before_at: Duration,
    busiest: Option<Busiest>,
}

/// The settings by which pipes are sampled.
#[derive(Clone, Copy, Debug)]
pub struct SampleSettings {
    /// The lab time between two samples.
    pub step: Duration,
    /// Whether the delays of packets in pipes are measured.
    pub delays: bool,
}

impl SampleSettings {
    /// Returns the settings of a plan; if it has none, samples are `usual` apart, and delays are not measured.
    pub fn of(plan: &Plan, usual: Duration) -> Self {
        Self { step: plan.sampling.map_or(usual, |sampling| sampling.step), delays: plan.sampling.is_some() }
    }
}

impl Sampler {
    /// Creates `samples.csv`.
    pub fn create(
        folder: &Folder,
        pipes: Vec<(String, PipePlace)>,
        settings: SampleSettings,
    ) -> Result<Self, WriteError> {
        let path = folder.path().join(FILE);
        let mut file = BufWriter::new(folder.file(FILE)?);
        writeln!(file, "{HEADER},{},{CROSS_QUEUE},{OF_STEPS}", Effects::COLUMNS).map_err(WriteError::file(&path))?;
        let latest = vec![PipeCounters::default(); pipes.len()];
        let SampleSettings { step, delays } = settings;
        let report = SampleReport { file: FILE.into(), step_ns: step.as_nanos(), delays, ..SampleReport::default() };
        let (before, before_at) = (latest.clone(), Duration::ZERO);
        Ok(Self { file, path, pipes, latest, latest_at: None, report, before, before_at, busiest: None })
    }

    /// Returns the pipe that carried most between the last two calls of [`Sampler::look`].
    pub fn busiest(&self) -> Option<&Busiest> {
        self.busiest.as_ref()
    }

    /// Returns the counters that the pipes had at the last sample.
    pub fn counters(&self) -> &[PipeCounters] {
        &self.latest
    }

    /// Takes a sample at the time `elapsed` after time zero. Pipes are named by their numbers; those that are missing,
    /// or have counted nothing since the sample before, are as they were.
    pub fn sample(
        &mut self,
        elapsed: Duration,
        pipes: impl IntoIterator<Item = (usize, PipeSample)>,
    ) -> Result<(), WriteError> {
        let mut line = String::new();
        for (pipe, sample) in pipes {
            let before = std::mem::replace(&mut self.latest[pipe], sample.counters);
            if before == sample.counters {
                continue;
            }
            if self.report.rows >= MOST_ROWS {
                self.report.full_at_ns.get_or_insert(elapsed.as_nanos());
                continue;
            }
            line.clear();
            self.row(&mut line, elapsed, pipe, &before, &sample);
            self.file.write_all(line.as_bytes()).map_err(WriteError::file(&self.path))?;
            self.report.rows += 1;
        }
        self.latest_at = Some(elapsed);
        Ok(())
    }

    /// Records that so many samples are missing.
    pub fn left_out(&mut self, samples: u64) {
        self.report.left_out += samples;
    }

    /// Brings all samples to the file, and finds the pipe that was the busiest since the last call.
    pub fn look(&mut self) -> Result<(), WriteError> {
        self.file.flush().map_err(WriteError::file(&self.path))?;
        let Some(at) = self.latest_at.filter(|at| *at > self.before_at) else { return Ok(()) };
        self.busiest = self.find_busiest((at - self.before_at).as_secs_f64());
        self.before.clone_from(&self.latest);
        self.before_at = at;
        Ok(())
    }

    /// Brings all samples to the file, and returns the report on them.
    pub fn finish(mut self) -> Result<SampleReport, WriteError> {
        self.file.flush().map_err(WriteError::file(&self.path))?;
        Ok(self.report)
    }

    fn row(&self, line: &mut String, elapsed: Duration, pipe: usize, before: &PipeCounters, sample: &PipeSample) {
        let (link, PipePlace { direction, pipe, .. }) = &self.pipes[pipe];
        let now = &sample.counters;
        let text = "writing to a string";
        write!(line, "{},{link},{direction},{}", seconds(elapsed), pipe.as_deref().unwrap_or_default()).expect(text);
        let effects = Effects::since(&PipeCounters::default(), now);
        let cross = now.cross.queued;
        for number in numbers(now).into_iter().chain(effects.values()).chain([cross.packets, cross.bytes]) {
            write!(line, ",{number}").expect(text);
        }
        let span = self.latest_at.map(|since| elapsed.as_nanos().saturating_sub(since.as_nanos()));
        let bits = (now.departed.bytes - before.departed.bytes) as f64 * 8.0;
        let throughput = span.filter(|span| *span > 0).map(|span| (bits * 1e9 / span as f64).round() as u64);
        let delays = sample.delays.map(|delays| [delays.p50, delays.p99, delays.max].map(Duration::as_nanos));
        let rate = sample.rate.map(Rate::as_bits_per_second);
        for number in [rate, sample.queueing.map(Duration::as_nanos), throughput] {
            field(line, number);
        }
        (0..3).for_each(|place| field(line, delays.map(|delays| delays[place])));
        line.push('\n');
    }

    fn find_busiest(&self, span: f64) -> Option<Busiest> {
        let moved = |pipe: usize| self.latest[pipe].departed.bytes.saturating_sub(self.before[pipe].departed.bytes);
        let pipe = (0..self.latest.len()).max_by_key(|pipe| moved(*pipe)).filter(|pipe| moved(*pipe) > 0)?;
        let (link, place) = &self.pipes[pipe];
        Some(Busiest {
            link: link.clone(),
            direction: place.direction.to_string(),
            pipe: place.pipe.clone(),
            bits_per_second: moved(pipe) as f64 * 8.0 / span,
        })
    }
}

/// A number behind a comma; nothing where there is none.
fn field(line: &mut String, number: Option<u64>) {
    match number {
        Some(number) => write!(line, ",{number}").expect("writing to a string"),
        None => line.push(','),
    }
}

/// How often pipes were looked at in the run or simulation that left this folder.
pub(crate) fn sample_interval(folder: &Path) -> Duration {
    /// As much of the report as is needed.
    #[derive(Deserialize)]
    struct Known {
        duration_ns: u64,
        samples: Option<SampleReport>,
    }
    let report = regular::read(&folder.join("report.json")).ok();
    let Some(known) = report.and_then(|report| serde_json::from_slice::<Known>(&report).ok()) else { return INTERVAL };
    if let Some(samples) = known.samples.filter(|samples| samples.step_ns > 0) {
        return Duration::from_nanos(samples.step_ns);
    }
    // Older results do not say it. Only simulations have sources.
    let is_simulated = folder.join("sources.json").is_file();
    if is_simulated { interval_within(Duration::from_nanos(known.duration_ns)) } else { INTERVAL }
}

/// Returns the time between two samples of a simulation that takes `duration`: that of a run, or less if the simulation
/// is short.
pub fn interval_within(duration: Duration) -> Duration {
    INTERVAL.min(Duration::from_nanos(duration.as_nanos() / POINTS)).max(LEAST_INTERVAL)
}

/// Three decimals, or as many more as a short simulation needs.
fn seconds(elapsed: Duration) -> String {
    let text = format!("{:.6}", elapsed.as_secs_f64());
    let zeros = text.len() - text.trim_end_matches('0').len();
    text[..text.len() - zeros.min(3)].to_owned()
}

fn numbers(counters: &PipeCounters) -> [u64; 14] {
    let PipeCounters { arrived, departed, dropped, queued, .. } = counters;
    [
        arrived.packets,
        arrived.bytes,
        departed.packets,
        departed.bytes,
        dropped.queue.packets,
        dropped.loss.packets,
        dropped.early.packets,
        dropped.down.packets,
        dropped.partition.packets,
        dropped.fault.packets,
        dropped.air.packets,
        queued.packets,
        queued.bytes,
        counters.in_flight(),
    ]
}

#[cfg(test)]
mod tests;
