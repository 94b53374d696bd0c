//! Puts the files and folders of a node where they belong.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::{Mode, umask};

use super::layers::{Layers, bind};
use super::{Contents, FileConfig, FilesConfig, HOSTS, is_named};
use crate::archive;
use crate::error::{Attempted, KernelError};
use crate::users::User;

/// Where the guest's memory is mounted while its files are laid: below `/dev`, where no file of a node can be.
const WORKSHOP: &str = "/dev/netloom";

/// What files are copied from, opened before their place may be hidden by others: by the places of the entries.
pub(super) type Sources = Vec<Option<File>>;

/// Opens everything that is copied.
pub(super) fn open_sources(entries: &[FileConfig]) -> Result<Sources, KernelError> {
    let open = |entry: &FileConfig| match &entry.contents {
        Contents::Copy(path) | Contents::Archive(path) => {
            // Neither waits for the other end of a pipe.
            let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
            opened.map(Some).attempted(|| format!("open {}, for {}", path.display(), entry.target.display()))
        }
        Contents::Empty | Contents::Text(_) => Ok(None),
    };
    entries.iter().map(open).collect()
}

/// Lays the files of a kernel node, whose root is a copy in the guest's memory already.
pub(super) fn lay(files: &FilesConfig) -> Result<(), KernelError> {
    if files.entries.is_empty() {
        return Ok(());
    }
    let sources = open_sources(&files.entries)?;
    in_workshop(|workshop| {
        let hosts = fs::read(HOSTS).ok();
        let mut layers = Layers::new(workshop.to_owned())?;
        lay_into(files, sources, hosts, &mut layers)?;
        // What has been mounted elsewhere stays there.
        umount2(workshop, MntFlags::MNT_DETACH).attempted(|| format!("hide {WORKSHOP}"))?;
        let _ = fs::remove_dir(workshop);
        Ok(())
    })
}

/// Calls a function with a folder in the memory of a kernel node.
pub(super) fn in_workshop(act: impl FnOnce(&Path) -> Result<(), KernelError>) -> Result<(), KernelError> {
    let attempted = || format!("mount a file system in memory at {WORKSHOP}");
    fs::create_dir_all(WORKSHOP).attempted(attempted)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), WORKSHOP, Some("tmpfs"), flags, Some("mode=711")).attempted(attempted)?;
    act(Path::new(WORKSHOP))
}

/// Lays all entries into this process's root, with `hosts` as the names of the lab.
pub(super) fn lay_into(
    files: &FilesConfig,
    sources: Sources,
    hosts: Option<Vec<u8>>,
    layers: &mut Layers,
) -> Result<(), KernelError> {
    // Services may look into their folders, whatever the umask of the user is.
    let theirs = umask(Mode::from_bits_truncate(0o022));
    let laid = lay_all(files, sources, hosts, layers);
    umask(theirs);
    laid
}

fn lay_all(
    files: &FilesConfig,
    sources: Sources,
    hosts: Option<Vec<u8>>,
    layers: &mut Layers,
) -> Result<(), KernelError> {
    for (entry, source) in files.entries.iter().zip(sources) {
        let attempted = || format!("make {} of the node", entry.target.display());
        if let Some(parent) = entry.target.parent() {
            fs::create_dir_all(parent).attempted(attempted)?;
        }
        put(entry, source, layers)?;
        let owner = entry.owner.as_deref().map(|name| owner(name, &entry.target)).transpose()?;
        if let Some(owner) = owner {
            give(&entry.target, &owner).attempted(|| format!("give {} to {}", entry.target.display(), owner.name))?;
        }
        if let Some(mode) = entry.mode {
            fs::set_permissions(&entry.target, fs::Permissions::from_mode(mode)).attempted(attempted)?;
        }
    }
    // A folder of the lab file's in the place of /etc hides the lab's names, which all nodes are to know.
    let hides_hosts = |entry: &FileConfig| Path::new(HOSTS).starts_with(&entry.target);
    match hosts.filter(|_| files.entries.iter().any(hides_hosts) && !is_named(&files.entries, HOSTS)) {
        Some(text) => {
            replace(Path::new(HOSTS), &mut &text[..]).map(drop).attempted(|| format!("make {HOSTS} of the node"))
        }
        None => Ok(()),
    }
}

fn put(entry: &FileConfig, source: Option<File>, layers: &mut Layers) -> Result<(), KernelError> {
    let target = entry.target.as_path();
    let attempted = || format!("make {} of the node", target.display());
    match (&entry.contents, source) {
        (Contents::Copy(_), Some(mut source)) => {
            let about = source.metadata().attempted(attempted)?;
            if about.is_dir() {
                make_folder(target)?;
                let lower = PathBuf::from(format!("/proc/self/fd/{}", source.as_raw_fd()));
                return layers.overlay(&lower, target, MsFlags::empty(), |_| Ok(()));
            }
            let copy = replace(target, &mut source).attempted(attempted)?;
            // As on the machine, where that user exists.
            let _ = lchown(target, Some(about.uid()), Some(about.gid()));
            copy.set_permissions(fs::Permissions::from_mode(about.mode() & 0o7777)).attempted(attempted)
        }
        (Contents::Text(text), _) => replace(target, &mut text.as_bytes()).map(drop).attempted(attempted),
        (Contents::Empty, _) => empty(target, layers),
        (Contents::Archive(_), Some(source)) => {
            empty(target, layers)?;
            archive::unpack(source, target).attempted(|| format!("bring back what was kept of {}", target.display()))
        }
        (Contents::Copy(path) | Contents::Archive(path), None) => {
            Err(KernelError::new(format!("open {}", path.display()), libc::ENOENT))
        }
    }
}

/// A folder in memory in the place of whatever is there.
fn empty(target: &Path, layers: &mut Layers) -> Result<(), KernelError> {
    make_folder(target)?;
    let folder = layers.folder()?;
    bind(&folder, target, MsFlags::empty())
}

fn make_folder(target: &Path) -> Result<(), KernelError> {
    match fs::create_dir(target) {
        Err(_) if target.is_dir() => Ok(()),
        other => other.attempted(|| format!("make {}", target.display())),
    }
}

/// Writes a file in the place of another; a link there is replaced, not followed.
pub(super) fn replace(target: &Path, contents: &mut dyn io::Read) -> io::Result<File> {
    match fs::remove_file(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o644).open(target)?;
    io::copy(contents, &mut file)?;
    // Whatever the umask of the user is.
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    Ok(file)
}

fn owner(name: &str, target: &Path) -> Result<User, KernelError> {
    let attempted = || format!("give {} to user {name}", target.display());
    let found = User::find(name).attempted(attempted)?;
    found.ok_or_else(|| KernelError::new(attempted(), 0).with_detail("no such user in the node's /etc/passwd"))
}

/// A file, or a folder with all that is in it; links themselves, and not what they lead to.
fn give(path: &Path, owner: &User) -> io::Result<()> {
    lchown(path, Some(owner.uid), Some(owner.gid))?;
    if !fs::symlink_metadata(path).as_ref().is_ok_and(Metadata::is_dir) {
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| give(&entry?.path(), owner))
}
