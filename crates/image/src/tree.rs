//! The folder that an image is unpacked to. Every name is resolved in it, as if it were the root of everything: neither links nor
//! `..` lead out of it (openat2(2), `RESOLVE_IN_ROOT`).

use crate::ImageError;
use crate::error::Attempted;
use crate::limits::{DEEPEST, LONGEST_PATH};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat2, readlink, statat, unlinkat,
};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

/// What a folder is to have when everything is in it: until then its owner can write to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) mode: u32,
    pub(crate) modified: (i64, u32),
}

/// A folder of the tree, open.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) fd: OwnedFd,
    inode: u64,
    /// Its path below the tree's root, without links; empty for the root itself.
    pub(crate) path: Vec<u8>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Tree {
    root: OwnedFd,
    root_path: Vec<u8>,
    /// What folders are to have, by their paths without links, and the sum of the lengths of those.
    finishes: BTreeMap<Vec<u8>, Finish>,
    names: u64,
    /// What this layer has put where: hashes of the folder's inode and the name.
    added: HashSet<u64>,
    hashes: RandomState,
    /// The last folder that was looked up, by the name by which it was.
    last: Option<(Vec<u8>, Rc<Folder>)>,
}

/// Opens something below `root`, as if that were the root of everything.
pub(crate) fn open_inside(
    root: impl AsFd,
    path: &[u8],
    flags: OFlags,
    more: ResolveFlags,
) -> rustix::io::Result<OwnedFd> {
    let name = if path.is_empty() { b"." } else { path };
    loop {
        match openat2(root.as_fd(), OsStr::from_bytes(name), flags, Mode::empty(), INSIDE | more) {
            // Something was renamed somewhere on the machine meanwhile, and the kernel cannot exclude that it matters.
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
}

/// How names are resolved.
const INSIDE: ResolveFlags = ResolveFlags::IN_ROOT.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_XDEV);

pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Tree {
    /// A tree in this folder, which exists and is empty.
    pub(crate) fn new(folder: &Path) -> Result<Self, ImageError> {
        let root = rustix::fs::open(folder, FOLDER, Mode::empty()).at("open", folder)?;
        let root_path = path_of(root.as_fd()).at("find", folder)?;
        Ok(Self {
            root,
            root_path,
            finishes: BTreeMap::new(),
            names: 0,
            added: HashSet::new(),
            hashes: RandomState::new(),
            last: None,
        })
    }

    /// Its root.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// From here on a new layer adds its entries.
    pub(crate) fn begin_layer(&mut self) {
        self.added.clear();
    }

    /// The lengths of the names of all folders together.
    pub(crate) fn names(&self) -> u64 {
        self.names
    }

    /// The folder of this path, of which every part exists.
    pub(crate) fn folder(&mut self, path: &[u8]) -> Result<Option<Rc<Folder>>, ImageError> {
        if let Some((_, folder)) = self.last.as_ref().filter(|(last, _)| last == path) {
            return Ok(Some(Rc::clone(folder)));
        }
        let attempted = || format!("open {} of the image", crate::error::printable(path));
        let fd = match open_inside(&self.root, path, FOLDER, ResolveFlags::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(Errno::LOOP) => return Err(ImageError::refused(path, "its links lead in a circle")),
            Err(error) => return Err(error).attempted(attempted),
        };
        let inode = fstat(&fd).attempted(attempted)?.st_ino;
        let whole = path_of(fd.as_fd()).attempted(attempted)?;
        let below = whole
            .strip_prefix(&self.root_path[..])
            .ok_or_else(|| ImageError::refused(path, "it leads out of the image"))?;
        let real = below.strip_prefix(b"/").unwrap_or(below).to_vec();
        let folder = Rc::new(Folder { fd, inode, path: real });
        self.last = Some((path.to_vec(), Rc::clone(&folder)));
        Ok(Some(folder))
    }

    /// The folder of this path; parts that do not exist are made.
    pub(crate) fn made_folder(&mut self, path: &[u8]) -> Result<Rc<Folder>, ImageError> {
        if let Some(folder) = self.folder(path)? {
            return Ok(folder);
        }
        let (above, name) = split(path);
        let parent = self.made_folder(above)?;
        // A link that leads nowhere, or a file, is in the way.
        self.erase(&parent, name)?;
        self.make_folder(&parent, name, Finish { mode: 0o755, modified: (0, 0) })?;
        self.folder(path)?.ok_or_else(|| ImageError::refused(path, "it cannot be a folder"))
    }

    /// Makes a folder, or lets that be which is there.
    pub(crate) fn make_folder(&mut self, parent: &Folder, name: &[u8], finish: Finish) -> Result<(), ImageError> {
        let path = if parent.path.is_empty() { name.to_vec() } else { [&parent.path[..], b"/", name].concat() };
        if path.iter().filter(|byte| **byte == b'/').count() >= DEEPEST || path.len() >= LONGEST_PATH {
            return Err(ImageError::refused(&path, format!("it is more than {DEEPEST} folders deep")));
        }
        match mkdirat(&parent.fd, OsStr::from_bytes(name), Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error).attempted(|| format!("make {}", crate::error::printable(&path))),
        }
        self.add(parent, name);
        self.finish(path, finish);
        Ok(())
    }

    /// What the folder of this path, without links, is to have in the end.
    pub(crate) fn finish(&mut self, path: Vec<u8>, finish: Finish) {
        self.names += path.len() as u64;
        self.finishes.insert(path, finish);
    }

    /// Notes that this layer has put something there.
    pub(crate) fn add(&mut self, parent: &Folder, name: &[u8]) {
        self.added.insert(self.hash(parent.inode, name));
    }

    fn hash(&self, folder: u64, name: &[u8]) -> u64 {
        self.hashes.hash_one((folder, name))
    }

    /// What there is; links are not followed.
    pub(crate) fn look(parent: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Stat>, ImageError> {
        match statat(parent, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error).attempted(|| format!("look at {} of the image", crate::error::printable(name))),
        }
    }

    /// Removes whatever is there.
    pub(crate) fn erase(&mut self, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        let Some(found) = Self::look(parent.fd.as_fd(), name)? else { return Ok(()) };
        if is_folder(&found) {
            let path = if parent.path.is_empty() { name.to_vec() } else { [&parent.path[..], b"/", name].concat() };
            self.forget(&path);
        }
        self.last = None;
        self.take_away(parent.fd.as_fd(), parent.inode, name, &mut |_| false).map(drop)
    }

    /// Hides what lower layers have put there; what this layer has put there, or below, stays.
    pub(crate) fn hide(&mut self, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        if Self::look(parent.fd.as_fd(), name)?.is_none() {
            return Ok(());
        }
        self.last = None;
        let added = std::mem::take(&mut self.added);
        let done = self.take_away(parent.fd.as_fd(), parent.inode, name, &mut |hash| added.contains(&hash));
        self.added = added;
        done.map(drop)
    }

    /// Hides everything that lower layers have put into a folder.
    pub(crate) fn hide_all(&mut self, folder: &Folder) -> Result<(), ImageError> {
        names(folder.fd.as_fd())?.iter().try_for_each(|name| self.hide(folder, name))
    }

    /// Removes what is there and below unless it is `kept`, by its hash; returns whether nothing stays.
    fn take_away(
        &self,
        parent: BorrowedFd<'_>,
        inode: u64,
        name: &[u8],
        kept: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, ImageError> {
        let Some(found) = Self::look(parent, name)? else { return Ok(true) };
        let mut is_free = !kept(self.hash(inode, name));
        let name_of = || crate::error::printable(name);
        if is_folder(&found) {
            let flags = FOLDER | OFlags::NOFOLLOW;
            let folder = rustix::fs::openat(parent, OsStr::from_bytes(name), flags, Mode::empty())
                .attempted(|| format!("open {}", name_of()))?;
            for inner in names(folder.as_fd())? {
                is_free &= self.take_away(folder.as_fd(), found.st_ino, &inner, kept)?;
            }
        }
        if is_free {
            let flags = if is_folder(&found) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            unlinkat(parent, OsStr::from_bytes(name), flags).attempted(|| format!("remove {}", name_of()))?;
        }
        Ok(is_free)
    }

    /// A folder and those below are no more.
    fn forget(&mut self, path: &[u8]) {
        self.finishes.remove(path);
        let below = [path, b"/"].concat();
        let gone: Vec<Vec<u8>> = self
            .finishes
            .range(below.clone()..)
            .take_while(|(other, _)| other.starts_with(&below))
            .map(|(other, _)| other.clone())
            .collect();
        for folder in gone {
            self.finishes.remove(&folder);
        }
    }

    /// Gives all folders what they are to have, those inside before those around them.
    pub(crate) fn finish_all(
        &mut self,
        mut give: impl FnMut(BorrowedFd<'_>, &Finish) -> Result<(), ImageError>,
    ) -> Result<(), ImageError> {
        self.last = None;
        for (path, finish) in std::mem::take(&mut self.finishes).iter().rev() {
            match open_inside(&self.root, path, FOLDER, ResolveFlags::NO_SYMLINKS) {
                Ok(fd) => give(fd.as_fd(), finish)?,
                // A whiteout took it away.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(error) => return Err(error).attempted(|| format!("open {}", crate::error::printable(path))),
            }
        }
        Ok(())
    }
}

/// Whether this is a folder.
pub(crate) fn is_folder(about: &Stat) -> bool {
    FileType::from_raw_mode(about.st_mode) == FileType::Directory
}

/// A path without its last part, and that.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The path of what is open, as the kernel knows it.
fn path_of(fd: BorrowedFd<'_>) -> rustix::io::Result<Vec<u8>> {
    readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new()).map(std::ffi::CString::into_bytes)
}

/// What is in a folder.
pub(crate) fn names(folder: BorrowedFd<'_>) -> Result<Vec<Vec<u8>>, ImageError> {
    let attempted = || "read a folder of the image";
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).attempted(attempted)? {
        let entry = entry.attempted(attempted)?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}
