//! A test fixture: a folder of its own, the netloom program as a user would start it, and a look for what it left behind. What still runs
//! when the fixture is dropped, because its test failed, is [ended](remains).

use crate::remains;
use crate::turn::{self, Turn, Use};
use netloom_guest::kernel::{Need, find};
use netloom_testing::processes;
pub(crate) use netloom_testing::processes::{children, lab_of, ports_here};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The user that stands for all users without privileges.
const NOBODY: u32 = 65_534;
/// How long leftovers may take to go: the kernel removes a killed lab's namespaces in the background.
const LONGEST_CLEANUP: Duration = Duration::from_secs(100);

/// Who starts netloom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The user that runs the tests, which is root on a build machine.
    Own,
    /// A user without privileges.
    Nobody,
}

/// Says something past the test harness, which shows what a test prints only if it fails.
pub(crate) fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Says what is not run on this machine.
pub(crate) fn not_run(what: &str) {
    tell(&format!("not run here: {what}"));
}

/// Whether `make test-all` runs this and `make test` leaves it out, which is then said: what takes a minute and tests little that others do not.
pub(crate) fn is_left_to_test_all(what: &str) -> bool {
    let is_left = std::env::var_os("NETLOOM_TEST_ALL").is_none();
    if is_left {
        not_run(&format!("{what}, which `make test-all` plays"));
    }
    is_left
}

impl User {
    /// Who tries what does not depend on rights: one of those that the tests can be, by the name of the test, so that either has his share; with
    /// `NETLOOM_TEST_ALL`, which `make test-all` sets, all of them.
    pub(crate) fn some() -> Vec<Self> {
        let mut all = Self::all();
        if std::env::var_os("NETLOOM_TEST_ALL").is_none() {
            let test = std::thread::current();
            let sum: usize = test.name().unwrap_or_default().bytes().map(usize::from).sum();
            let one = all[sum % all.len()];
            all = vec![one];
        }
        all
    }

    /// Everyone that the tests can be. Tests that are not run by root cannot become root, and say so.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() {
            return vec![Self::Own, Self::Nobody];
        }
        not_run("root's half of this test");
        vec![Self::Own]
    }
}

pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// See the module.
pub(crate) struct Fixture {
    root: tempfile::TempDir,
    user: User,
    program: PathBuf,
    /// What kernel nodes run.
    kernel: Option<PathBuf>,
    turn: Turn,
    /// How the labs that were written into it use the machine.
    of_labs: Mutex<Option<Use>>,
    /// Whether its commands run in a network namespace that the test makes.
    is_apart: bool,
    /// Whether its labs allow others, whatever they say.
    is_among_others: bool,
}

/// Gives a program another path, by a link. On another file system, it is a link to the one copy there, since all tests begin at once: in the
/// folder that NETLOOM_TEST_COPIES names (scripts/run-test-program), or a copy of its own without that. A process of its own copies it: a file
/// that is open for writing here would be so in whatever another thread forks meanwhile, and cannot be executed for as long ("Text file busy").
fn copy(from: &Path, to: &Path) {
    static COPYING: Mutex<()> = Mutex::new(());
    if fs::hard_link(from, to).is_ok() {
        return;
    }
    let copy_to = |place: &Path| assert!(Command::new("cp").arg(from).arg(place).status().unwrap().success());
    let Some(copies) = std::env::var_os("NETLOOM_TEST_COPIES") else { return copy_to(to) };
    let copied = Path::new(&copies).join(fs::metadata(from).unwrap().ino().to_string());
    let is_copying = COPYING.lock().unwrap_or_else(PoisonError::into_inner);
    if !copied.exists() {
        copy_to(&copied);
    }
    drop(is_copying);
    fs::hard_link(copied, to).unwrap();
}

impl Fixture {
    /// A fixture for `user`. Its files and commands decide [whether it is alone](Turn).
    pub(crate) fn new(user: User) -> Self {
        let root = tempfile::Builder::new().prefix("netloom-test-").tempdir_in("/tmp").unwrap();
        // A path of its own makes the fixture's processes recognizable, and lets any user start it.
        let program = root.path().join("netloom");
        copy(Path::new(env!("CARGO_BIN_EXE_netloom")), &program);
        let fixture = Self {
            turn: Turn::of(root.path()),
            root,
            user,
            program,
            kernel: None,
            of_labs: Mutex::new(None),
            is_apart: false,
            is_among_others: false,
        };
        fs::set_permissions(fixture.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for folder in ["runtime", "work"] {
            fs::create_dir(fixture.path().join(folder)).unwrap();
            fixture.give(&fixture.path().join(folder));
        }
        fs::set_permissions(fixture.path().join("runtime"), fs::Permissions::from_mode(0o700)).unwrap();
        fixture
    }

    /// A fixture with a kernel for virtual time: the one that NETLOOM_KERNEL names, or the newest that was built.
    pub(crate) fn with_kernel(user: User) -> Self {
        let mut fixture = Self::new(user);
        let kernel = find(Need::VirtualTime, None).unwrap_or_else(|error| panic!("{error}; or run `make kernel`"));
        let own = fixture.path().join("linux");
        // A path of its own is recognizable, and other users may not look into the cache of this one.
        copy(&kernel.path, &own);
        fixture.kernel = Some(own);
        fixture
    }

    /// How long the test has used the machine: what it waited for before is not in it.
    pub(crate) fn turn_lasted(&self) -> Duration {
        self.turn.lasted()
    }

    /// Waits until no other test runs, and keeps others from running: for what changes the machine, or measures it.
    pub(crate) fn alone(self) -> Self {
        self.turn.take(Use::Alone);
        self
    }

    /// Lets other tests run meanwhile, whatever the labs lead out to: all commands run in a network namespace that the test makes.
    pub(crate) fn apart(mut self) -> Self {
        self.is_apart = true;
        self
    }

    /// Lets other tests run meanwhile, whatever its labs say: what is asked for there holds on a busy machine.
    pub(crate) fn among_others(mut self) -> Self {
        self.is_among_others = true;
        self
    }

    fn give(&self, path: &Path) {
        if self.user == User::Nobody {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The folder that netloom is started in.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Writes a file into the work folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        self.turn.take(Use::Shared);
        if turn::is_lab(text) {
            let mut of_labs = self.of_labs.lock().unwrap_or_else(PoisonError::into_inner);
            *of_labs = (*of_labs).max(Some(turn::of_lab(text, self.is_apart)));
        }
        let path = self.work().join(name);
        fs::write(&path, text).unwrap();
        self.give(&path);
        path
    }

    /// `netloom` with these arguments, ready to be started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.take_turn(arguments);
        let mut command = self.as_user(Command::new(&self.program));
        command.args(arguments);
        command
    }

    fn take_turn(&self, arguments: &[&str]) {
        let of_labs = self.of_labs.lock().unwrap_or_else(PoisonError::into_inner);
        let of_labs = if self.is_among_others { Some(Use::Shared) } else { *of_labs };
        self.turn.take(turn::of_command(arguments, of_labs));
    }

    fn as_user(&self, mut command: Command) -> Command {
        command.current_dir(self.work()).env("XDG_RUNTIME_DIR", self.path().join("runtime"));
        // What is kept for later runs belongs to the fixture, too.
        command.env("HOME", self.work()).env_remove("XDG_CACHE_HOME").stdin(Stdio::null());
        command.envs(self.kernel.iter().map(|path| ("NETLOOM_KERNEL", path)));
        if self.user == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Who starts netloom here.
    pub(crate) fn user(&self) -> User {
        self.user
    }

    /// Runs `netloom` with these arguments to its end, started by the command `wrapper`.
    #[must_use = "a command may fail"]
    pub(crate) fn wrapped(&self, wrapper: &[&str], arguments: &[&str]) -> Finished {
        self.take_turn(arguments);
        let (first, rest) = wrapper.split_first().unwrap();
        let mut command = self.as_user(Command::new(first));
        command.args(rest).arg(&self.program).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command, self.path())
    }

    /// Runs another program to its end, as the fixture's user and in its folder.
    #[must_use = "a command may fail"]
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> Finished {
        // Whatever it does, unless that is known to be apart.
        self.turn.take(if self.is_apart { Use::Shared } else { Use::Alone });
        let mut command = self.as_user(Command::new(program));
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command, self.path())
    }

    /// Runs `netloom` with these arguments to its end.
    #[must_use = "a command may fail"]
    pub(crate) fn netloom(&self, arguments: &[&str]) -> Finished {
        self.netloom_telling(Stdio::piped(), arguments)
    }

    /// The same, with something else in the place of its standard error.
    #[must_use = "a command may fail"]
    pub(crate) fn netloom_telling(&self, stderr: Stdio, arguments: &[&str]) -> Finished {
        let mut command = self.command(arguments);
        command.stdout(Stdio::piped()).stderr(stderr);
        finish(command, self.path())
    }

    /// Runs a [command](Self::command) that a test has changed to its end, which is no later than that of others.
    #[must_use = "a command may fail"]
    pub(crate) fn finish(&self, mut command: Command) -> Finished {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command, self.path())
    }

    /// The latest results folder of a lab.
    pub(crate) fn latest(&self, lab: &str) -> PathBuf {
        self.work().join("results").join(lab).join("latest")
    }

    /// A file of the latest results as JSON.
    pub(crate) fn json(&self, lab: &str, file: &str) -> serde_json::Value {
        let path = self.latest(lab).join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap()
    }

    /// The processes of the kernels of a lab that runs, in the order of its nodes; those of the programs inside are their
    /// children.
    pub(crate) fn kernels(&self) -> Vec<i32> {
        let is_kernel = |pid: &i32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let above =
                processes::parent(*pid).map(|other| fs::read_link(format!("/proc/{other}/exe")).unwrap_or_default());
            String::from_utf8_lossy(&command).contains("rootfstype=hostfs")
                && above.is_some_and(|path| path == self.program)
        };
        let mut kernels: Vec<i32> = self.processes().into_iter().filter(is_kernel).collect();
        kernels.sort_unstable();
        kernels
    }

    /// Processes of this fixture, by their executable or their folder.
    pub(crate) fn processes(&self) -> Vec<i32> {
        remains::processes_of(self.path())
    }

    /// Fails if anything is left of the lab `lab` after a while: processes, mounts, interfaces, cgroups. A namespace
    /// stays for as long as a process is in it or holds it or a mount shows it, and has no other way to.
    pub(crate) fn assert_nothing_is_left(&self, lab: &str) {
        let begun = Instant::now();
        loop {
            let left = self.left(lab);
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < LONGEST_CLEANUP, "left behind: {left:#?}");
            sleep(Duration::from_millis(20));
        }
    }

    fn left(&self, lab: &str) -> Vec<String> {
        let processes = self.processes().into_iter().map(|pid| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            format!("process {pid} {}", String::from_utf8_lossy(&command).replace('\0', " "))
        });
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let here = self.path().to_string_lossy().into_owned();
        let mounts = mounts.lines().filter(|line| line.contains(&here)).map(|line| format!("mount {line}"));
        let interfaces = ports_here().into_iter().map(|name| format!("interface {name}"));
        let cgroups = cgroups_of(lab).into_iter().map(|path| format!("cgroup {}", path.display()));
        processes.chain(mounts).chain(interfaces).chain(cgroups).collect()
    }

    /// The runtime files of labs; a killed guard leaves some, which the next command sweeps.
    pub(crate) fn runtime_files(&self) -> Vec<PathBuf> {
        let folder = self.path().join("runtime/netloom");
        fs::read_dir(folder).map(|all| all.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if remains::end(self.path(), remains::LONGEST_END) {
            // Where whole labs were killed in one blow, the next command removes what nobody could.
            let mut sweeping = self.as_user(Command::new(&self.program));
            let _ = sweeping.arg("ps").stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// The child of a process that has this name.
pub(crate) fn child_named(pid: i32, name: &str) -> i32 {
    processes::child_named(pid, name).unwrap_or_else(|| panic!("{pid} has no child {name}"))
}

/// Cgroups that bear the lab's name, wherever they hang.
pub(crate) fn cgroups_of(lab: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        let inner =
            fs::read_dir(folder).into_iter().flatten().flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
        for path in inner.map(|entry| entry.path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with(&format!("netloom-{lab}-")) {
                found.push(path.clone());
            }
            folders.push(path);
        }
    }
    found
}

/// No command here takes longer, not even on a busy machine.
const LONGEST_COMMAND: Duration = Duration::from_secs(240);

/// Runs a command to its end. One that hangs is killed with all processes of the folder, which may hold its output open, so that its test fails.
fn finish(mut command: Command, folder: &Path) -> Finished {
    let child = command.spawn().unwrap();
    // A full pipe is kept open by whoever has the command that writes into it.
    drop(command);
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let folder = folder.to_owned();
    let watchdog = std::thread::spawn(move || {
        if waiting.recv_timeout(LONGEST_COMMAND) == Err(RecvTimeoutError::Timeout) {
            let processes = remains::names_of(&folder);
            eprintln!("a command took longer than {LONGEST_COMMAND:?} and is killed, with {processes}");
            // It may have ended, and something that it started has its output.
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
            remains::end(&folder, remains::LONGEST_END);
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    watchdog.join().unwrap();
    Finished::of(&output)
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Fails unless the command reports the end of a lab, whatever its verdict is: a busy machine delays packets.
    #[track_caller]
    pub(crate) fn expect_end(self) {
        assert!(matches!(self.code, Some(0 | 1 | 5 | 9)), "{self:#?}");
    }

    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails unless the command ended with this code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

/// Fails with what is to be done if a program of the lab is not on this machine.
#[track_caller]
pub(crate) fn ran(finished: Finished) -> Finished {
    assert!(
        !finished.stderr.contains("not on this machine"),
        "`scripts/install-deps services` installs it: {finished:#?}"
    );
    finished
}

/// The number behind `key=` in a line of what a script has printed.
#[track_caller]
pub(crate) fn number(text: &str, key: &str) -> f64 {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("no number {key} in:\n{text}"))
}
