//! The machine's file system, copied on write: a root of its own for a namespace node.
//!
//! Every file system of the machine gets an overlay. Views of the kernel (`/proc`, `/sys`, `/dev`) are shown as they
//! are. The kernel lets no process uncover what a mount hides, so in a user namespace it refuses an overlay
//! over a folder with the machine's mounts below, whether or not the user may look at them (`/var` of a machine on which
//! containers run). Such a folder is made anew, and each folder in it gets an overlay instead.

use std::env;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, chroot, fchdir, pivot_root};

use super::layers::{Layers, bind, relative, resemble};
use super::mounts::{Mount, Mounts};
use super::{FileConfig, FilesConfig, lay};
use crate::error::{Attempted, KernelError};

/// Views of the kernel, with all that is mounted below.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The same elsewhere: file systems without files of their own.
const WINDOW_KINDS: [&str; 16] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "mqueue",
    "nsfs",
    "proc",
    "rpc_pipefs",
    "sysfs",
];

/// A file that is mounted on is copied, if it is not larger: /etc/resolv.conf of a container, for example.
const LARGEST_COPY: u64 = 1 << 24;

/// Folders in which the node's root can make files even in an ordinary user's lab, where they belong to a user that
/// does not exist.
const WRITABLE: [&str; 11] =
    ["/etc", "/var", "/var/cache", "/var/lib", "/var/log", "/var/spool", "/run", "/srv", "/opt", "/mnt", "/usr/local"];

/// Makes a copy of the machine's file system this process's root, with `files` in it. Returns whether its folders can be replaced.
pub(super) fn enter(files: &FilesConfig, memory: &Path) -> Result<bool, KernelError> {
    let sources = lay::open_sources(&files.entries)?;
    let mut view = View {
        mounts: Mounts::read()?,
        spared: spared(files),
        writable: writable(&files.entries),
        layers: Layers::new(memory.to_owned())?,
        root: memory.join("root"),
    };
    view.make()?;
    let View { root, mut layers, .. } = view;
    let keeps_marks = layers.keeps_marks();
    let hosts = fs::read(super::HOSTS).ok();
    let _memory = reach_from_inside(&mut layers, memory)?;
    inside(&root, || lay::lay_into(files, sources, hosts, &mut layers))?;
    change_to(&root)?;
    Ok(keeps_marks)
}

/// Lets layers be made from inside, where the path of the memory leads elsewhere, as long as the answer lives.
pub(super) fn reach_from_inside(layers: &mut Layers, memory: &Path) -> Result<File, KernelError> {
    let memory =
        File::options().read(true).custom_flags(libc::O_PATH).open(memory).attempted(|| "open the node's memory")?;
    layers.reach_by(PathBuf::from(format!("/proc/self/fd/{}", memory.as_raw_fd())));
    Ok(memory)
}

/// Makes `root`, where a file system is mounted, the root of this process, and leaves the machine's.
pub(super) fn change_to(root: &Path) -> Result<(), KernelError> {
    chdir(root).attempted(|| format!("enter {}", root.display()))?;
    // Both names the same: the old root then lies on top of the new one, and is taken away (pivot_root(2), NOTES).
    pivot_root(".", ".").attempted(|| "change to the node's own root")?;
    umount2(".", MntFlags::MNT_DETACH).attempted(|| "leave the machine's root")?;
    chdir("/").attempted(|| "enter /")
}

/// Calls a function with `root` as this process's root, so that paths and links are resolved there.
pub(super) fn inside<T>(root: &Path, act: impl FnOnce() -> Result<T, KernelError>) -> Result<T, KernelError> {
    let outside = File::options().read(true).custom_flags(libc::O_DIRECTORY).open("/").attempted(|| "open /")?;
    let attempted = || format!("enter {}", root.display());
    chdir(root).attempted(attempted)?;
    chroot(".").attempted(attempted)?;
    let done = act();
    let back = || "come back from the node's own root";
    fchdir(OwnedFd::from(outside)).attempted(back)?;
    chroot(".").attempted(back)?;
    done
}

/// What is mounted there or below is not shown: the lab file puts something else there, or it is the lab's own memory.
fn spared(files: &FilesConfig) -> Vec<PathBuf> {
    files.entries.iter().map(|entry| entry.target.clone()).chain(files.memory.clone()).collect()
}

/// The folders that need to belong to the node's root, those above first: where the lab file puts something, where programs
/// start and are at home, and where services write.
fn writable(entries: &[FileConfig]) -> Vec<PathBuf> {
    let targets = entries.iter().filter_map(|entry| existing(entry.target.parent()?));
    let own = [env::current_dir().ok(), env::home_dir()].into_iter().flatten();
    let own = own.filter(|path| path.is_absolute()).filter_map(|path| existing(&path));
    let all = targets.chain(own).chain(WRITABLE.iter().filter_map(|path| existing(Path::new(path))));
    let mut folders: Vec<PathBuf> =
        all.flat_map(|path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>()).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// The last folder of the way to `path` that exists, without links.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|part| part.canonicalize().ok())
}

struct View {
    mounts: Mounts,
    spared: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    layers: Layers,
    /// Where the new root is made.
    root: PathBuf,
}

impl View {
    fn make(&mut self) -> Result<(), KernelError> {
        fs::create_dir(&self.root).attempted(|| format!("make {}", self.root.display()))?;
        self.show_folder(Path::new("/"))?;
        let mut covered: Vec<PathBuf> = Vec::new();
        for Mount { point, kind } in self.mounts.visible.clone() {
            let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| point.starts_with(folder));
            if point == Path::new("/") || is_below(&covered) || is_below(&self.spared) {
                continue;
            }
            if WINDOWS.iter().any(|window| point == Path::new(window)) || WINDOW_KINDS.contains(&kind.as_str()) {
                bind(&point, &self.at(&point), MsFlags::MS_REC)?;
                covered.push(point);
            } else {
                self.show_mount(&point)?;
            }
        }
        self.own_shared_memory()
    }

    /// Where something is in the new root.
    fn at(&self, path: &Path) -> PathBuf {
        self.root.join(relative(path, Path::new("/")))
    }

    fn show_mount(&mut self, point: &Path) -> Result<(), KernelError> {
        let about = fs::symlink_metadata(point).attempted(|| format!("look at {}", point.display()))?;
        if about.is_dir() { self.show_folder(point) } else { self.show_file(point, &about) }
    }

    /// Shows a folder and what is in it, but for what is mounted below.
    fn show_folder(&mut self, folder: &Path) -> Result<(), KernelError> {
        let target = self.at(folder);
        let writable: Vec<PathBuf> = self.own_folders(folder);
        let prepare = |upper: &Path| prepare(folder, &writable, upper);
        match self.layers.overlay(folder, &target, MsFlags::empty(), prepare) {
            Err(error) if error.errno() == libc::EINVAL && self.mounts.any_below(folder) => self.make_anew(folder),
            // What this user may not look at stays empty.
            Err(error) if error.errno() == libc::EACCES => Ok(()),
            other => other,
        }
    }

    /// The folders below this one that are to belong to the node's root, and are on the same file system.
    fn own_folders(&self, folder: &Path) -> Vec<PathBuf> {
        if self.layers.is_privileged {
            return Vec::new();
        }
        let crosses = |path: &Path| {
            let mut between =
                self.mounts.visible.iter().filter(|mount| mount.point != folder && mount.point.starts_with(folder));
            between.any(|mount| path.starts_with(&mount.point))
        };
        let below = self.writable.iter().filter(|path| *path != folder && path.starts_with(folder));
        below.filter(|path| !crosses(path)).cloned().collect()
    }

    /// A folder in memory with everything that is in `folder`.
    fn make_anew(&mut self, folder: &Path) -> Result<(), KernelError> {
        let attempted = || format!("show what is in {}", folder.display());
        let own = self.layers.folder()?;
        resemble(&own, &fs::metadata(folder).attempted(attempted)?).attempted(attempted)?;
        bind(&own, &self.at(folder), MsFlags::empty())?;
        let entries = match fs::read_dir(folder) {
            // What this user may not look at stays empty.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries.attempted(attempted)?,
        };
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let path = folder.join(name);
            // What has gone since then is not there.
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            let made = self.at(&path);
            if about.is_symlink() {
                let link = fs::read_link(&path).attempted(attempted)?;
                symlink(link, made).attempted(attempted)?;
            } else if about.is_dir() {
                fs::create_dir(&made).attempted(attempted)?;
                let is_mounted_on = self.mounts.visible.iter().any(|mount| mount.point == path);
                if !is_mounted_on {
                    self.show_folder(&path)?;
                }
            } else {
                self.show_file(&path, &about)?;
            }
        }
        Ok(())
    }

    /// A copy of a file; what cannot be copied is shown as it is.
    fn show_file(&mut self, file: &Path, about: &Metadata) -> Result<(), KernelError> {
        let target = self.at(file);
        let attempted = || format!("show {}", file.display());
        if about.is_file() && about.len() <= LARGEST_COPY && copy(file, &target).is_ok() {
            return Ok(());
        }
        if !target.exists() {
            File::create(&target).attempted(attempted)?;
        }
        bind(file, &target, MsFlags::empty())
    }

    /// Programs share memory with those of the same node only.
    fn own_shared_memory(&self) -> Result<(), KernelError> {
        let target = self.at(Path::new("/dev/shm"));
        if !target.is_dir() {
            return Ok(());
        }
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), &target, Some("tmpfs"), flags, Some("mode=1777")).attempted(|| "mount /dev/shm")
    }
}

/// Puts the folders of `writable`, which are below `folder`, into the upper layer of its overlay.
fn prepare(folder: &Path, writable: &[PathBuf], upper: &Path) -> Result<(), KernelError> {
    for path in writable {
        let made = upper.join(relative(path, folder));
        let Ok(about) = fs::symlink_metadata(path) else { continue };
        if about.is_dir() && made.parent().is_some_and(Path::is_dir) {
            let attempted = || format!("make {} the node's own", path.display());
            fs::create_dir(&made).attempted(attempted)?;
            resemble(&made, &about).attempted(attempted)?;
        }
    }
    Ok(())
}

/// In the place of whatever is at `target`.
fn copy(file: &Path, target: &Path) -> io::Result<()> {
    let mut source = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(file)?;
    let about = source.metadata()?;
    match fs::remove_file(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut copy = File::options().write(true).create_new(true).open(target)?;
    io::copy(&mut source, &mut copy)?;
    // In a user namespace, some owners cannot be given.
    let _ = fchown(&copy, Some(about.uid()), Some(about.gid()));
    copy.set_permissions(fs::Permissions::from_mode(about.mode() & 0o7777))
}
