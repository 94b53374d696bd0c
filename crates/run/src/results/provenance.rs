//! `provenance.json`: where the results come from. It is written before anything else.

use super::NamedFile;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::SystemTime;

/// What the caller knows about a run.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) lab: String,
    pub(crate) lab_file: PathBuf,
    pub(crate) seed: u64,
    pub(crate) clock: &'static str,
    pub(crate) precision: &'static str,
    pub(crate) command_line: Vec<String>,
    pub(crate) files: Vec<NamedFile>,
    pub(crate) started: SystemTime,
}

/// Where the results come from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Provenance {
    netloom_version: &'static str,
    netloom_commit: Option<&'static str>,
    lab: String,
    lab_file: PathBuf,
    seed: u64,
    clock: &'static str,
    precision: &'static str,
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
    processors: usize,
    clock_source: Option<String>,
    tcp_congestion_control: Option<String>,
}

impl Provenance {
    /// Gathers what the machine says about itself.
    pub(crate) fn gather(origin: &Origin) -> Self {
        let system = nix::sys::utsname::uname().ok();
        let told = |field: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
            system.as_ref().map_or_else(String::new, |name| field(name).to_string_lossy().into_owned())
        };
        Self {
            netloom_version: env!("CARGO_PKG_VERSION"),
            netloom_commit: option_env!("NETLOOM_COMMIT"),
            lab: origin.lab.clone(),
            lab_file: origin.lab_file.clone(),
            seed: origin.seed,
            clock: origin.clock,
            precision: origin.precision,
            command_line: origin.command_line.clone(),
            files: origin.files.clone(),
            started_utc: humantime::format_rfc3339_millis(origin.started).to_string(),
            user_id: nix::unistd::getuid().as_raw(),
            user_name: std::env::var("USER").ok(),
            host_name: told(|name| name.nodename()),
            kernel: format!("{} {}", told(|name| name.release()), told(|name| name.version())),
            machine: told(|name| name.machine()),
            processor: processor_model(),
            processors: thread::available_parallelism().map_or(1, usize::from),
            clock_source: first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            tcp_congestion_control: first_line("/proc/sys/net/ipv4/tcp_congestion_control"),
        }
    }
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
    fn provenance_names_the_seed_and_the_kernel() {
        let origin = Origin {
            lab: "dumbbell".into(),
            lab_file: "dumbbell.yaml".into(),
            seed: 7,
            clock: "real",
            precision: "balanced",
            command_line: vec!["netloom".into(), "run".into()],
            files: vec![],
            started: UNIX_EPOCH,
        };
        let value = serde_json::to_value(Provenance::gather(&origin)).unwrap();
        assert_eq!(value["seed"], 7);
        assert_eq!(value["started_utc"], "1970-01-01T00:00:00.000Z");
        assert!(!value["kernel"].as_str().unwrap().trim().is_empty());
    }
}
