//! Reads bundles, whoever made them.

use crate::ArchiveError;
use crate::manifest::{FileEntry, LONGEST, MANIFEST, Manifest};
use netloom_image::{Entries, Entry, EntryKind, Hashing, ImageError, Limits, unpack_stream};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Reads the manifest of a bundle, and nothing else.
///
/// # Errors
/// If it is no bundle, or damaged.
pub fn list(bundle: &Path) -> Result<Manifest, ArchiveError> {
    Ok(Bundle::open(bundle)?.manifest)
}

/// Reads a whole bundle, compares every file with its digest, and returns the manifest.
///
/// # Errors
/// If it is no bundle, or damaged, and where.
pub fn verify(bundle: &Path) -> Result<Manifest, ArchiveError> {
    let mut bundle = Bundle::open(bundle)?;
    for number in 0..bundle.manifest.files.len() {
        bundle.file(number, &mut io::sink())?;
    }
    bundle.end()?;
    Ok(bundle.manifest)
}

/// A bundle that is read from its beginning to its end.
pub(crate) struct Bundle {
    path: PathBuf,
    entries: Entries<Box<dyn Read>>,
    pub(crate) manifest: Manifest,
}

impl Bundle {
    /// Reads as far as the end of the manifest.
    pub(crate) fn open(path: &Path) -> Result<Self, ArchiveError> {
        // What a pipe holds could be read once only, and a device may have no end.
        let file = netloom_regular::open(path).map_err(|error| match netloom_regular::is_refused(&error) {
            true => ArchiveError::refused(path, "it is no file"),
            false => ArchiveError::file(path)(error),
        })?;
        let refused = |why: String| ArchiveError::refused(path, why);
        let input = unpack_stream(BufReader::with_capacity(1 << 17, file), "it");
        let input = input.map_err(|error| refused(error.to_string()))?.take(Limits::default().bytes);
        let mut entries: Entries<Box<dyn Read>> = Entries::new(Box::new(input), "it");
        let damaged = |why: String| ArchiveError::Damaged {
            bundle: path.to_owned(),
            place: "its beginning".into(),
            why,
            whole: 0,
            total: None,
        };
        let first = entries.next().map_err(|error| damaged(why(error)))?;
        let first = first.ok_or_else(|| refused("it is empty".into()))?;
        let lab = std::str::from_utf8(&first.path).ok().and_then(|first| first.strip_suffix(&format!("/{MANIFEST}")));
        let Some(lab) = lab.filter(|_| first.kind == EntryKind::File).map(str::to_owned) else {
            return Err(refused(format!("it does not begin with a file {MANIFEST}")));
        };
        if first.size > LONGEST {
            return Err(refused(format!("{MANIFEST} has {} bytes, and {LONGEST} are possible", first.size)));
        }
        let mut text = Vec::new();
        entries.read_to_end(&mut text).map_err(|error| damaged(error.to_string()))?;
        let manifest = Manifest::parse(&text).map_err(refused)?;
        if manifest.lab != lab {
            return Err(ArchiveError::refused(
                path,
                format!("it names the lab `{lab}` and the lab `{}`", manifest.lab),
            ));
        }
        Ok(Self { path: path.to_owned(), entries, manifest })
    }

    /// Writes what is in the next file, which is that of this number, to `output`. Only if there is no error it was the right.
    pub(crate) fn file(&mut self, number: usize, output: &mut dyn Write) -> Result<(), ArchiveError> {
        let file = self.manifest.files[number].clone();
        let entry = self.next(number, &file)?;
        if entry.path != self.manifest.place(&file).as_bytes() || entry.kind != EntryKind::File {
            let found = String::from_utf8_lossy(&entry.path).chars().take(200).collect::<String>();
            return Err(self.damaged(number, format!("there is another file: {found:?}")));
        }
        if entry.size != file.bytes {
            let why = format!("it has {} bytes, and {MANIFEST} says {}", entry.size, file.bytes);
            return Err(self.damaged(number, why));
        }
        let mut contents = Hashing::new(&mut self.entries);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match contents.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Err(self.damaged(number, error.to_string())),
            };
            output.write_all(&buffer[..count]).map_err(ArchiveError::file(Path::new(&file.path)))?;
        }
        if contents.finish() != (file.digest, file.bytes) {
            return Err(self.damaged(number, "its contents do not have the digest that the manifest says".into()));
        }
        Ok(())
    }

    /// That nothing follows.
    pub(crate) fn end(&mut self) -> Result<(), ArchiveError> {
        let total = self.manifest.files.len();
        match self.entries.next() {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(ArchiveError::refused(&self.path, format!("it has more files than {MANIFEST} says"))),
            Err(error) => Err(self.damaged(total, why(error))),
        }
    }

    fn next(&mut self, number: usize, file: &FileEntry) -> Result<Entry, ArchiveError> {
        match self.entries.next() {
            Ok(Some(entry)) => Ok(entry),
            Ok(None) => Err(self.damaged(number, format!("it ends before {}", file.path))),
            Err(error) => Err(self.damaged(number, why(error))),
        }
    }

    fn damaged(&self, number: usize, why: String) -> ArchiveError {
        let place = self.manifest.files.get(number).map_or("its end", |file| &file.path).to_owned();
        let total = Some(self.manifest.files.len());
        ArchiveError::Damaged { bundle: self.path.clone(), place, why, whole: number, total }
    }
}

/// What is wrong, without saying again with what.
fn why(error: ImageError) -> String {
    match error {
        ImageError::Damaged { why, .. } | ImageError::Refused { why, .. } => why,
        other => other.to_string(),
    }
}
