//! The agent in a virtual machine: an ordinary process of root there, beside the machine's own process 1.
//!
//! The lab brings the agent's program and the libraries that it needs into the machine's initial file system, in [`FOLDER`]. There
//! the agent is started as process 1, starts itself as a second process, and becomes the `init` that would have run without
//! it. The second process waits until the machine has its root, goes there, and serves the lab. So the machine's own files need
//! nothing of netloom, and no C library of a certain age.
//!
//! A machine that boots its own disk gets the same files on another disk. What the lab can reach in the system starts [`start`] there,
//! which mounts that disk at [`SETTLED`] and starts the agent from it.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::reboot::{RebootMode, reboot};
use nix::unistd::setsid;

use super::agent::Agent;
use super::devices;
use super::launch::words;
pub use super::launch::{FOLDER, LOADER, PROGRAM};
use crate::error::{Attempted, KernelError};
use crate::node::agent::watch_children;
use crate::node::dispatch::Place;

/// The argument that has the agent wait until process 1 has gone to another root, as it does if the kernel's command line names one.
pub const SWITCHES: &str = "switches";

/// The argument that has it serve where it is.
pub const STAYS: &str = "stays";

/// The argument of an agent that the system of the machine has started.
pub const JOINS: &str = "joins";

/// Where the agent has its files when there is no initial file system, or none any more.
pub const SETTLED: &str = "/run/netloom";

/// The serial number of the disk that has the agent, as the machine's kernel shows it.
pub const DISK: &str = "netloom-agent";

/// Returns the commands for a shell of the machine's system that start the agent, once, whoever runs them. They print `who` on the
/// console. With `clock`, they switch the kernel to that clock source before; the agent does not start on any other.
pub fn start(who: &str, clock: Option<&str>) -> String {
    let clock = clock.map_or_else(String::new, |clock| {
        let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        format!(
            "echo {clock} > {file}
[ \"$(cat {file})\" = {clock} ] || {{ echo 'netloom: this kernel does not take {clock} as its clock' >/dev/console; exit 1; }}
"
        )
    });
    format!(
        "mkdir {SETTLED} || exit 0
for disk in /sys/block/*; do
  if [ \"$(cat $disk/serial 2>/dev/null)\" = {DISK} ]; then
    mount -t iso9660 -o ro,exec /dev/${{disk##*/}} {SETTLED} || {{ rmdir {SETTLED}; exit 1; }}
  fi
done
[ -e {SETTLED}/{LOADER} ] || {{ rmdir {SETTLED}; echo 'netloom: its disk is not there' >/dev/console; exit 1; }}
{clock}echo 'netloom: {who} starts the agent' >/dev/console
env -i {SETTLED}/{LOADER} --library-path {SETTLED} {SETTLED}/{PROGRAM} vm-agent {JOINS} </dev/null >/dev/console 2>&1 &
"
    )
}

/// How often it looks whether the machine is that far.
const LOOK: Duration = Duration::from_millis(20);

/// A name with this first letter tells process 1 of an initial file system to leave a process alive (systemd, "The systemd
/// initrd API": processes whose `argv[0]` begins with `@`).
const NAME: &str = "@netloom";

/// Process 1 of a virtual machine's initial file system, or the agent. Returns only if it could not begin.
///
/// # Errors
/// When it is started anywhere else, or the initial file system has no `init`.
pub fn main(root: &str) -> Result<(), String> {
    if std::process::id() == 1 {
        return Err(begin(root));
    }
    let joins = root == JOINS;
    if !Path::new(if joins { SETTLED } else { FOLDER }).join(PROGRAM).exists() {
        return Err("this is the agent of a virtual machine; netloom starts it where it belongs".to_owned());
    }
    if let Err(error) = serve(root) {
        // The console: the lab process shows its last lines.
        eprintln!("netloom: {error}");
    }
    // A system that was there before does not end with the agent.
    if joins || !fs::read_to_string("/proc/cmdline").is_ok_and(|line| line.contains(&format!("{FOLDER}/{LOADER}"))) {
        return Err("this kernel was not booted by netloom".to_owned());
    }
    nix::unistd::sync();
    let Err(error) = reboot(RebootMode::RB_POWER_OFF);
    Err(KernelError::from_io("power off", &error.into()).to_string())
}

/// Starts the agent, and becomes the real process 1.
fn begin(root: &str) -> String {
    let [loader, words @ ..] = words(Path::new(FOLDER));
    let started = Command::new(loader).arg0(NAME).args(words).args(["vm-agent", root]).spawn();
    if let Err(error) = started {
        return format!("starting the agent: {error}");
    }
    let error = Command::new("/init").exec();
    format!("starting /init of the initial file system (the node's `initrd`): {error}")
}

fn serve(root: &str) -> Result<(), Box<dyn std::error::Error>> {
    // Only the name that `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(c"netloom-node");
    setsid()?;
    // What daemons leave behind belongs to the agent, as it belongs to process 1 of other nodes.
    nix::sys::prctl::set_child_subreaper(true)?;
    let held = if root == SWITCHES { follow()? } else { Vec::new() };
    // Those who mount them may need a while.
    await_true(|| Path::new("/proc/self/stat").exists() && Path::new("/sys/class/net").exists());
    let folder = if root == JOINS { PathBuf::from(SETTLED) } else { settle(&held)? };
    drop(held);
    let signals = watch_children()?;
    await_true(devices::has_control);
    let socket = devices::hide_control(devices::control)?;
    Agent::new(socket, signals, Place::Machine { folder }).run()?;
    Ok(())
}

/// Waits until process 1 has another root, and goes there. Returns the agent's files, whose names have gone by then.
fn follow() -> Result<Vec<(PathBuf, File)>, KernelError> {
    let own = Path::new(FOLDER);
    let mut held = Vec::new();
    for entry in fs::read_dir(own).attempted(|| "list the agent's folder")?.flatten() {
        held.push((PathBuf::from(entry.file_name()), File::open(entry.path()).attempted(|| "open the agent's files")?));
    }
    // A /proc of its own, to see process 1: that of the machine comes and goes meanwhile.
    unshare(CloneFlags::CLONE_NEWNS).attempted(|| "make a mount namespace")?;
    let (none, private) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE);
    mount(none, "/", none, private, none).attempted(|| "make the agent's mounts private")?;
    let proc = own.join("proc");
    fs::create_dir_all(&proc).attempted(|| "make a folder for /proc")?;
    mount(Some("proc"), &proc, Some("proc"), MsFlags::empty(), none).attempted(|| "mount /proc")?;
    let device = fs::metadata("/").attempted(|| "look at /")?.dev();
    await_true(|| fs::metadata(proc.join("1/root/")).is_ok_and(|root| root.dev() != device));
    let home = File::open(proc.join("1/ns/mnt")).attempted(|| "open the mounts of process 1")?;
    // The root of these mounts is that of process 1 now.
    setns(home, CloneFlags::CLONE_NEWNS).attempted(|| "go to the mounts of process 1")?;
    std::env::set_current_dir("/").attempted(|| "enter /")?;
    Ok(held)
}

/// Where the agent's files are from now on.
fn settle(held: &[(PathBuf, File)]) -> Result<PathBuf, KernelError> {
    if held.is_empty() {
        return Ok(FOLDER.into());
    }
    let folder = Path::new(SETTLED);
    fs::create_dir_all(folder).attempted(|| format!("make {SETTLED}"))?;
    for (name, file) in held {
        let path = folder.join(name);
        let attempted = || format!("write {}", path.display());
        let mut copy = File::create(&path).attempted(attempted)?;
        let mut file = file;
        io::copy(&mut file, &mut copy).attempted(attempted)?;
        copy.set_permissions(Permissions::from_mode(0o755)).attempted(attempted)?;
    }
    Ok(folder.into())
}

/// There is no limit: the lab process knows how long the machine may take.
fn await_true(mut condition: impl FnMut() -> bool) {
    while !condition() {
        sleep(LOOK);
    }
}
