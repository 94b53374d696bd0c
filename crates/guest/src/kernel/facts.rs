//! What a kernel's binary says about itself.

use super::build::Mark;
use super::options::options_of;
use crate::kernel::Version;
use netloom_units::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The properties of a kernel, read from its binary and never guessed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its release, as `uname -r` says inside: "7.3.4-netloom".
    pub version: String,
    /// Whether it can live in virtual time (`CONFIG_UML_TIME_TRAVEL_SUPPORT`).
    pub time_travel: bool,
    /// Whether it knows `seccomp=on`, with which a system call inside costs far less.
    pub seccomp: bool,
    /// Jiffies per second: the grain of TCP's coarse timers.
    pub hz: u32,
    /// The modules that a kernel node needs because this kernel does not have them built in, so that they must be loaded inside; empty for own builds.
    pub modules_needed: Vec<String>,
    /// The day on which it was built, UTC, as its configuration says; none if that does not.
    #[serde(default, with = "day")]
    pub day: Option<Date>,
}

/// A day in `kernel.json`: "2026-11-22".
mod day {
    use super::Date;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(day: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
        day.map(|day| day.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}

/// What no kernel node works without: the option, and the module that has it if it is not built in.
const NEEDED: [(&str, &str); 9] = [
    ("VIRTIO_UML", "virtio_uml"),
    ("VIRTIO_NET", "virtio_net"),
    ("HOSTFS", "hostfs"),
    ("OVERLAY_FS", "overlay"),
    ("TMPFS", "tmpfs"),
    ("PROC_FS", "proc"),
    ("PACKET", "af_packet"),
    ("NET_NS", "net_namespace"),
    ("INET", "inet"),
];

/// A kernel answers at once; a program that does not is not a kernel.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of an unusable answer is quoted.
const LONGEST_QUOTE: usize = 80;

/// A configuration has some 40 KB; this much of an answer is read at most.
const LONGEST_ANSWER: u64 = 4 << 20;

impl Facts {
    /// Asks the kernel at `path`.
    ///
    /// # Errors
    /// A sentence that says what the binary did not answer, or what it lacks.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let version = ask(path, "--version")?.trim().to_owned();
        if version.parse::<Version>().is_err() {
            let said: String = version.chars().take(LONGEST_QUOTE).collect();
            return Err(format!("asked for its version, it says {said:?}"));
        }
        let options = options_of(&config(path)?);
        let seccomp = ask(path, "--help")?.lines().any(|line| line.starts_with("seccomp="));
        Self::judge(version, &options, seccomp)
    }

    fn judge(version: String, options: &BTreeMap<String, String>, seccomp: bool) -> Result<Self, String> {
        let value = |option: &str| options.get(option).map(String::as_str);
        if value("UML") != Some("y") {
            return Err("its configuration is not that of User-Mode Linux".to_owned());
        }
        let missing: Vec<&str> =
            NEEDED.iter().map(|(option, _)| *option).filter(|option| value(option).is_none()).collect();
        if !missing.is_empty() {
            return Err(format!("it was built without CONFIG_{}", missing.join(", CONFIG_")));
        }
        let hz = value("HZ").and_then(|hz| hz.parse().ok()).ok_or("its configuration does not say CONFIG_HZ")?;
        let as_modules = NEEDED.iter().filter(|(option, _)| value(option) == Some("m"));
        let modules_needed = as_modules.map(|(_, module)| (*module).to_owned()).collect();
        let time_travel = value("UML_TIME_TRAVEL_SUPPORT") == Some("y");
        let day = Mark::of(options).map(|mark| mark.day);
        Ok(Self { version, time_travel, seccomp, hz, modules_needed, day })
    }
}

/// The configuration that the kernel at `path` was built with, as a file `.config`.
pub(crate) fn config(path: &Path) -> Result<String, String> {
    ask(path, "--showconfig")
}

/// What the kernel prints on standard output when it is called with one argument, after which it ends by itself.
fn ask(path: &Path, question: &str) -> Result<String, String> {
    let mut command = Command::new(path);
    command.arg(question).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let output = child.stdout.take().expect("standard output is a pipe");
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        output.take(LONGEST_ANSWER).read_to_end(&mut text).map(|_| text)
    });
    // What has not ended is killed, which closes the pipe that the thread reads.
    let ended = wait(&mut child);
    if !ended {
        // The process may have ended in between, which is as good.
        child.kill().ok();
        child.wait().ok();
        return Err(format!("asked with {question}, it does not end"));
    }
    let text =
        reader.join().expect("reading does not panic").map_err(|error| format!("reading its answer: {error}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether the process ended in time.
fn wait(child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => thread::sleep(Duration::from_millis(2)),
            Ok(Some(_)) => return true,
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBIAN: &str = "CONFIG_UML=y\nCONFIG_HZ=100\nCONFIG_LOCALVERSION=\"\"\nCONFIG_VIRTIO_UML=y\nCONFIG_HOSTFS=y\n\
        CONFIG_VIRTIO_NET=m\nCONFIG_OVERLAY_FS=m\nCONFIG_TMPFS=y\nCONFIG_PROC_FS=y\nCONFIG_PACKET=y\nCONFIG_NET_NS=y\n\
        # CONFIG_UML_NET_MCAST is not set\nCONFIG_INET=y\n";

    fn judged(config: &str) -> Result<Facts, String> {
        Facts::judge("6.1.176".to_owned(), &options_of(config), false)
    }

    #[test]
    fn a_configuration_tells_what_a_kernel_can_do() {
        let facts = judged(DEBIAN).unwrap();
        assert_eq!((facts.hz, facts.time_travel), (100, false));
        assert_eq!(facts.modules_needed, ["virtio_net", "overlay"]);
        let able = judged(&format!("{DEBIAN}CONFIG_UML_TIME_TRAVEL_SUPPORT=y\n")).unwrap();
        assert!(able.time_travel);
    }

    #[test]
    fn a_kernel_without_what_nodes_need_is_refused_with_the_option() {
        let error = judged(&DEBIAN.replace("CONFIG_HOSTFS=y", "# CONFIG_HOSTFS is not set")).unwrap_err();
        assert_eq!(error, "it was built without CONFIG_HOSTFS");
        assert!(judged("CONFIG_X86=y\n").unwrap_err().contains("User-Mode Linux"));
    }

    #[test]
    fn of_an_answer_that_is_none_a_little_is_quoted() {
        let (folder, program) = (tempfile::tempdir().unwrap(), "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n");
        let path = folder.path().join("linux");
        std::fs::write(&path, program).unwrap();
        netloom_testing::programs::make_executable(&path);
        let error = Facts::read(&path).unwrap_err();
        assert!(error.contains("xxxx") && error.len() < 200, "{error}");
    }

    #[test]
    fn programs_that_are_no_kernels_are_told_apart() {
        assert!(Facts::read(Path::new("/bin/cat")).is_err());
        assert!(Facts::read(Path::new("/nowhere/linux")).unwrap_err().contains("cannot be started"));
    }
}
