//! A running lab, driven through the command line as a user drives it.

use crate::settings::Settings;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A lab that is up; dropping it takes it down.
pub(crate) struct Lab {
    netloom: PathBuf,
    name: String,
    file: PathBuf,
}

/// Takes down what labs are left when this program is ended: a process of its own, which outlives it.
pub(crate) struct Guard(Child);

/// Told to the guard when all is well.
const DONE: &[u8] = b"done\n";

impl Guard {
    pub(crate) fn start(netloom: &Path) -> Result<Self, String> {
        // Its standard input ends when nobody holds the other end any more. A lab that is just being set up can be taken
        // down when it is up.
        let script = format!(
            "read -r word; if [ \"$word\" = done ]; then exit; fi; \
             for round in 1 2 3 4 5 6 7 8 9; do sleep 1; \
             \"$0\" ps --json | grep -o 'bench-[a-z0-9-]*-{}' | sort -u | \
             while read -r lab; do \"$0\" down \"$lab\"; rm -f \"{}/$lab.yaml\"; done; done",
            std::process::id(),
            std::env::temp_dir().display()
        );
        let mut command = Command::new("sh");
        // What ends this program by a key would end its whole group.
        command.args(["-c", &script]).arg(netloom).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|error| format!("starting a guard of labs: {error}"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A guard that is gone already needs no request.
        let _ = self.0.stdin.take().map(|mut pipe| pipe.write_all(DONE));
        let _ = self.0.wait();
    }
}

/// Runs a program and gives its standard output; an error tells what it wrote to the other.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        return String::from_utf8(stdout).map_err(|error| format!("{command:?}: {error}"));
    }
    Err(format!("{command:?} failed with {status}: {}", String::from_utf8_lossy(&stderr)))
}

impl Lab {
    /// Sets up the lab that `yaml` describes, all but its name.
    pub(crate) fn up(settings: &Settings, name: &str, yaml: &str) -> Result<Self, String> {
        let name = format!("bench-{name}-{}", std::process::id());
        let file = std::env::temp_dir().join(format!("{name}.yaml"));
        std::fs::write(&file, format!("name: {name}\n{yaml}"))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let lab = Self { netloom: settings.netloom.clone(), name, file };
        output(Command::new(&lab.netloom).arg("up").arg(&lab.file).arg("--results").arg(lab.results()))?;
        Ok(lab)
    }

    /// Runs a shell command in a node and gives its output.
    pub(crate) fn shell(&self, node: &str, script: &str) -> Result<String, String> {
        output(&mut self.exec(node, &["sh", "-c", script]))
    }

    /// A program in a node, ready to be started.
    pub(crate) fn exec(&self, node: &str, argv: &[&str]) -> Command {
        let mut command = self.command();
        command.args(["exec", &self.name, node, "--"]).args(argv);
        command
    }

    /// The process of which all others of the lab descend.
    pub(crate) fn pid(&self) -> Result<i32, String> {
        let json = output(self.command().args(["ps", "--json"]))?;
        let labs: serde_json::Value = serde_json::from_str(&json).map_err(|error| format!("netloom ps: {error}"))?;
        let lab = labs.as_array().into_iter().flatten().find(|lab| lab["name"] == self.name.as_str());
        let pid = lab.and_then(|lab| i32::try_from(lab["pid"].as_i64()?).ok());
        pid.ok_or_else(|| format!("netloom ps does not list {}", self.name))
    }

    /// Changes a link.
    pub(crate) fn set(&self, link: &str, change: &str) -> Result<(), String> {
        output(self.command().args(["set", &self.name, link, change])).map(drop)
    }

    /// Takes the lab down and says how long that took.
    pub(crate) fn down(self) -> Result<Duration, String> {
        let begin = Instant::now();
        let done =
            self.command().args(["down", &self.name]).output().map_err(|error| format!("netloom down: {error}"))?;
        // What the lab was to show is measured apart from its verdict.
        match done.status.code() {
            Some(0 | 1 | 5) => Ok(begin.elapsed()),
            _ => Err(format!("netloom down: {}: {}", done.status, String::from_utf8_lossy(&done.stderr))),
        }
    }

    /// Where its results go, which nobody wants.
    fn results(&self) -> PathBuf {
        self.file.with_extension("results")
    }

    fn command(&self) -> Command {
        Command::new(&self.netloom)
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // After `down` there is nothing left to do, and the answer that there is no such lab is of no interest.
        let _ = self.command().args(["down", &self.name]).output();
        let _ = std::fs::remove_file(&self.file);
        let _ = std::fs::remove_dir_all(self.results());
    }
}
