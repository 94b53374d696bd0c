//! The file system that a kernel node's programs see: the machine's own, with an overlay in the guest's memory that
//! takes whatever they write.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, dup2_stderr, dup2_stdin, dup2_stdout, pivot_root};

use crate::error::{Attempted, KernelError};
use crate::mount::{fresh_proc, fresh_sys};

const NOTHING: Option<&str> = None;

/// A folder that every machine has; what the new root is made in is mounted over it, and left behind.
const WORKSHOP: &str = "/tmp";

/// Makes the overlay the root of everything, with the guest's own `/proc`, `/sys` and `/dev` in it.
///
/// `/run` and `/tmp` are the machine's as they were when the node read them, as in namespace nodes: services look for
/// folders there that packages have made, and the lab file's own folder may be below.
pub(super) fn enter() -> Result<(), KernelError> {
    temporary(WORKSHOP, "mode=755")?;
    for folder in ["upper", "work", "root"] {
        let path = format!("{WORKSHOP}/{folder}");
        std::fs::create_dir(&path).attempted(|| format!("make {path}"))?;
    }
    // The upper layer is in memory that ends with the kernel, so that syncing it is useless: "volatile" omits that.
    let layers = format!("lowerdir=/,upperdir={WORKSHOP}/upper,workdir={WORKSHOP}/work,volatile");
    let root = format!("{WORKSHOP}/root");
    // Without root, the machine's files belong to nobody in here, and its programs with the set-user-id bit (mount, su) would
    // run as nobody when root calls them.
    let of_nobody = std::fs::metadata("/").attempted(|| "look at /")?.uid() != 0;
    let flags = if of_nobody { MsFlags::MS_NOSUID } else { MsFlags::empty() };
    mount(Some("overlay"), root.as_str(), Some("overlay"), flags, Some(layers.as_str()))
        .attempted(|| "mount an overlay over the machine's file system")?;
    chdir(root.as_str()).attempted(|| format!("enter {root}"))?;
    // Both names the same: the old root then lies on top of the new one, and is taken away (pivot_root(2), NOTES).
    pivot_root(".", ".").attempted(|| "change to the new root")?;
    umount2(".", MntFlags::MNT_DETACH).attempted(|| "leave the old root")?;
    chdir("/").attempted(|| "enter /")?;
    fresh_proc()?;
    fresh_sys()?;
    devices()
}

/// Opens the console. A kernel of ours leaves the machine's `/dev` in place until its first process runs, which may lie in
/// `/dev/shm`; what is there is no console of this kernel on every machine.
pub(super) fn console() {
    // Other kernels have done it already, and one that cannot has nobody to tell.
    let _ = mount(Some("devtmpfs"), "/dev", Some("devtmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC, NOTHING);
    let Ok(console) = File::options().read(true).write(true).open("/dev/console") else { return };
    let console = OwnedFd::from(console);
    let _ = dup2_stdin(&console).and_then(|()| dup2_stdout(&console)).and_then(|()| dup2_stderr(&console));
}

fn devices() -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("devtmpfs"), "/dev", Some("devtmpfs"), flags, Some("mode=755")).attempted(|| "mount /dev")?;
    for folder in ["/dev/pts", "/dev/shm", "/dev/mqueue"] {
        std::fs::create_dir_all(folder).attempted(|| format!("make {folder}"))?;
    }
    mount(Some("devpts"), "/dev/pts", Some("devpts"), flags, Some("mode=620,ptmxmode=666"))
        .attempted(|| "mount /dev/pts")?;
    temporary("/dev/shm", "mode=1777")?;
    // A kernel without message queues has programs that use none.
    let _ = mount(Some("mqueue"), "/dev/mqueue", Some("mqueue"), flags, NOTHING);
    let links = [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")];
    for (name, target) in links {
        let path = Path::new("/dev").join(name);
        symlink(target, &path).attempted(|| format!("make {}", path.display()))?;
    }
    Ok(())
}

fn temporary(folder: &str, options: &str) -> Result<(), KernelError> {
    mount(Some("tmpfs"), folder, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(options))
        .attempted(|| format!("mount a file system in memory at {folder}"))
}
