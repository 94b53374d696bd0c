//! What is compared, by which commands, and how fast Netloom is to be.

use super::installed::{Installed, on_path};
use super::play::{Entrant, LIMIT};
use super::scenario::Scenario;
use super::scenarios::{self, CALLS, ETCD, LINK, LINK_PACKETS};
use super::theory::Theory;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const NETLOOM: &str = "netloom";
pub(super) const SHADOW: &str = "shadow";
pub(super) const NS3: &str = "ns-3";
/// The same without IP.
pub(super) const NS3_FRAMES: &str = "ns-3-frames";
/// What a system that runs the same in another form is called.
pub(super) const OTHER: &str = "hand-written";
/// How many runs the sweep has.
pub(super) const RUNS: u32 = 8;

/// A workload that several systems run.
pub(super) struct Contest {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) theory: Theory,
    pub(super) kind: Kind,
}

/// How a workload is run, and what is asked of it.
pub(super) enum Kind {
    /// Programs, beside Shadow, of whose wall time it takes this share at most, and beside models of ns-3, if there are any.
    Programs { scenario: fn(&str) -> Scenario, models: &'static [&'static str], most: f64 },
    /// The file for Shadow, beside the lab that was written by hand.
    Converted { scenario: fn(&str) -> Scenario },
    /// The delay in the middle of the way, beside the delay at the hosts.
    Middle,
    /// Links alone.
    Link,
    /// Kernels that do nothing.
    Kernels,
    /// System calls, beside as many that a bare process answers.
    Calls,
    /// Many runs, two at once.
    Sweep,
}

const fn programs(
    name: &'static str,
    title: &'static str,
    theory: Theory,
    scenario: fn(&str) -> Scenario,
    models: &'static [&'static str],
) -> Contest {
    Contest { name, title, theory, kind: Kind::Programs { scenario, models, most: 1.0 } }
}

const fn by_iperf3(name: &'static str, title: &'static str, mbit: f64, scenario: fn(&str) -> Scenario) -> Contest {
    Contest { name, title, theory: Theory::Flow { mbit }, kind: Kind::Programs { scenario, models: &[], most: 1.5 } }
}

const fn other(name: &'static str, title: &'static str, theory: Theory, kind: Kind) -> Contest {
    Contest { name, title, theory, kind }
}

const TCP_100: Theory = Theory::Flow { mbit: 100.0 };
const TCP_1000: Theory = Theory::Flow { mbit: 1_000.0 };

pub(super) const CONTESTS: [Contest; 16] = [
    programs(
        "tcp-100",
        "one TCP flow, 120 MB at 100 Mbit/s",
        TCP_100,
        |programs| scenarios::bulk(programs, 100),
        &["bulk", "100Mbps", "120000000", "1000p"],
    ),
    programs(
        "tcp-1000",
        "one TCP flow, 1.2 GB at 1 Gbit/s",
        TCP_1000,
        |programs| scenarios::bulk(programs, 1_000),
        &["bulk", "1Gbps", "1200000000", "2000p"],
    ),
    by_iperf3("iperf3-100", "the same by iperf3, 100 Mbit/s", 100.0, |_| scenarios::iperf3(100)),
    by_iperf3("iperf3-1000", "the same by iperf3, 1 Gbit/s", 1_000.0, |_| scenarios::iperf3(1_000)),
    programs("pairs", "25 pairs of hosts, 6 MB each at 10 Mbit/s", Theory::Flows, scenarios::pairs, &["pairs"]),
    programs("files", "100 hosts fetch 10 files of 1 MB each", Theory::Files, scenarios::files, &["fetch"]),
    programs("pings", "20 hosts, a datagram per second for an hour", Theory::Pings, scenarios::pings, &["ping"]),
    programs("datagrams", "200,000 datagrams between programs", Theory::Packets(200_000), scenarios::datagrams, &[]),
    programs("etcd", "three etcd members and a client, 31 s", Theory::Keys, scenarios::etcd, &[]),
    other("etcd-sweep", "the same with other seeds, two at once", Theory::Keys, Kind::Sweep),
    other(
        "tcp-100-converted",
        "tcp-100 as a file for Shadow",
        TCP_100,
        Kind::Converted { scenario: |programs| scenarios::bulk(programs, 100) },
    ),
    other(
        "files-converted",
        "files as a file for Shadow",
        Theory::Files,
        Kind::Converted { scenario: scenarios::files },
    ),
    other("middle", "a TCP flow over 10 ms between transit routers", TCP_100, Kind::Middle),
    other("kernels", "200 kernels, idle for a minute of lab time", Theory::Nothing, Kind::Kernels),
    other("calls", "a million system calls of a program", Theory::Packets(CALLS), Kind::Calls),
    other("link", "800,000 packets over a link, without programs", Theory::Packets(LINK_PACKETS), Kind::Link),
];

impl Contest {
    /// Those of the systems that are installed, with their files written.
    pub(super) fn entrants(&self, installed: &Installed) -> Result<Vec<Entrant>, String> {
        let field = Field { installed, name: self.name, folder: installed.folder.join(self.name) };
        let programs = &installed.programs;
        match &self.kind {
            Kind::Programs { scenario, models, .. } => {
                let scenario = scenario(programs);
                let mut all = vec![field.run(NETLOOM, &field.lab(&scenario, 1)?, &[])?];
                all.extend(field.shadow(&scenario, &[&[]])?);
                all.extend(field.models(NS3, models));
                Ok(all)
            }
            Kind::Converted { scenario } => {
                let scenario = scenario(programs);
                let file = field.write("shadow", &scenario.shadow())?;
                let converted = field.run(NETLOOM, &file, &["--from", "shadow", "--clock", "virtual"])?;
                Ok(vec![converted, field.run(OTHER, &field.lab(&scenario, 1)?, &[])?])
            }
            Kind::Middle => {
                let lab = |is_in_the_middle: bool, word| {
                    field.write(word, &scenarios::path(programs, is_in_the_middle).lab(self.name, 1))
                };
                Ok(vec![
                    field.run(NETLOOM, &lab(true, "middle")?, &[])?,
                    field.run(OTHER, &lab(false, "access")?, &[])?,
                ])
            }
            Kind::Link => {
                let file = field.write("netloom", LINK)?;
                let simulate = field.netloom("sim", &file, &["--no-plots", "--no-report", "--quiet", "--json"]);
                let mut all = vec![field.entrant(NETLOOM, vec![simulate])];
                all.extend(field.models(NS3, &["packets"]));
                all.extend(field.models(NS3_FRAMES, &["frames"]));
                Ok(all)
            }
            Kind::Kernels => Ok(vec![field.run(NETLOOM, &field.lab(&scenarios::kernels(), 1)?, &[])?]),
            Kind::Calls => {
                let bare = [programs.clone(), "notified".to_owned(), CALLS.to_string()];
                let lab = field.lab(&scenarios::calls(programs), 1)?;
                Ok(vec![field.run(NETLOOM, &lab, &[])?, field.entrant(OTHER, vec![bare.into()])])
            }
            Kind::Sweep => {
                let scenario = scenarios::etcd(programs);
                let sweep = field.sweep(&field.lab(&scenario, RUNS)?);
                let pinned: [&[&str]; 2] = [&["0", "1"], &["1", "2"]];
                Ok(std::iter::once(sweep).chain(field.shadow(&scenario, &pinned)?).collect())
            }
        }
    }

    /// What the contest needs besides and is not there.
    pub(super) fn lacks(&self) -> Option<String> {
        let program = match self.name {
            "etcd" | "etcd-sweep" => ETCD,
            "iperf3-100" | "iperf3-1000" => "/usr/bin/iperf3",
            _ => return None,
        };
        on_path(Path::new(program)).is_none().then(|| format!("{program} is not installed"))
    }
}

/// Where the files of a contest are.
struct Field<'a> {
    installed: &'a Installed,
    name: &'static str,
    folder: PathBuf,
}

impl Field<'_> {
    fn write(&self, word: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.installed.folder.join(format!("{}.{word}.yaml", self.name));
        fs::write(&path, text).map_err(|error| format!("writing {}: {error}", path.display()))?;
        Ok(path)
    }

    fn lab(&self, scenario: &Scenario, repeat: u32) -> Result<PathBuf, String> {
        self.write("netloom", &scenario.lab(self.name, repeat))
    }

    fn entrant(&self, system: &'static str, commands: Vec<Vec<String>>) -> Entrant {
        Entrant { system, commands, folder: self.folder.join(system) }
    }

    fn netloom(&self, command: &str, file: &Path, more: &[&str]) -> Vec<String> {
        let words = [self.installed.netloom.display().to_string(), command.to_owned(), file.display().to_string()];
        words.into_iter().chain(more.iter().map(|&word| word.to_owned())).collect()
    }

    /// A run without pictures, as most runs of a sweep are.
    fn run(&self, system: &'static str, file: &Path, more: &[&str]) -> Result<Entrant, String> {
        let limit = format!("{} s", LIMIT.as_secs());
        let mut words = self.netloom("run", file, &["--no-plots", "--no-report", "--quiet", "--wall-limit", &limit]);
        words.extend(["--name", self.name].map(str::to_owned));
        words.extend(more.iter().map(|&word| word.to_owned()));
        Ok(self.entrant(system, vec![words]))
    }

    fn sweep(&self, file: &Path) -> Entrant {
        let words = self.netloom("sweep", file, &["--out", "sweep", "--jobs", "2", "--no-report", "--yes", "--quiet"]);
        self.entrant(NETLOOM, vec![words])
    }

    /// One Shadow, or several at once, each with the processor that it stays on and its seed; none if it is not installed.
    fn shadow(&self, scenario: &Scenario, sides: &[&[&str]]) -> Result<Option<Entrant>, String> {
        let file = self.write("shadow", &scenario.shadow())?.display().to_string();
        let Ok(shadow) = &self.installed.shadow else { return Ok(None) };
        let command = |(number, side): (usize, &&[&str])| {
            let mut words = Vec::new();
            if let [processor, _] = side[..] {
                words.extend(["taskset", "-c", processor].map(str::to_owned));
            }
            words.extend([shadow.display().to_string(), "-d".to_owned(), format!("data-{number}")]);
            if let [_, seed] = side[..] {
                words.extend(["--parallelism", "1", "--seed", seed].map(str::to_owned));
            }
            words.push(file.clone());
            words
        };
        Ok(Some(self.entrant(SHADOW, sides.iter().enumerate().map(command).collect())))
    }

    fn models(&self, system: &'static str, words: &[&str]) -> Option<Entrant> {
        let models = self.installed.models.as_ref().ok().filter(|_| !words.is_empty())?;
        let command = std::iter::once(models.display().to_string()).chain(words.iter().map(|&word| word.to_owned()));
        Some(self.entrant(system, vec![command.collect()]))
    }
}
