//! Cases that run in processes of their own, which have one thread, as all users that the tests can be.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::{Uid, chown, geteuid};
use tempfile::TempDir;

/// A case: its name, and what it does.
pub type Case = (&'static str, fn());

/// The ordinary user that root's tests become: "nobody" everywhere.
const USER: u32 = 65_534;

/// No case takes more than a few seconds on two busy cores.
const LIMIT: Duration = Duration::from_secs(60);

/// Tells a process which case to run.
const CASE: &str = "--case";

/// The beginning of a line in which a case says why it cannot be run on this machine; the runner shows it.
pub const NOT_RUN: &str = "not run here: ";

/// Runs the cases that the command line asks for, in the words of the usual test runner.
pub fn run(cases: &[Case], helpers: &[Case]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [CASE, name] = *arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        let (_, case) = cases.iter().chain(helpers).find(|(known, _)| *known == name).expect("a known case");
        case();
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--list") {
        cases.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let asked = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let users =
        if geteuid().is_root() { vec![Who::new(0), Who::new(USER)] } else { vec![Who::new(geteuid().as_raw())] };
    let (mut passed, mut failed, mut left_out) = (0, 0, 0);
    for who in &users {
        for (name, _) in cases.iter().filter(|(name, _)| asked(name)) {
            let test = format!("test {name} (as {}) ...", who.name());
            match who.run(name) {
                Ok(output) => match output.lines().find(|line| line.starts_with(NOT_RUN)) {
                    Some(why) => {
                        left_out += 1;
                        println!("{test} {why}");
                    }
                    None => {
                        passed += 1;
                        println!("{test} ok");
                    }
                },
                Err(output) => {
                    failed += 1;
                    println!("{test} FAILED\n{output}");
                }
            }
        }
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {word}. {passed} passed; {failed} failed; {left_out} ignored");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A user to run cases as, with a copy of this program and a home that this user may read.
struct Who {
    user: u32,
    home: TempDir,
}

impl Who {
    fn new(user: u32) -> Self {
        let home = tempfile::tempdir().expect("make a home for the tests");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).expect("keep it private");
        let who = Self { user, home };
        fs::copy(std::env::current_exe().expect("this program has a path"), who.program()).expect("copy this program");
        chown(who.home.path(), Some(Uid::from_raw(user)), None).expect("give the home to its user");
        who
    }

    fn program(&self) -> PathBuf {
        self.home.path().join("system-test")
    }

    fn name(&self) -> &'static str {
        if self.user == 0 { "root" } else { "user" }
    }

    /// Runs one case; what it has printed, which is also the error.
    fn run(&self, case: &str) -> Result<String, String> {
        let mut command = Command::new(self.program());
        command.args([CASE, case]).env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.home.path());
        let output = self.home.path().join("output");
        let file = fs::File::create(&output).expect("make a file for the output");
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("copy a descriptor")).stderr(file);
        command.current_dir("/");
        if geteuid().is_root() && self.user != 0 {
            command.uid(self.user).gid(self.user);
        }
        let ended = command.spawn().map_err(|error| format!("start the case: {error}")).and_then(wait);
        let printed = read(&output);
        ended.map_err(|error| format!("{printed}\n{error}")).map(|()| printed)
    }
}

fn wait(mut child: Child) -> Result<(), String> {
    let end = Instant::now() + LIMIT;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if Instant::now() > end => {
                child.kill().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                return Err(format!("not done after {} s", LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
