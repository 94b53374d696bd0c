//! A folder out of which no path leads: neither `..` nor an absolute path, nor a symbolic link. The kernel sees to that, at each step of a path
//! (`openat2` with `RESOLVE_BENEATH`), so that nothing can be exchanged between a look and an access.

use crate::answer::Refusal;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// See the module.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    root: OwnedFd,
}

/// Whether a path may lead over symbolic links, which stay in the folder all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

impl Folder {
    /// # Errors
    /// What the kernel says.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let root = File::open(&path)?;
        if !root.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { path, root: root.into() })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A regular file, of which nothing is read yet.
    pub(crate) fn file(&self, path: &str, links: Links) -> Result<File, Refusal> {
        let path = checked(path)?;
        // To open a pipe would wait, and a device may do anything.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.beneath(path, flags, links).map(File::from).map_err(|errno| refused(path, errno))?;
        match file.metadata() {
            Ok(about) if about.is_file() => Ok(file),
            // It is there: nothing new may be put in its place.
            _ => Err(Refusal::forbidden(format!("{} is not a file", path.display()))),
        }
    }

    /// What is at this path.
    pub(crate) fn beneath(&self, path: &Path, flags: OFlags, links: Links) -> rustix::io::Result<OwnedFd> {
        let refused = match links {
            Links::Followed => ResolveFlags::empty(),
            Links::Refused => ResolveFlags::NO_SYMLINKS,
        };
        openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | refused)
    }
}

/// A path that stays inside; the kernel sees to what links make of it.
pub(crate) fn checked(path: &str) -> Result<&Path, Refusal> {
    let given = Path::new(path);
    let is_inside = given.components().all(|part| matches!(part, Component::Normal(_))) && !path.is_empty();
    if !is_inside || path.contains('\0') || path.len() > 4_000 {
        return Err(outside(given));
    }
    Ok(given)
}

pub(crate) fn outside(path: &Path) -> Refusal {
    Refusal::forbidden(format!("{} leads out of the folder that is served", path.display()))
}

/// What the kernel says of a path, in words.
pub(crate) fn refused(path: &Path, errno: Errno) -> Refusal {
    match errno {
        Errno::XDEV => outside(path),
        Errno::LOOP => Refusal::forbidden(format!(
            "{} leads over a symbolic link, and maybe out of the folder that is served: open the file that it leads to",
            path.display()
        )),
        Errno::NOENT | Errno::NOTDIR => Refusal::missing(format!("there is no {}", path.display())),
        Errno::ACCESS => Refusal::forbidden(format!("reading {}: {errno}", path.display())),
        // A socket cannot be opened.
        Errno::NXIO => Refusal::forbidden(format!("{} is not a file", path.display())),
        errno => Refusal::failed(format!("opening {}: {errno}", path.display())),
    }
}
