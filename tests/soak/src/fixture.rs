//! A folder of its own for every lab, in which everything that belongs to it can be recognized.

use crate::script::Script;
use crate::topology::{NAME, fill_stock};
use netloom_testing::processes::ports_here;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The user that stands for all users without privileges.
const NOBODY: u32 = 65_534;

/// See the module.
pub(crate) struct Fixture {
    root: tempfile::TempDir,
    program: PathBuf,
    kernel: Option<PathBuf>,
    as_nobody: bool,
    commands: usize,
}

impl Fixture {
    /// A fixture for this lab, with a copy of netloom, and of the kernel if there is one.
    pub(crate) fn new(script: &Script, netloom: &Path, kernel: Option<&Path>) -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("netloom-soak-").tempdir()?;
        let as_nobody = script.as_nobody && geteuid().is_root();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755))?;
        let copy = |from: &Path, name: &str| -> io::Result<PathBuf> {
            let to = root.path().join(name);
            fs::copy(from, &to)?;
            netloom_testing::programs::make_executable(&to);
            Ok(to)
        };
        // A program of its own makes the lab's processes recognizable, and lets any user start it.
        let program = copy(netloom, "netloom")?;
        let kernel = kernel.filter(|_| script.kernels).map(|kernel| copy(kernel, "linux")).transpose()?;
        let fixture = Self { root, program, kernel, as_nobody, commands: 0 };
        for name in ["runtime", "work", "tmp", "out"] {
            fs::create_dir(fixture.path().join(name))?;
            fixture.give(&fixture.path().join(name))?;
        }
        fs::set_permissions(fixture.path().join("runtime"), fs::Permissions::from_mode(0o700))?;
        fill_stock(&fixture.work())?;
        fs::write(fixture.work().join("soak.yaml"), &script.lab)?;
        Ok(fixture)
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        if self.as_nobody { chown(path, Some(NOBODY), Some(NOBODY)) } else { Ok(()) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// What commands wrote.
    pub(crate) fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    /// The results of the lab, if there are any.
    pub(crate) fn results(&self) -> PathBuf {
        self.work().join("results").join(NAME).join("latest")
    }

    /// Starts `netloom` with these arguments; what it writes goes to files in `out`.
    pub(crate) fn start(&mut self, arguments: &[&str]) -> io::Result<Child> {
        self.commands += 1;
        let word = arguments.first().copied().unwrap_or_default();
        let file = |kind: &str| File::create(self.out().join(format!("{:02}-{word}.{kind}", self.commands)));
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.work()).stdin(Stdio::null());
        command.stdout(file("stdout")?).stderr(file("stderr")?);
        command.env("XDG_RUNTIME_DIR", self.path().join("runtime")).env("HOME", self.work());
        command.env("TMPDIR", self.path().join("tmp"));
        command.envs(self.kernel.iter().map(|path| ("NETLOOM_KERNEL", path)));
        if self.as_nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.spawn()
    }

    /// What the latest command wrote to its standard output.
    pub(crate) fn latest_output(&self, word: &str) -> String {
        let path = self.out().join(format!("{:02}-{word}.stdout", self.commands));
        fs::read_to_string(path).unwrap_or_default()
    }

    /// The processes of this fixture.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| self.is_ours(*pid)).collect()
    }

    /// By its program, or by its environment: programs in nodes are others, and inherit it.
    fn is_ours(&self, pid: i32) -> bool {
        if fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path.starts_with(self.path())) {
            return true;
        }
        let marker = format!("XDG_RUNTIME_DIR={}", self.path().join("runtime").display());
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == marker.as_bytes())
    }

    /// Everything that is still there: processes, mounts, interfaces, control groups, runtime and temporary files. A
    /// namespace stays as long as a process is in it or a mount shows it.
    pub(crate) fn left(&self) -> Vec<String> {
        let processes = self.processes();
        let here = self.path().display().to_string();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts: Vec<&str> = mounts.lines().filter(|line| line.contains(&here)).collect();
        let interfaces = ports_here();
        let mut left: Vec<String> = processes.into_iter().map(process).collect();
        left.extend(mounts.iter().map(|line| format!("mount {line}")));
        left.extend(interfaces.into_iter().map(|name| format!("interface {name}")));
        left.extend(groups().into_iter().map(|path| format!("control group {}", path.display())));
        for folder in ["runtime/netloom", "tmp"] {
            let inside = fs::read_dir(self.path().join(folder)).into_iter().flatten().flatten();
            left.extend(inside.map(|entry| format!("file {}", entry.path().display())));
        }
        left
    }

    /// Kills what did not end by itself, so that the next lab does not suffer from it.
    pub(crate) fn kill_all(&self) {
        for pid in self.processes() {
            // One that has ended meanwhile needs no killing.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

fn process(pid: i32) -> String {
    let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    format!("process {pid} {}", String::from_utf8_lossy(&command).replace('\0', " "))
}

/// Control groups that bear the lab's name, wherever they hang.
fn groups() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = folders.pop() {
        let inside = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            if entry.file_name().to_string_lossy().starts_with(&format!("netloom-{NAME}-")) {
                found.push(entry.path());
            }
            folders.push(entry.path());
        }
    }
    found
}

/// The most memory that a process had so far, in bytes.
pub(crate) fn peak_memory(pid: i32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}
