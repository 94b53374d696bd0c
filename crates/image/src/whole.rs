//! The digest of a whole root file system that is a folder: `rootfs:` images and other roots have none of their own.

use crate::digest::{Digest, Hashing};
use crate::error::Attempted;
use crate::{ImageError, Limits};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

impl Digest {
    /// The digest of all that programs find in a folder: names, kinds, permissions, contents, and where links lead, in the order of names.
    /// Owners and times do not count, since copies have others.
    ///
    /// # Errors
    /// The system's refusal: what cannot be read cannot be compared.
    pub fn of_folder(folder: &Path) -> Result<Self, ImageError> {
        let mut record = Vec::new();
        add(folder, &|_| true, &mut record)?;
        Ok(Self::of(&record))
    }

    /// The digest of what a copy of a folder has, which lacks devices and sockets ([`is_copied`]).
    pub(crate) fn of_copied(folder: &Path) -> Result<Self, ImageError> {
        let mut record = Vec::new();
        add(folder, &is_copied, &mut record)?;
        Ok(Self::of(&record))
    }
}

/// Returns whether a copy of a folder has this entry: nodes have devices of their own, and sockets belong to processes.
pub(crate) fn is_copied(about: &Metadata) -> bool {
    let kind = about.file_type();
    kind.is_file() || kind.is_dir() || kind.is_symlink() || kind.is_fifo()
}

/// How a layer marks what it removes (layer.md of the OCI image specification, "Whiteouts").
const WHITEOUT: &[u8] = b".wh.";

/// Returns the size of a folder's files in bytes.
///
/// # Errors
/// [`ImageError::Unsuitable`]: it cannot be copied as an image, and why.
pub(crate) fn size(folder: &Path, limits: &Limits) -> Result<u64, ImageError> {
    let device = fs::metadata(folder).at("look at", folder)?.dev();
    let mut counts = (0, 0);
    count(folder, device, limits, &mut counts)?;
    Ok(counts.1)
}

/// Adds the entries of a folder and their bytes.
fn count(folder: &Path, device: u64, limits: &Limits, counts: &mut (u64, u64)) -> Result<(), ImageError> {
    let refused = |why: String| Err(ImageError::Unsuitable(why));
    for entry in fs::read_dir(folder).at("read", folder)? {
        let entry = entry.at("read", folder)?;
        let path = entry.path();
        let about = fs::symlink_metadata(&path).at("look at", &path)?;
        if about.dev() != device {
            return refused(format!("{} is another file system", path.display()));
        }
        if entry.file_name().as_bytes().starts_with(WHITEOUT) {
            return refused(format!("{} has a name by which images mark what is removed", path.display()));
        }
        counts.0 += 1;
        counts.1 += if about.is_file() { about.len() } else { 0 };
        if counts.0 > limits.entries {
            return refused(format!("it has more than {} entries", limits.entries));
        }
        if counts.1 > limits.folder {
            return refused(format!("its files have more than {} GB", limits.folder as f64 / 1e9));
        }
        if about.is_dir() {
            count(&path, device, limits, counts)?;
        }
    }
    Ok(())
}

/// Adds a line for each entry of a folder that is `wanted`, and of the folders in it. Names of any bytes are told apart by their lengths.
fn add(folder: &Path, wanted: &dyn Fn(&Metadata) -> bool, record: &mut Vec<u8>) -> Result<(), ImageError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).at("read", folder)?;
    let mut names: Vec<_> = entries.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let path = folder.join(&name);
        let about = fs::symlink_metadata(&path).at("look at", &path)?;
        if !wanted(&about) {
            continue;
        }
        let what = contents(&path, &about)?;
        record.extend_from_slice(format!("{:o} {} ", about.mode(), name.len()).as_bytes());
        record.extend_from_slice(name.as_bytes());
        record.extend_from_slice(&what);
        record.push(b'\n');
        if about.is_dir() {
            add(&path, wanted, record)?;
            // Two trees with the same lines at other depths are not the same.
            record.extend_from_slice(b"..\n");
        }
    }
    Ok(())
}

/// The contents of a file by their digest, the target of a link, or the number of a device.
fn contents(path: &Path, about: &Metadata) -> Result<Vec<u8>, ImageError> {
    let kind = about.file_type();
    if kind.is_symlink() {
        let target = fs::read_link(path).at("read", path)?;
        return Ok([b" -> ", target.as_os_str().as_bytes()].concat());
    }
    if kind.is_block_device() || kind.is_char_device() {
        return Ok(format!(" {}", about.rdev()).into_bytes());
    }
    if !kind.is_file() {
        return Ok(Vec::new());
    }
    let mut all = Hashing::new(File::open(path).at("open", path)?.take(u64::MAX));
    io::copy(&mut all, &mut io::sink()).at("read", path)?;
    Ok(format!(" {}", all.finish().0).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        fs::write(root.path().join("usr/bin/tool"), "one").unwrap();
        symlink("usr/bin", root.path().join("bin")).unwrap();
        root
    }

    /// A change of a folder, and what it changes.
    type Change = (&'static str, fn(&Path));

    #[test]
    fn whatever_programs_find_otherwise_makes_another_digest() {
        let of = |folder: &tempfile::TempDir| Digest::of_folder(folder.path()).unwrap();
        let whole = of(&root());
        assert_eq!(of(&root()), whole, "a copy has other owners and times");
        let changes: [Change; 6] = [
            ("contents", |root| fs::write(root.join("usr/bin/tool"), "two").unwrap()),
            ("a name", |root| fs::rename(root.join("usr/bin/tool"), root.join("usr/bin/other")).unwrap()),
            ("a place", |root| fs::rename(root.join("usr/bin/tool"), root.join("usr/tool")).unwrap()),
            ("rights", |root| fs::set_permissions(root.join("usr/bin/tool"), Permissions::from_mode(0o755)).unwrap()),
            ("a folder", |root| fs::create_dir(root.join("tmp")).unwrap()),
            ("a link", |root| {
                fs::remove_file(root.join("bin")).unwrap();
                symlink("usr", root.join("bin")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let changed = root();
            change(changed.path());
            assert_ne!(of(&changed), whole, "{what}");
        }
        assert!(Digest::of_folder(&root().path().join("none")).is_err());
    }
}
