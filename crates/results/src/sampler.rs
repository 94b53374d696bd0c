//! `samples.csv`: what every pipe had counted, ten times a second.

use crate::Folder;
use crate::regular;
use netloom_judge::{Effects, PipePlace, RunError};
use netloom_link::PipeCounters;
use netloom_units::{Duration, Instant};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How often counters are sampled.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// A plot has at least so many points, unless that would be more than one per microsecond.
const POINTS: u64 = 400;
const LEAST_INTERVAL: Duration = Duration::from_micros(1);

const HEADER: &str = "time_s,link,direction,pipe,arrived_packets,arrived_bytes,departed_packets,departed_bytes,\
dropped_queue_packets,dropped_loss_packets,dropped_early_packets,dropped_down_packets,queue_packets,queue_bytes";

/// What waits of the cross traffic, which takes room in the same queue.
const CROSS_QUEUE: &str = "cross_queue_packets,cross_queue_bytes";

/// The link and direction that carries most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Busiest {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; `shared` of a shared medium.
    pub direction: String,
    /// The name of a further pipe; none: the direction's own.
    pub pipe: Option<String>,
    /// What it delivers just now.
    pub bits_per_second: f64,
}

/// Writes one row per pipe and sample. The counters are totals since the lab started; a pipe whose counters are what
/// they were at the sample before has no row, so that a large lab with little traffic stays cheap.
#[derive(Debug)]
pub struct Sampler {
    file: BufWriter<File>,
    path: PathBuf,
    /// The name of every pipe's link, and where the pipe belongs.
    pipes: Vec<(String, PipePlace)>,
    latest: Vec<PipeCounters>,
    latest_at: Instant,
    next: Instant,
    busiest: Option<Busiest>,
}

impl Sampler {
    /// Creates `samples.csv`; the first sample is due at `zero`.
    pub fn create(folder: &Folder, pipes: Vec<(String, PipePlace)>, zero: Instant) -> Result<Self, RunError> {
        let path = folder.path().join("samples.csv");
        let mut file = BufWriter::new(folder.file("samples.csv")?);
        writeln!(file, "{HEADER},{},{CROSS_QUEUE}", Effects::COLUMNS).map_err(RunError::results(&path))?;
        let latest = vec![PipeCounters::default(); pipes.len()];
        Ok(Self { file, path, pipes, latest, latest_at: zero, next: zero, busiest: None })
    }

    /// When the next sample is due.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// The link and direction that carried most between the last two samples.
    pub fn busiest(&self) -> Option<&Busiest> {
        self.busiest.as_ref()
    }

    /// Takes the sample of `at`, which is `elapsed` after time zero. A sample that came late leaves out the ones missed.
    pub fn sample(&mut self, at: Instant, elapsed: Duration, counters: Vec<PipeCounters>) -> Result<(), RunError> {
        self.write(elapsed, &counters).map_err(RunError::results(&self.path))?;
        self.busiest = self.find_busiest(at, &counters);
        self.latest = counters;
        self.latest_at = at;
        while self.next <= at {
            self.next = self.next + INTERVAL;
        }
        Ok(())
    }

    fn write(&mut self, elapsed: Duration, counters: &[PipeCounters]) -> std::io::Result<()> {
        let time = seconds(elapsed);
        for (pipe, now) in counters.iter().enumerate().filter(|(pipe, now)| self.latest[*pipe] != **now) {
            let (link, PipePlace { direction, pipe, .. }) = &self.pipes[pipe];
            write!(self.file, "{time},{link},{direction},{}", pipe.as_deref().unwrap_or_default())?;
            let effects = Effects::since(&PipeCounters::default(), now);
            let cross = now.cross.queued;
            for number in numbers(now).into_iter().chain(effects.values()).chain([cross.packets, cross.bytes]) {
                write!(self.file, ",{number}")?;
            }
            writeln!(self.file)?;
        }
        self.file.flush()
    }

    fn find_busiest(&self, at: Instant, counters: &[PipeCounters]) -> Option<Busiest> {
        let span = at.since(self.latest_at).as_secs_f64();
        let moved = |pipe: usize| counters[pipe].departed.bytes.saturating_sub(self.latest[pipe].departed.bytes);
        let pipe = (0..counters.len()).max_by_key(|pipe| moved(*pipe)).filter(|pipe| moved(*pipe) > 0 && span > 0.0)?;
        let (link, place) = &self.pipes[pipe];
        Some(Busiest {
            link: link.clone(),
            direction: place.direction.to_string(),
            pipe: place.pipe.clone(),
            bits_per_second: moved(pipe) as f64 * 8.0 / span,
        })
    }
}

/// How often pipes were looked at in the run or simulation that left this folder.
pub(crate) fn sample_interval(folder: &Path) -> Duration {
    /// As much of the report as is needed.
    #[derive(Deserialize)]
    struct Length {
        duration_ns: u64,
    }
    let length = || {
        // Only simulations have sources.
        folder.join("sources.json").metadata().ok()?;
        let report = regular::read(&folder.join("report.json")).ok()?;
        serde_json::from_slice::<Length>(&report).ok()
    };
    length().map_or(INTERVAL, |length| interval_within(Duration::from_nanos(length.duration_ns)))
}

/// How often pipes are looked at: as often as those of a run, and more often in a short simulation.
pub fn interval_within(duration: Duration) -> Duration {
    INTERVAL.min(Duration::from_nanos(duration.as_nanos() / POINTS)).max(LEAST_INTERVAL)
}

/// Three decimals, or as many more as a short simulation needs.
fn seconds(elapsed: Duration) -> String {
    let text = format!("{:.6}", elapsed.as_secs_f64());
    let zeros = text.len() - text.trim_end_matches('0').len();
    text[..text.len() - zeros.min(3)].to_owned()
}

fn numbers(counters: &PipeCounters) -> [u64; 10] {
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
        queued.packets,
        queued.bytes,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::Direction;

    #[test]
    fn rows_appear_when_something_changed() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::existing(root.path().to_owned()).unwrap();
        let zero = Instant::from_nanos(5_000_000_000);
        let place = |direction, pipe| ("backbone".to_owned(), PipePlace { link: 0, direction, pipe });
        let pipes = vec![place(Direction::Forward, None), place(Direction::Backward, Some("voip".into()))];
        let mut sampler = Sampler::create(&folder, pipes, zero).unwrap();
        let idle = PipeCounters::default();
        let mut busy = PipeCounters::default();
        busy.departed.bytes = 12_500;
        sampler.sample(zero, Duration::ZERO, vec![idle, idle]).unwrap();
        assert_eq!(sampler.busiest(), None);
        let later = zero + INTERVAL;
        assert_eq!(sampler.due(), later);
        sampler.sample(later, INTERVAL, vec![idle, busy]).unwrap();
        let busiest = sampler.busiest().unwrap();
        assert_eq!((busiest.direction.as_str(), busiest.bits_per_second), ("backward", 1e6));
        let text = std::fs::read_to_string(root.path().join("samples.csv")).unwrap();
        assert_eq!(
            text.lines().nth(1).unwrap(),
            "0.100,backbone,backward,voip,0,0,0,12500,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
        );
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| line.split(',').count() == 25), "{text}");
    }

    #[test]
    fn short_simulations_have_more_digits() {
        let texts = [0, 2, 2_346, 100_000, 12_000_500].map(|us| seconds(Duration::from_micros(us)));
        assert_eq!(texts, ["0.000", "0.000002", "0.002346", "0.100", "12.0005"]);
    }

    #[test]
    fn a_late_sample_leaves_out_what_was_missed() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::existing(root.path().to_owned()).unwrap();
        let mut sampler = Sampler::create(&folder, Vec::new(), Instant::ZERO).unwrap();
        sampler.sample(Instant::from_nanos(250_000_000), Duration::from_millis(250), Vec::new()).unwrap();
        assert_eq!(sampler.due(), Instant::from_nanos(300_000_000));
    }
}
