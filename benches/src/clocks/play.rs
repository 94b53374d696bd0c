//! One run of a lab file under a clock, as a user would start it.

use crate::settings::Settings;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A clock, as `--clock` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clock {
    Real,
    Dilated(u32),
    Virtual,
}

impl Clock {
    pub(crate) fn argument(self) -> String {
        match self {
            Self::Real => "real".to_owned(),
            Self::Dilated(factor) => factor.to_string(),
            Self::Virtual => "virtual".to_owned(),
        }
    }

    /// For tables and figures.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Real => "this machine's kernel".to_owned(),
            Self::Dilated(factor) => format!("dilation {factor}"),
            Self::Virtual => "virtual".to_owned(),
        }
    }
}

/// A run that ended well, or whose network was not as described.
pub(crate) struct Played {
    /// From the start of `netloom run` to its end.
    pub(crate) wall: Duration,
    pub(crate) folder: PathBuf,
    report: Value,
}

/// The exit code of a run whose network was not as described.
const NOT_AS_DESCRIBED: i32 = 5;

/// Runs a lab file.
pub(crate) fn play(settings: &Settings, file: &Path, clock: Clock, seed: u64) -> Result<Played, String> {
    let results = settings.output.join("runs");
    let mut command = Command::new(&settings.netloom);
    command.arg("run").arg(file).args(["--json", "--quiet", "--clock", &clock.argument()]);
    ended(command.args(["--seed", &seed.to_string()]).arg("--results").arg(&results))
}

/// Waits for a command that writes its report to standard output.
fn ended(command: &mut Command) -> Result<Played, String> {
    let begin = Instant::now();
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let wall = begin.elapsed();
    if !done.status.success() && done.status.code() != Some(NOT_AS_DESCRIBED) {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{command:?} failed with {}: {said}", done.status));
    }
    let report: Value = serde_json::from_slice(&done.stdout).map_err(|error| format!("{command:?}: {error}"))?;
    let folder = report["results"].as_str().map(PathBuf::from).ok_or("the report names no results")?;
    Ok(Played { wall, folder, report })
}

/// Simulates the lab that `yaml` describes, all but its name, with its sources.
pub(crate) fn simulate(settings: &Settings, name: &str, yaml: &str) -> Result<Played, String> {
    let file = written(settings, name, &format!("name: bench-{name}\n{yaml}"))?;
    let mut command = Command::new(&settings.netloom);
    command.arg("sim").arg(&file).args(["--json", "--quiet", "--no-report"]);
    ended(command.arg("--results").arg(settings.output.join("runs")))
}

/// Runs the lab that `yaml` describes, all but its name.
pub(crate) fn play_text(
    settings: &Settings,
    name: &str,
    yaml: &str,
    clock: Clock,
    seed: u64,
) -> Result<Played, String> {
    let file = written(settings, name, &format!("name: bench-{name}\n{yaml}"))?;
    play(settings, &file, clock, seed)
}

/// A lab file of `examples/papers/time-warp`, with some of its text replaced.
pub(crate) fn example<T: AsRef<str>>(
    settings: &Settings,
    name: &str,
    changes: &[(&str, T)],
) -> Result<PathBuf, String> {
    let path = settings.examples.join(format!("{name}.yaml"));
    let mut text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    for (old, new) in changes {
        if !text.contains(old) {
            return Err(format!("{} lacks `{old}`, which is to be varied", path.display()));
        }
        text = text.replace(old, new.as_ref());
    }
    written(settings, name, &text)
}

/// A lab of kernels on a ring, up to its timeline, whose entries follow. Links have `rate` and a millisecond.
pub(crate) fn ring(nodes: u32, rate: &str) -> String {
    let each = |line: &dyn Fn(u32) -> String| (0..nodes).map(line).collect::<String>();
    let kernels = each(&|node| format!("  n{node}: {{kind: router, memory: 64 MB}}\n"));
    let links = each(&|node| {
        let next = (node + 1) % nodes;
        format!("  l{node}: {{ends: [n{node}, n{next}], rate: {rate}, delay: 1 ms}}\n")
    });
    format!("nodes:\n{kernels}links:\n{links}timeline:\n")
}

fn written(settings: &Settings, name: &str, text: &str) -> Result<PathBuf, String> {
    let file = settings.output.join(format!("{name}.yaml"));
    let failed = |error| format!("writing {}: {error}", file.display());
    std::fs::create_dir_all(&settings.output).and_then(|()| std::fs::write(&file, text)).map_err(failed)?;
    Ok(file)
}

impl Played {
    pub(crate) fn as_described(&self) -> bool {
        self.report["exit_code"] == 0
    }

    /// What to say beside a figure of a run that was not as described.
    pub(crate) fn remark(&self) -> &'static str {
        if self.as_described() { "" } else { ", not as described" }
    }

    /// How long the run lasted in lab time, from time zero on.
    pub(crate) fn lab_seconds(&self) -> f64 {
        self.report["duration_ns"].as_f64().unwrap_or_default() / 1e9
    }

    /// Packets that links delivered.
    pub(crate) fn packets(&self) -> f64 {
        self.departed("departed_packets")
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.departed("departed_bytes")
    }

    fn departed(&self, column: &str) -> f64 {
        self.report["pipes"].as_array().into_iter().flatten().filter_map(|pipe| pipe[column].as_f64()).sum()
    }

    /// How often kernels were let run, in virtual time.
    pub(crate) fn grants(&self) -> u64 {
        self.report["effort"]["scheduler"]["grants"].as_u64().unwrap_or_default()
    }

    /// How many processors the nodes kept busy on average, from time zero on.
    pub(crate) fn processors(&self) -> f64 {
        let nodes = self.report["effort"]["nodes"].as_array().into_iter().flatten();
        nodes.filter_map(|node| node["ran_share"].as_f64()).sum()
    }

    /// The same of the scheduler of virtual time.
    pub(crate) fn scheduler(&self) -> f64 {
        let effort = &self.report["effort"];
        let ran = effort["scheduler"]["ran_ns"].as_f64().unwrap_or_default();
        ran / effort["wall_ns"].as_f64().unwrap_or(1.0).max(1.0)
    }

    /// For how long nodes did, all in all.
    pub(crate) fn busy_seconds(&self) -> f64 {
        self.processors() * self.lab_wall_seconds()
    }

    /// The wall time from time zero to the end of the lab.
    pub(crate) fn lab_wall_seconds(&self) -> f64 {
        self.report["effort"]["wall_ns"].as_f64().unwrap_or_default() / 1e9
    }

    /// The wall time of a second of lab time.
    pub(crate) fn pace(&self) -> f64 {
        self.lab_wall_seconds() / self.lab_seconds()
    }

    pub(crate) fn wall_seconds(&self) -> f64 {
        self.wall.as_secs_f64()
    }

    /// What a command wrote to its standard output.
    pub(crate) fn stdout(&self, command: &str) -> Result<String, String> {
        let commands = self.report["commands"].as_array().into_iter().flatten();
        let row = commands.into_iter().find(|row| row["name"] == command);
        let path = row.and_then(|row| row["stdout"].as_str()).ok_or_else(|| format!("no command {command} ran"))?;
        let path = self.folder.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))
    }

    /// The throughput of each of a command's iperf3 flows at their receiver, in Mbit/s.
    pub(crate) fn flows(&self, command: &str) -> Result<Vec<f64>, String> {
        let mut flows = Vec::new();
        // A command may have started several of them.
        for json in serde_json::Deserializer::from_str(&self.stdout(command)?).into_iter::<Value>() {
            let json = json.map_err(|error| format!("iperf3's output: {error}"))?;
            if let Some(error) = json.get("error") {
                return Err(format!("iperf3: {error}"));
            }
            let streams = json["end"]["streams"].as_array().ok_or("iperf3 told of no streams")?;
            let rates = streams.iter().filter_map(|stream| stream["receiver"]["bits_per_second"].as_f64());
            flows.extend(rates.map(|bits| bits / 1e6));
        }
        Ok(flows)
    }
}
