//! The root file system of a container image, copied on write: a root of its own for a node.
//!
//! The image was made by somebody else, so no path in it is resolved from outside: its links are followed only with the image as the
//! root, or not at all. Devices are few, and bound from the machine: an ordinary user cannot make any.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use super::layers::{Layers, bind};
use super::machine::{change_to, inside, reach_from_inside};
use super::{FilesConfig, HOSTS, ImageConfig, VolumeConfig, fused, lay};
use crate::error::{Attempted, KernelError};
use crate::mount::{attach, clone_tree};

/// Views of the kernel, which are mounted in the node already.
const WINDOWS: [&str; 2] = ["proc", "sys"];

/// Devices that every program may use (Linux allocated devices, memory devices), and the one that makes network devices.
const DEVICES: [&str; 7] = ["null", "zero", "full", "random", "urandom", "tty", "net/tun"];

/// What programs expect beside them.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

const RESOLVER: &str = "/etc/resolv.conf";

/// A volume whose source was opened before its path means something else.
struct Volume<'a> {
    config: &'a VolumeConfig,
    source: OwnedFd,
    is_folder: bool,
}

/// Makes a copy of the image this process's root, with the node's files in it.
///
/// Returns whether folders of the image can be replaced.
pub(super) fn enter(files: &FilesConfig, image: &ImageConfig, memory: &Path, name: &str) -> Result<bool, KernelError> {
    let volumes = image.volumes.iter().map(|config| open(config, &config.source)).collect::<Result<Vec<_>, _>>()?;
    enter_with(files, image, &image.root, volumes, memory, name)
}

/// The same in a kernel node, where the machine's files are seen through its kernel, and other paths of the machine can be mounted.
pub(super) fn enter_in_kernel(
    files: &FilesConfig,
    image: &ImageConfig,
    memory: &Path,
    name: &str,
) -> Result<(), KernelError> {
    let lower = memory.join("image");
    of_machine(&image.root, &lower)?;
    let mut volumes = Vec::new();
    for (number, config) in image.volumes.iter().enumerate() {
        // Only folders can be mounted: a file is found in its own.
        let is_folder = config.source.is_dir();
        let folder = if is_folder { Some(config.source.as_path()) } else { config.source.parent() };
        let place = memory.join(format!("volume{number}"));
        of_machine(folder.unwrap_or(Path::new("/")), &place)?;
        let file = config.source.file_name().filter(|_| !is_folder);
        let found = file.map_or_else(|| place.clone(), |file| place.join(file));
        volumes.push(open(config, &found)?);
    }
    let own = memory.join("own");
    fs::create_dir(&own).attempted(|| format!("make {}", own.display()))?;
    enter_with(files, image, &lower, volumes, &own, name).map(drop)
}

/// Mounts a folder of the machine in its kernel node.
fn of_machine(folder: &Path, place: &Path) -> Result<(), KernelError> {
    fs::create_dir(place).attempted(|| format!("make {}", place.display()))?;
    mount(Some("none"), place, Some("hostfs"), MsFlags::MS_NODEV, Some(folder))
        .attempted(|| format!("mount {} of the machine", folder.display()))
}

fn enter_with(
    files: &FilesConfig,
    image: &ImageConfig,
    lower: &Path,
    volumes: Vec<Volume<'_>>,
    memory: &Path,
    name: &str,
) -> Result<bool, KernelError> {
    let sources = lay::open_sources(&files.entries)?;
    let mut layers = Layers::new(memory.to_owned())?;
    let root = match fused::shown(memory) {
        Some(root) => root,
        None => {
            let root = memory.join("root");
            fs::create_dir(&root).attempted(|| format!("make {}", root.display()))?;
            layers.overlay(lower, &root, MsFlags::MS_NODEV, |_| Ok(()))?;
            root
        }
    };
    let keeps_marks = layers.keeps_marks();
    let names = Names { host: name, hosts: fs::read(HOSTS).ok(), resolver: fs::read(RESOLVER).unwrap_or_default() };
    inside(&root, || skeleton(image, &names))?;
    for window in WINDOWS {
        bind(&Path::new("/").join(window), &root.join(window), MsFlags::MS_REC)?;
    }
    devices(&root.join("dev"))?;
    let _memory = reach_from_inside(&mut layers, memory)?;
    for volume in volumes {
        let target = inside(&root, || volume.target())?;
        volume.attach(&target)?;
    }
    inside(&root, || lay::lay_into(files, sources, names.hosts, &mut layers))?;
    change_to(&root)?;
    Ok(keeps_marks)
}

fn open<'a>(config: &'a VolumeConfig, path: &Path) -> Result<Volume<'a>, KernelError> {
    let attempted = || format!("open {}, for the volume {}", config.source.display(), config.target.display());
    let source = File::options().read(true).custom_flags(libc::O_PATH).open(path).attempted(attempted)?;
    let is_folder = source.metadata().attempted(attempted)?.is_dir();
    Ok(Volume { config, source: source.into(), is_folder })
}

impl Volume<'_> {
    /// Makes the place where it is seen, and opens it; called inside.
    fn target(&self) -> Result<OwnedFd, KernelError> {
        let target = &self.config.target;
        let attempted = || format!("make {} of the node", target.display());
        if self.is_folder {
            fs::create_dir_all(target).attempted(attempted)?;
        } else {
            target.parent().map_or(Ok(()), fs::create_dir_all).attempted(attempted)?;
            match File::options().write(true).create_new(true).open(target) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error).attempted(attempted),
                _ => {}
            }
        }
        let opened = File::options().read(true).custom_flags(libc::O_PATH).open(target).attempted(attempted)?;
        Ok(opened.into())
    }

    fn attach(&self, target: &OwnedFd) -> Result<(), KernelError> {
        let VolumeConfig { source, target: place, is_read_only } = self.config;
        let attempted = || format!("show {} at {}", source.display(), place.display());
        let tree = clone_tree(self.source.as_fd(), *is_read_only).attempted(attempted)?;
        attach(tree.as_fd(), target.as_fd()).attempted(attempted)
    }
}

/// What the node is called, and what it reads of others.
struct Names<'a> {
    host: &'a str,
    hosts: Option<Vec<u8>>,
    resolver: Vec<u8>,
}

/// What every node has, whatever is in its image; called inside.
fn skeleton(image: &ImageConfig, names: &Names<'_>) -> Result<(), KernelError> {
    for window in WINDOWS.into_iter().chain(["dev"]) {
        let path = Path::new("/").join(window);
        let attempted = || format!("make {} of the node", path.display());
        if !fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir()) {
            remove(&path).attempted(attempted)?;
            fs::create_dir(&path).attempted(attempted)?;
        }
    }
    for folder in image.folders.iter().map(PathBuf::as_path).chain([Path::new("/etc")]) {
        fs::create_dir_all(folder).attempted(|| format!("make {} of the node", folder.display()))?;
    }
    let host = format!("{}\n", names.host);
    let texts = [
        (HOSTS, names.hosts.as_deref().unwrap_or_default()),
        (RESOLVER, &names.resolver),
        ("/etc/hostname", host.as_bytes()),
    ];
    for (path, text) in texts {
        lay::replace(Path::new(path), &mut &*text).map(drop).attempted(|| format!("make {path} of the node"))?;
    }
    match symlink("/proc/self/mounts", "/etc/mtab") {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).attempted(|| "make /etc/mtab of the node")
        }
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A `/dev` with the few devices of programs, terminals and memory that only this node shares.
fn devices(folder: &Path) -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    let file_system = |kind: &str, place: &Path, options: &str| {
        mount(Some(kind), place, Some(kind), flags, Some(options)).attempted(|| format!("mount {}", place.display()))
    };
    file_system("tmpfs", folder, "mode=755,size=64k")?;
    let make = |name: &str| {
        let place = folder.join(name);
        fs::create_dir_all(&place).attempted(|| format!("make {}", place.display()))?;
        Ok::<_, KernelError>(place)
    };
    for name in DEVICES {
        let (device, place) = (Path::new("/dev").join(name), folder.join(name));
        if !device.exists() {
            continue;
        }
        let made = place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&place));
        made.attempted(|| format!("make {}", place.display()))?;
        bind(&device, &place, MsFlags::empty())?;
    }
    file_system("devpts", &make("pts")?, "newinstance,ptmxmode=0666,mode=620")?;
    file_system("tmpfs", &make("shm")?, "mode=1777")?;
    // A kernel without message queues has programs that use none.
    let _ = file_system("mqueue", &make("mqueue")?, "");
    for (name, target) in LINKS {
        symlink(target, folder.join(name)).attempted(|| format!("make {}", folder.join(name).display()))?;
    }
    fs::set_permissions(folder, Permissions::from_mode(0o755)).attempted(|| "close /dev for others")
}
