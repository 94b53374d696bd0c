//! The cache of unpacked images of this user.
//!
//! `$XDG_CACHE_HOME/netloom/images`, or `~/.cache/netloom/images`, which its owner alone may enter, holds:
//!
//! | what | |
//! |---|---|
//! | `index.json` | the images, and their names |
//! | `trees/HEX` | an unpacked root file system, named by the digest of its layers: it was renamed to its place as a whole |
//! | `staging/HEX` | one that is being unpacked or removed |
//! | `downloads/HEX` | one that is being fetched, named by the digest of its manifest, whose lock is held |
//! | `locks/HEX` | held for writing while the tree is made or removed, and for reading as long as it is used |
//! | `lock` | held while `index.json` changes |
//!
//! What a process that was killed has left in `staging` has no holder of its lock, and the next change sweeps it.

mod index;

use crate::contents::Contents;
use crate::download::Download;
use crate::folders::Folders;
use crate::import::{self, Progress};
use crate::left::Left;
use crate::lock::Lock;
use crate::pack::Packed;
use crate::record::Record;
use crate::root::Root;
use crate::{Config, Digest, ImageError, Limits, Name, Source};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// An image that can be used. As long as the value lives, in any process, nobody removes it from the cache.
#[derive(Debug)]
pub struct Image {
    /// The folder with its root file system.
    pub folder: PathBuf,
    /// The record of the image; none of a folder that is no image.
    pub record: Option<Record>,
    _lock: Option<Lock>,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The image.
    pub record: Record,
    /// Its names.
    pub names: Vec<Name>,
    /// Whether it was unpacked now, not before.
    pub is_new: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Store {
    folders: Folders,
    limits: Limits,
}

impl Store {
    /// The cache of this user.
    ///
    /// # Errors
    /// When neither `XDG_CACHE_HOME` nor `HOME` says where it is.
    pub fn of_user() -> Result<Self, ImageError> {
        let cache = netloom_regular::cache_folder().ok_or_else(|| {
            ImageError::Missing("neither XDG_CACHE_HOME nor HOME names a folder for images: set one of them".into())
        })?;
        Ok(Self::at(&cache.join("images"), Limits::default()))
    }

    /// A cache in this folder, which need not exist yet.
    pub fn at(folder: &Path, limits: Limits) -> Self {
        Self { folders: Folders::new(folder), limits }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folders.base()
    }

    /// Unpacks an image, unless that was done before, and gives it `name`, or the names that its source says.
    ///
    /// # Errors
    /// See [`ImageError`]. The cache is as before then.
    pub fn import(
        &self,
        source: &Source,
        name: Option<Name>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Imported, ImageError> {
        let contents = self.open(source)?;
        let names: Vec<Name> = name.map_or_else(|| contents.names.clone(), |name| vec![name]);
        let (record, _lock, is_new) = self.bring(contents, &names, progress)?;
        Ok(Imported { record, names, is_new })
    }

    /// A place for the parts of the image with this manifest; what has come before is there. It waits for others that fetch the same.
    ///
    /// # Errors
    /// What the system says.
    pub fn download(&self, manifest: Digest, progress: &mut dyn FnMut(Progress)) -> Result<Download, ImageError> {
        self.folders.make()?;
        self.folders.sweep_downloads();
        let path = self.folders.lock_of(&manifest);
        let lock = match Lock::try_exclusive(&path)? {
            Some(lock) => lock,
            None => {
                progress(Progress::Waiting);
                Lock::exclusive(&path)?
            }
        };
        Download::begin(self.folders.download(&manifest), manifest, self.limits.reserve, lock)
    }

    /// Unpacks what was fetched, all of whose parts are there; `source` is where it came from. What was fetched is removed.
    ///
    /// # Errors
    /// See [`ImageError`]. The cache is as before then.
    pub fn import_download(
        &self,
        download: Download,
        source: &str,
        names: Vec<Name>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Imported, ImageError> {
        let done = (|| {
            let contents = Contents { what: source.to_owned(), ..crate::layout::open(download.finish()?, None)? };
            let (record, _lock, is_new) = self.bring(contents, &names, progress)?;
            Ok(Imported { record, names, is_new })
        })();
        // What is right so far serves the next attempt, if this one failed for want of room.
        if !matches!(done, Err(ImageError::Io { .. } | ImageError::NoRoom { .. })) {
            download.remove();
        }
        done
    }

    /// Copies a folder that is a root file system into the cache, unless that was done before. Its ID is the digest of all that is in it but devices and
    /// sockets, and it has no name: it is for machines without the folder.
    ///
    /// # Errors
    /// [`ImageError::Unsuitable`]: it cannot be copied, and why. See [`ImageError`] for others. The cache is as before then.
    pub fn copy(&self, folder: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Record, ImageError> {
        let bytes = crate::whole::size(folder, &self.limits)?;
        let id = Digest::of_copied(folder)?;
        let wanted = Record::new(id, id, Source::Rootfs(folder.to_owned()).to_string(), Config::default());
        let copied = self.put(wanted, &[], progress, |progress| {
            progress(Progress::Folder { bytes });
            import::copy(folder, &id, &self.folders, &self.limits)
        });
        copied.map(|(record, _lock, _)| record).map_err(|error| match Digest::of_copied(folder) {
            // A file that became shorter meanwhile makes an archive that is damaged.
            Ok(now) if now != id => ImageError::Changed(folder.to_owned()),
            _ => error,
        })
    }

    /// Writes an image of the cache as one file, for [`Store::take`] of another machine of the same user.
    ///
    /// # Errors
    /// If it is not in the cache, or what the system says of it or of `output`.
    pub fn pack(&self, source: &Source, output: &mut dyn Write) -> Result<Record, ImageError> {
        let image = self.get(source, &mut |_| {})?;
        let record = image.record.clone();
        let record = record.ok_or_else(|| ImageError::Unsuitable(format!("{source} is a folder, not an image")))?;
        crate::pack::write(&record, &image.folder, output)?;
        Ok(record)
    }

    /// Takes an image that [`Store::pack`] wrote, unless it is there. Whether it is what its digests say, they cannot confirm: the caller knows the
    /// file. It gets no name, since names are for whoever uses this machine.
    ///
    /// # Errors
    /// See [`ImageError`]. The cache is as before then.
    pub fn take(&self, file: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Imported, ImageError> {
        let packed = Packed::open(file)?;
        let (record, _lock, is_new) = self.put(packed.record.clone(), &[], progress, |progress| {
            import::unpack_whole(packed, &self.folders, &self.limits, progress)
        })?;
        Ok(Imported { record, names: Vec::new(), is_new })
    }

    /// Gives further names to an image that is in the cache, by the digest of its configuration; none if it is not.
    ///
    /// # Errors
    /// When the index cannot be read or written.
    pub fn name(&self, id: &Digest, names: &[Name]) -> Result<Option<Imported>, ImageError> {
        let Some(record) = self.index()?.images.get(id).cloned() else { return Ok(None) };
        let _lock = Lock::shared(&self.folders.lock_of(&record.chain))?;
        if !self.folders.tree(&record.chain).is_dir() {
            return Ok(None);
        }
        self.note(record.clone(), names)?;
        Ok(Some(Imported { record, names: names.to_vec(), is_new: false }))
    }

    /// How large images may become.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The image that a lab names, which is unpacked if it has to be.
    ///
    /// # Errors
    /// See [`ImageError`].
    pub fn get(&self, source: &Source, progress: &mut dyn FnMut(Progress)) -> Result<Image, ImageError> {
        let record = match source {
            Source::Rootfs(folder) => {
                // That it can be opened is known before a lab is made.
                Root::open(folder)?;
                return Ok(Image { folder: folder.clone(), record: None, _lock: None });
            }
            Source::Named(name) => self.index()?.named(name)?.clone(),
            Source::Digest(digits) => self.index()?.with_digest(digits)?.clone(),
            Source::Oci { .. } | Source::DockerArchive { .. } => {
                let contents = self.open(source)?;
                let (record, lock, _) = self.bring(contents, &[], progress)?;
                return Ok(Image { folder: self.folders.tree(&record.chain), record: Some(record), _lock: Some(lock) });
            }
        };
        let lock = Lock::shared(&self.folders.lock_of(&record.chain))?;
        let folder = self.folders.tree(&record.chain);
        if !folder.is_dir() {
            let text =
                format!("the image {source} was removed from {} by hand: import it again", self.folder().display());
            return Err(ImageError::Missing(text));
        }
        Ok(Image { folder, record: Some(record), _lock: Some(lock) })
    }

    /// Finds the record of an image as [`Store::get`] does; none if it is not here, or a folder.
    ///
    /// # Errors
    /// See [`ImageError`]: it is here and cannot be used.
    pub fn find(&self, source: &Source, progress: &mut dyn FnMut(Progress)) -> Result<Option<Record>, ImageError> {
        match self.get(source, progress) {
            Ok(image) => Ok(image.record.clone()),
            Err(ImageError::Missing(_)) => Ok(None),
            Err(ImageError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All images with their names, those with names first.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn list(&self) -> Result<Vec<(Vec<Name>, Record)>, ImageError> {
        Ok(self.index()?.listed())
    }

    /// Takes a name away, or an image by its digest with all of its names. An image without a name left is removed; the answer is
    /// whether it was.
    ///
    /// # Errors
    /// When there is none, or a lab uses it.
    pub fn remove(&self, source: &Source) -> Result<bool, ImageError> {
        let is_removed = self.change(|index| {
            let record = match source {
                Source::Named(name) => index.named(name)?.clone(),
                Source::Digest(digits) => index.with_digest(digits)?.clone(),
                other => {
                    let text = format!("{other} is not in the cache: name an image as `netloom image list` does");
                    return Err(ImageError::Missing(text));
                }
            };
            let is_last = match source {
                Source::Named(name) => index.names_of(&record.id) == [name.clone()],
                _ => true,
            };
            if !is_last {
                if let Source::Named(name) = source {
                    index.names.remove(name);
                }
                return Ok(false);
            }
            if !index.images.values().any(|other| other.chain == record.chain && other.id != record.id) {
                self.folders.remove_tree(&record.chain, &source.to_string())?;
            }
            index.names.retain(|_, id| *id != record.id);
            index.images.remove(&record.id);
            Ok(true)
        })?;
        self.folders.sweep();
        Ok(is_removed)
    }

    fn index(&self) -> Result<index::Index, ImageError> {
        index::Index::read(&self.folders.index())
    }

    fn change<T>(&self, change: impl FnOnce(&mut index::Index) -> Result<T, ImageError>) -> Result<T, ImageError> {
        self.folders.make()?;
        let _lock = Lock::exclusive(&self.folders.lock())?;
        let mut index = self.index()?;
        let done = change(&mut index)?;
        index.write(&self.folders.index())?;
        Ok(done)
    }

    fn open(&self, source: &Source) -> Result<Contents, ImageError> {
        match source {
            Source::Oci { folder, tag } => crate::layout::open(folder, tag.as_deref()),
            Source::DockerArchive { file, name } => crate::archive::open(file, name.as_deref()),
            Source::Rootfs(_) => {
                Err(ImageError::Unsuitable(format!("{source} is used where it is: name it as the image of a node")))
            }
            Source::Named(_) | Source::Digest(_) => {
                Err(ImageError::Unsuitable(format!("{source} says no source: write oci:FOLDER or docker-archive:FILE")))
            }
        }
    }

    /// An image in the cache: its record, what keeps it there, and whether it is new.
    fn bring(
        &self,
        contents: Contents,
        names: &[Name],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Record, Lock, bool), ImageError> {
        let document = contents.document()?;
        let record = Record::new(contents.id, document.chain(), contents.what.clone(), document.config.clone());
        let wanted = Record { manifest: contents.manifest, ..record };
        self.put(wanted, names, progress, |progress| {
            import::unpack(contents, &document, &self.folders, &self.limits, progress)
        })
    }

    /// Brings an image with this record into the cache, but for its counts: `unpack` makes its tree if that is not there.
    fn put(
        &self,
        wanted: Record,
        names: &[Name],
        progress: &mut dyn FnMut(Progress),
        unpack: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<(u64, u64, Left), ImageError>,
    ) -> Result<(Record, Lock, bool), ImageError> {
        self.folders.make()?;
        let (id, chain) = (wanted.id, wanted.chain);
        let known = self.index()?.images.get(&id).cloned();
        let shared = Lock::shared(&self.folders.lock_of(&chain))?;
        let tree = self.folders.tree(&chain);
        if let (Some(record), true) = (known, tree.is_dir()) {
            self.note(record.clone(), names)?;
            return Ok((record, shared, false));
        }
        drop(shared);
        self.folders.sweep();
        let lock = match Lock::try_exclusive(&self.folders.lock_of(&chain))? {
            Some(lock) => lock,
            None => {
                progress(Progress::Waiting);
                Lock::exclusive(&self.folders.lock_of(&chain))?
            }
        };
        // Another process may have been faster, and another image may consist of the same layers.
        let same = self.index()?.images.into_values().find(|record| record.chain == chain && tree.is_dir());
        let is_new = same.is_none();
        let (entries, bytes, left) = match &same {
            Some(record) => (record.entries, record.bytes, record.left),
            None => unpack(progress)?,
        };
        let imported_unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let record = Record { entries, bytes, imported_unix_s, left, ..wanted };
        self.note(record.clone(), names)?;
        Ok((record, lock.into_shared()?, is_new))
    }

    fn note(&self, record: Record, names: &[Name]) -> Result<(), ImageError> {
        self.change(|index| {
            index.names.extend(names.iter().map(|name| (name.clone(), record.id)));
            index.images.insert(record.id, record);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests;
