//! Reads an archive.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::{self, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::path::{Component, Path, PathBuf};

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use tar::{Archive, Entry, EntryType};

/// Restores everything in the archive in the empty folder `target`, with owners, permissions and links.
///
/// # Errors
/// That the archive is damaged, or what the kernel refused.
pub(crate) fn unpack(file: File, target: &Path) -> io::Result<()> {
    let mut folders = Vec::new();
    for entry in Archive::new(BufReader::new(file)).entries()? {
        let mut entry = entry?;
        let path = target.join(place(&entry)?);
        let header = entry.header();
        let kind = header.entry_type();
        let (uid, gid) = (u32::try_from(header.uid()?), u32::try_from(header.gid()?));
        let (mode, time) = (header.mode()? & 0o7777, header.mtime()?);
        match kind {
            EntryType::Directory => match fs::create_dir(&path) {
                Err(_) if path.is_dir() => {}
                other => other?,
            },
            EntryType::Symlink => symlink(entry.link_name()?.unwrap_or_default(), &path)?,
            _ => drop(write(&mut entry, &path)?),
        }
        lchown(&path, uid.ok(), gid.ok()).map_err(|error| {
            let whose = format!("{} belongs to user {uid:?}, group {gid:?}", path.display());
            io::Error::new(error.kind(), format!("{whose}, which this lab cannot give it to: {error}"))
        })?;
        if kind != EntryType::Symlink {
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
        // Writing into a folder changes its time, so that is set last.
        if kind == EntryType::Directory { folders.push((path, time)) } else { set_time(&path, time)? }
    }
    folders.into_iter().rev().try_for_each(|(path, time)| set_time(&path, time))
}

/// Puts the files of an untrusted archive into the folder `target`: files and folders only, which belong to
/// the caller.
///
/// # Errors
/// That the archive is damaged, or what the kernel refused.
pub fn unpack_plainly(file: File, target: &Path) -> io::Result<()> {
    for entry in Archive::new(BufReader::new(file)).entries()? {
        let mut entry = entry?;
        let path = target.join(place(&entry)?);
        match entry.header().entry_type() {
            EntryType::Directory => fs::create_dir_all(&path)?,
            EntryType::Regular => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                write(&mut entry, &path)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where an entry belongs, below the folder that is unpacked to.
fn place(entry: &Entry<'_, impl io::Read>) -> io::Result<PathBuf> {
    let path = entry.path()?;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            _ => return Err(io::Error::other(format!("the archive has a file with the path {}", path.display()))),
        }
    }
    Ok(plain)
}

fn write(entry: &mut Entry<'_, impl io::Read>, path: &Path) -> io::Result<File> {
    let mut file = File::options().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    io::copy(entry, &mut file)?;
    Ok(file)
}

fn set_time(path: &Path, seconds: u64) -> io::Result<()> {
    let time = TimeSpec::new(seconds.try_into().unwrap_or(0), 0);
    let path = CString::new(path.as_os_str().as_bytes())?;
    utimensat(nix::fcntl::AT_FDCWD, path.as_c_str(), &time, &time, UtimensatFlags::NoFollowSymlink)?;
    Ok(())
}
