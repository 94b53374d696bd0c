//! How a layer is applied to a tree (layer.md of the OCI image specification, "Applying Changesets").
//!
//! Everything in it was written by a stranger. What cannot be had is left out and counted ([`Left`]); what would leave the tree, or grow
//! without bound, ends the import.

use crate::ImageError;
use crate::entries::{Entries, Entry, Kind};
use crate::error::Attempted;
use crate::left::Left;
use crate::limits::{DEEPEST, LONGEST_PATH, Limits};
use crate::tree::{Finish, Folder, Tree, is_folder, split};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid, XattrFlags, chmodat, chownat, fchmod, fchown,
    fsetxattr, fstatvfs, futimens, linkat, mknodat, openat, symlinkat, utimensat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Names that mark what is not there any more (layer.md, "Whiteouts").
const WHITEOUT: &[u8] = b".wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";
/// What aufs kept for itself.
const OF_AUFS: &[u8] = b".wh..wh.";

/// The attribute of a program that lets it do some of what root may (capabilities(7)).
const CAPABILITIES: &[u8] = b"security.capability";

/// Applies layers, one after the other.
pub(crate) struct Applier<'a> {
    tree: &'a mut Tree,
    limits: &'a Limits,
    /// Whether owners can be given: by root of the machine alone.
    owners: bool,
    entries: u64,
    /// With those that say more of an entry.
    headers: u64,
    bytes: u64,
    /// What was found free on the file system and is not used yet.
    free: u64,
    left: Left,
    folder: &'a Path,
    buffer: Vec<u8>,
}

/// How much of a file is written at a time, in bytes.
const PIECE: usize = 1 << 17;

impl<'a> Applier<'a> {
    /// `folder` is where the tree is.
    pub(crate) fn new(tree: &'a mut Tree, folder: &'a Path, limits: &'a Limits) -> Self {
        let (owners, buffer) = (rustix::process::geteuid().is_root(), vec![0; PIECE]);
        Self { tree, limits, owners, entries: 0, headers: 0, bytes: 0, free: 0, left: Left::default(), folder, buffer }
    }

    /// Applies a layer, as far as the end of its archive; behind that nothing is read.
    pub(crate) fn apply(&mut self, layer: impl Read, what: &str) -> Result<(), ImageError> {
        self.tree.begin_layer();
        let mut entries = Entries::new(layer, what);
        while let Some(entry) = entries.next()? {
            self.entries += 1;
            if self.headers + entries.seen() > self.limits.entries {
                let why = format!(
                    "it is beyond the first {}, which are the most that an image may have",
                    self.limits.entries
                );
                return Err(ImageError::refused(&entry.path, why));
            }
            self.put(&entry, &mut entries)?;
        }
        self.headers += entries.seen();
        Ok(())
    }

    /// Gives folders their permissions. How many entries and bytes there were, and what was left out.
    pub(crate) fn finish(self) -> Result<(u64, u64, Left), ImageError> {
        let mode = |finish: &Finish| mode(finish.mode, self.owners);
        self.tree.finish_all(|folder, finish| {
            fchmod(folder, mode(finish)).attempted(|| "give a folder its permissions")?;
            futimens(folder, &times(finish.modified)).attempted(|| "give a folder its time")
        })?;
        Ok((self.entries, self.bytes, self.left))
    }

    fn put(&mut self, entry: &Entry, contents: &mut impl Read) -> Result<(), ImageError> {
        let path = inside(&entry.path, &entry.path)?;
        let (above, name) = split(&path);
        if name.starts_with(WHITEOUT) {
            return self.white_out(entry, above, name);
        }
        if name.is_empty() {
            return self.root(entry);
        }
        if entry.kind == Kind::Device {
            // Programs find devices below /dev, which each node has of its own.
            self.left.devices += 1;
            return Ok(());
        }
        let parent = self.tree.made_folder(above)?;
        if entry.kind == Kind::Folder {
            return self.folder(entry, &parent, name);
        }
        // Whatever it leads to is looked up before the link takes the place of something.
        let target = if entry.kind == Kind::HardLink { Some(self.target(entry)?) } else { None };
        if target.as_ref().is_some_and(|(folder, linked)| folder.path == parent.path && linked == name) {
            return Ok(());
        }
        self.tree.erase(&parent, name)?;
        match (entry.kind, target) {
            (Kind::File, _) => self.file(entry, &parent, name, contents)?,
            (Kind::HardLink, Some((folder, linked))) => {
                linkat(&folder.fd, OsStr::from_bytes(&linked), &parent.fd, OsStr::from_bytes(name), AtFlags::empty())
                    .map_err(|error| {
                    ImageError::refused(
                        &entry.path,
                        format!("no link to {}: {error}", crate::error::printable(&entry.link)),
                    )
                })?;
            }
            (Kind::Symlink, _) => self.symlink(entry, &parent, name)?,
            _ => self.fifo(entry, &parent, name)?,
        }
        self.tree.add(&parent, name);
        Ok(())
    }

    fn white_out(&mut self, entry: &Entry, above: &[u8], name: &[u8]) -> Result<(), ImageError> {
        let hidden = &name[WHITEOUT.len()..];
        if name != OPAQUE && name.starts_with(OF_AUFS) {
            return Ok(());
        }
        if matches!(hidden, b"" | b"." | b"..") {
            return Err(ImageError::refused(&entry.path, "it is a whiteout without a name"));
        }
        let Some(folder) = self.tree.folder(above)? else { return Ok(()) };
        if name == OPAQUE { self.tree.hide_all(&folder) } else { self.tree.hide(&folder, hidden) }
    }

    /// What the layer says of the root itself.
    fn root(&mut self, entry: &Entry) -> Result<(), ImageError> {
        if entry.kind != Kind::Folder {
            return Err(ImageError::refused(&entry.path, "the root of an image is a folder"));
        }
        self.own(entry, self.tree.root().try_clone_to_owned().attempted(|| "open the image's root")?.as_fd())?;
        self.tree.finish(Vec::new(), Finish { mode: entry.mode, modified: entry.modified });
        Ok(())
    }

    fn folder(&mut self, entry: &Entry, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        let there = Tree::look(parent.fd.as_fd(), name)?;
        if there.is_some_and(|found| !is_folder(&found)) {
            self.tree.erase(parent, name)?;
        }
        self.tree.make_folder(parent, name, Finish { mode: entry.mode, modified: entry.modified })?;
        if self.tree.names() > self.limits.folder_names {
            return Err(ImageError::refused(&entry.path, "the names of the image's folders are too long together"));
        }
        if self.owners || !entry.attributes.is_empty() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = openat(&parent.fd, OsStr::from_bytes(name), flags, Mode::empty())
                .attempted(|| attempted("open", entry))?;
            self.own(entry, folder.as_fd())?;
        } else {
            self.count_owner(entry);
        }
        Ok(())
    }

    fn file(
        &mut self,
        entry: &Entry,
        parent: &Folder,
        name: &[u8],
        contents: &mut impl Read,
    ) -> Result<(), ImageError> {
        self.take_room(entry, parent.fd.as_fd())?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(&parent.fd, OsStr::from_bytes(name), flags, Mode::RUSR | Mode::WUSR)
            .attempted(|| attempted("make", entry))?;
        let mut file = File::from(made);
        loop {
            match contents.read(&mut self.buffer).attempted(|| attempted("read", entry))? {
                0 => break,
                count => file.write_all(&self.buffer[..count]).attempted(|| attempted("write", entry))?,
            }
        }
        self.own(entry, file.as_fd())?;
        fchmod(&file, self.mode_of(entry)).attempted(|| attempted("give its permissions to", entry))?;
        futimens(&file, &times(entry.modified)).attempted(|| attempted("give its time to", entry))
    }

    /// Bounds what is written.
    fn take_room(&mut self, entry: &Entry, folder: BorrowedFd<'_>) -> Result<(), ImageError> {
        let bytes = self.bytes.saturating_add(entry.size);
        if bytes > self.limits.bytes {
            let why = format!(
                "with it the image has more than {} bytes, which are the most that it may have",
                self.limits.bytes
            );
            return Err(ImageError::refused(&entry.path, why));
        }
        self.bytes = bytes;
        if self.free < entry.size {
            let free = free_in(folder).attempted(|| "ask for room on the file system")?;
            self.free = free.saturating_sub(self.limits.reserve);
        }
        self.free = self
            .free
            .checked_sub(entry.size)
            .ok_or_else(|| ImageError::NoRoom { folder: self.folder.to_owned(), wanted: entry.size })?;
        Ok(())
    }

    /// The folder and name of what a hard link is to be another name of.
    fn target(&mut self, entry: &Entry) -> Result<(std::rc::Rc<Folder>, Vec<u8>), ImageError> {
        let path = inside(&entry.link, &entry.path)?;
        let (above, name) = split(&path);
        let missing = || {
            ImageError::refused(
                &entry.path,
                format!("it is a link to {}, which is not in the image", crate::error::printable(&entry.link)),
            )
        };
        let folder = self.tree.folder(above)?.ok_or_else(missing)?;
        let found = if name.is_empty() { None } else { Tree::look(folder.fd.as_fd(), name)? };
        match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
            Some(FileType::RegularFile | FileType::Symlink | FileType::Fifo) => Ok((folder, name.to_vec())),
            Some(_) => Err(ImageError::refused(&entry.path, "it is a link to a folder")),
            None => Err(missing()),
        }
    }

    fn symlink(&mut self, entry: &Entry, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        if entry.link.is_empty() || entry.link.len() >= LONGEST_PATH || entry.link.contains(&0) {
            return Err(ImageError::refused(&entry.path, "it leads to no possible path"));
        }
        symlinkat(OsStr::from_bytes(&entry.link), &parent.fd, OsStr::from_bytes(name))
            .attempted(|| attempted("make", entry))?;
        self.own_by_name(entry, parent, name)
    }

    fn fifo(&mut self, entry: &Entry, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        let path = OsStr::from_bytes(name);
        mknodat(&parent.fd, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).attempted(|| attempted("make", entry))?;
        self.own_by_name(entry, parent, name)?;
        chmodat(&parent.fd, path, self.mode_of(entry), AtFlags::empty())
            .attempted(|| attempted("give its permissions to", entry))
    }

    fn mode_of(&self, entry: &Entry) -> Mode {
        mode(entry.mode, self.owners)
    }

    /// Owner and attributes of what is open.
    fn own(&mut self, entry: &Entry, fd: BorrowedFd<'_>) -> Result<(), ImageError> {
        if let Some((owner, group)) = self.owner(entry) {
            match fchown(fd, Some(owner), Some(group)) {
                Err(Errno::INVAL | Errno::PERM) => self.left.owners += 1,
                other => other.attempted(|| attempted("give its owner to", entry))?,
            }
        }
        for (name, value) in &entry.attributes {
            let is_kept = name.starts_with(b"user.") && !name.starts_with(b"user.overlay.")
                || self.owners && name == CAPABILITIES;
            let set = is_kept.then(|| fsetxattr(fd, OsStr::from_bytes(name), value, XattrFlags::empty()));
            match set {
                Some(Ok(())) => {}
                None
                | Some(Err(Errno::NOTSUP | Errno::PERM | Errno::INVAL | Errno::RANGE | Errno::TOOBIG | Errno::NOSPC)) =>
                {
                    self.left.attributes += 1;
                }
                Some(other) => other.attempted(|| attempted("give its attributes to", entry))?,
            }
        }
        Ok(())
    }

    /// Owner and time of what cannot be opened.
    fn own_by_name(&mut self, entry: &Entry, parent: &Folder, name: &[u8]) -> Result<(), ImageError> {
        let path = OsStr::from_bytes(name);
        if let Some((owner, group)) = self.owner(entry) {
            match chownat(&parent.fd, path, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::INVAL | Errno::PERM) => self.left.owners += 1,
                other => other.attempted(|| attempted("give its owner to", entry))?,
            }
        }
        self.left.attributes += entry.attributes.len() as u64;
        utimensat(&parent.fd, path, &times(entry.modified), AtFlags::SYMLINK_NOFOLLOW)
            .attempted(|| attempted("give its time to", entry))
    }

    /// To whom an entry is given; none if to nobody.
    fn owner(&mut self, entry: &Entry) -> Option<(Uid, Gid)> {
        self.count_owner(entry);
        let number = |number: u64| u32::try_from(number).ok().filter(|number| *number != u32::MAX);
        let owner = number(entry.owner).zip(number(entry.group)).filter(|_| self.owners)?;
        Some((Uid::from_raw(owner.0), Gid::from_raw(owner.1)))
    }

    fn count_owner(&mut self, entry: &Entry) {
        let is_of_another = (entry.owner, entry.group) != (0, 0);
        self.left.owners += u64::from(is_of_another && !self.owners);
    }
}

/// How many bytes an ordinary user may still write on the file system of this folder.
///
/// # Errors
/// What the kernel says.
pub fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    Ok(free_in(File::open(folder)?.as_fd())?)
}

fn free_in(folder: BorrowedFd<'_>) -> Result<u64, Errno> {
    let found = fstatvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Permissions. Without owners a program would get the rights of the wrong user by the bits that lend those of its owner.
fn mode(bits: u32, owners: bool) -> Mode {
    Mode::from_raw_mode(if owners { bits } else { bits & 0o1777 })
}

fn times((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    let time = Timespec { tv_sec: seconds, tv_nsec: i64::from(nanoseconds) };
    Timestamps { last_access: time, last_modification: time }
}

fn attempted(verb: &str, entry: &Entry) -> String {
    format!("{verb} {} of the image", crate::error::printable(&entry.path))
}

/// A path below the root: without `.`, and empty for the root itself. `entry` is named in errors.
fn inside(path: &[u8], entry: &[u8]) -> Result<Vec<u8>, ImageError> {
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    if parts.contains(&&b".."[..]) {
        return Err(ImageError::refused(entry, "its path leads upwards"));
    }
    let joined = parts.join(&b'/');
    if joined.contains(&0) {
        return Err(ImageError::refused(entry, "its path has a NUL character"));
    }
    if joined.len() >= LONGEST_PATH || parts.len() > DEEPEST {
        let why = format!("its path has more than {LONGEST_PATH} bytes or {DEEPEST} folders");
        return Err(ImageError::refused(entry, why));
    }
    Ok(joined)
}

#[cfg(test)]
mod tests;
