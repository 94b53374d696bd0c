//! `provenance.json`: where the results come from. It is written before anything else.

use crate::NamedFile;
use netloom_lab::{Clock, OnSpin};
use nix::sys::utsname::{UtsName, uname};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::SystemTime;

/// The part of a run's provenance that the caller knows.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The command that was given.
    pub mode: &'static str,
    /// The lab's name.
    pub lab: String,
    /// The path of the lab file.
    pub lab_file: PathBuf,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The clock that is really used.
    pub clock: Clock,
    /// The treatment of programs that compute for long in virtual time.
    pub on_spin: OnSpin,
    /// The variables that every program has in its environment, with their values.
    pub environment: &'static [(&'static str, &'static str)],
    /// The variables that nodes inherit from the user's environment, by name; none: there is no such variable.
    pub inherited: BTreeMap<String, Option<String>>,
    /// The highest level of x86-64 processors that this machine has; none if it has another architecture.
    pub processor_level: Option<&'static str>,
    /// The kernel that kernel nodes run on, if there are any.
    pub node_kernel: Option<NodeKernel>,
    /// The QEMU that virtual machines run on, if there are any.
    pub qemu: Option<QemuOrigin>,
    /// The container images of nodes, by the nodes' names.
    pub images: BTreeMap<String, ImageOrigin>,
    /// The programs of this machine that nodes run.
    pub programs: Vec<ProgramOrigin>,
    /// The precision with which the engine releases packets, by its name in the lab file.
    pub precision: &'static str,
    /// The number of threads that the engine has; none in virtual time.
    pub shards: Option<usize>,
    /// The command, word by word.
    pub command_line: Vec<String>,
    /// The files that the lab file names, and their copies.
    pub files: Vec<NamedFile>,
    /// The time at which the run began.
    pub started: SystemTime,
}

/// The provenance of results: program, lab, settings and machine.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    netloom_version: &'static str,
    netloom_commit: Option<&'static str>,
    /// `run`, `up` or `sim`.
    mode: &'static str,
    lab: String,
    lab_file: PathBuf,
    seed: u64,
    clock: &'static str,
    /// By how much lab time is slower than wall time; null in virtual time.
    dilation: Option<f64>,
    /// Whether lab time may go on while a program computes, so that runs may differ; null but in virtual time.
    on_spin: Option<&'static str>,
    /// What all programs have in their environment, whatever the lab file says of it.
    environment: BTreeMap<&'static str, &'static str>,
    /// What the lab file has nodes inherit of the user's environment; null: there is no such variable.
    inherited: BTreeMap<String, Option<String>>,
    /// Null without kernel nodes.
    node_kernel: Option<NodeKernel>,
    /// Null without virtual machines.
    qemu: Option<QemuOrigin>,
    /// By the nodes' names.
    images: BTreeMap<String, ImageOrigin>,
    /// By name. What shells and programs start themselves is not known before.
    programs: Vec<ProgramOrigin>,
    precision: &'static str,
    /// How many threads the engine has; null in virtual time.
    shards: Option<usize>,
    command_line: Vec<String>,
    /// What the lab file names, and where the copies are.
    files: Vec<NamedFile>,
    started_utc: String,
    user_id: u32,
    user_name: Option<String>,
    host_name: String,
    kernel: String,
    machine: String,
    processor: Option<String>,
    processor_level: Option<&'static str>,
    processors: usize,
    clock_source: Option<String>,
    tcp_congestion_control: Option<String>,
}

/// The kernel that kernel nodes run on.
#[derive(Clone, Debug, Serialize)]
pub struct NodeKernel {
    /// The path of the kernel's file.
    pub path: PathBuf,
    /// The kernel's version.
    pub version: String,
    /// Whether `netloom kernel build` made the kernel.
    pub own_build: bool,
    /// The hash of the kernel's configuration; null for kernels from elsewhere.
    pub config_hash: Option<String>,
    /// The day on which the kernel was built, UTC; null if it does not say.
    pub built: Option<String>,
    /// The digest of the kernel's file; null if it cannot be read.
    pub digest: Option<String>,
}

/// The QEMU that virtual machines run on.
#[derive(Clone, Debug, Serialize)]
pub struct QemuOrigin {
    /// The path of QEMU's program.
    pub path: PathBuf,
    /// The version of QEMU.
    pub version: String,
    /// The accelerator of QEMU. `kvm`: this machine's processor executes what virtual machines do; `tcg`: QEMU
    /// translates it.
    pub accelerator: &'static str,
    /// The reason why KVM is not used; null if it is.
    pub without_kvm: Option<String>,
    /// The digest of QEMU's program; null if it cannot be read.
    pub digest: Option<String>,
}

/// A program of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ProgramOrigin {
    /// The program's name in the lab file.
    pub name: String,
    /// The path of the program's file.
    pub path: PathBuf,
    /// The digest of the program's file; null if it cannot be read.
    pub digest: Option<String>,
}

/// The container image of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageOrigin {
    /// The image's name in the lab file.
    pub source: String,
    /// The digest of the image's configuration; null for a folder that is no image.
    pub id: Option<String>,
    /// The digest of the image's manifest; null if it has none.
    pub manifest: Option<String>,
}

impl Provenance {
    /// Gathers the provenance of a run: its origin, and what the machine says about itself.
    pub fn gather(origin: &Origin) -> Self {
        Self {
            netloom_version: env!("CARGO_PKG_VERSION"),
            netloom_commit: option_env!("NETLOOM_COMMIT"),
            mode: origin.mode,
            lab: origin.lab.clone(),
            lab_file: origin.lab_file.clone(),
            seed: origin.seed,
            clock: origin.clock.name(),
            dilation: origin.clock.dilation().map(netloom_units::Dilation::as_f64),
            environment: origin.environment.iter().copied().collect(),
            inherited: origin.inherited.clone(),
            on_spin: (origin.clock == Clock::Virtual).then(|| origin.on_spin.name()),
            node_kernel: origin.node_kernel.clone(),
            qemu: origin.qemu.clone(),
            images: origin.images.clone(),
            programs: origin.programs.clone(),
            precision: origin.precision,
            shards: origin.shards,
            command_line: origin.command_line.clone(),
            files: origin.files.clone(),
            started_utc: humantime::format_rfc3339_millis(origin.started).to_string(),
            user_id: nix::unistd::getuid().as_raw(),
            user_name: std::env::var("USER").ok(),
            host_name: host_name(),
            kernel: format!("{} {}", told(UtsName::release), told(UtsName::version)),
            machine: told(UtsName::machine),
            processor: processor_model(),
            processor_level: origin.processor_level,
            processors: thread::available_parallelism().map_or(1, usize::from),
            clock_source: first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            tcp_congestion_control: first_line("/proc/sys/net/ipv4/tcp_congestion_control"),
        }
    }
}

/// Returns the name of this machine.
pub fn host_name() -> String {
    told(UtsName::nodename)
}

/// Asks the kernel for a word on this machine or on itself.
fn told(field: fn(&UtsName) -> &OsStr) -> String {
    uname().map_or_else(|_| String::new(), |name| field(&name).to_string_lossy().into_owned())
}

fn processor_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn first_line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.lines().next()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn provenance_names_the_seed_the_clock_and_the_kernels() {
        let node_kernel = NodeKernel {
            path: "/kernels/linux".into(),
            version: "7.3.4".into(),
            own_build: true,
            config_hash: Some("12ab".into()),
            built: Some("2026-11-22".into()),
            digest: Some("sha256:0123".into()),
        };
        let ping = ProgramOrigin { name: "ping".into(), path: "/bin/ping".into(), digest: None };
        let image = ImageOrigin { source: "debian:12".into(), id: Some("sha256:00".into()), manifest: None };
        let origin = Origin {
            mode: "run",
            lab: "dumbbell".into(),
            lab_file: "dumbbell.yaml".into(),
            seed: 7,
            clock: Clock::Dilated(netloom_units::Dilation::from_millionths(2_500_000).unwrap()),
            on_spin: OnSpin::Wait,
            environment: &[("TZ", "UTC0")],
            inherited: [("A".to_owned(), None)].into(),
            processor_level: Some("x86-64-v2"),
            node_kernel: Some(node_kernel),
            qemu: None,
            images: [("a".to_owned(), image)].into(),
            programs: vec![ping],
            precision: "balanced",
            shards: Some(1),
            command_line: vec!["netloom".into(), "run".into()],
            files: vec![],
            started: UNIX_EPOCH,
        };
        let value = serde_json::to_value(Provenance::gather(&origin)).unwrap();
        assert_eq!(value["seed"], 7);
        assert_eq!((&value["clock"], &value["dilation"]), (&"dilated".into(), &2.5.into()));
        assert_eq!(value["node_kernel"]["version"], "7.3.4");
        assert_eq!((&value["environment"]["TZ"], &value["inherited"]["A"]), (&"UTC0".into(), &serde_json::Value::Null));
        assert_eq!(value["images"]["a"]["id"], "sha256:00");
        assert_eq!(
            (&value["programs"][0]["path"], &value["node_kernel"]["digest"]),
            (&"/bin/ping".into(), &"sha256:0123".into())
        );
        assert_eq!(value["node_kernel"]["config_hash"], "12ab");
        assert_eq!(value["node_kernel"]["built"], "2026-11-22");
        assert_eq!(value["started_utc"], "1970-01-01T00:00:00.000Z");
        assert!(!value["kernel"].as_str().unwrap().trim().is_empty());
    }
}
