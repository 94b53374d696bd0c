//! Writes an archive. Runs in a node, as one of its programs.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header};

use super::glob::Glob;
use crate::guest::cores;

/// How much is collected of one node at most, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// And how many files and folders.
const MOST_FILES: usize = 100_000;

/// The most that is read of a file without a length, such as those of /proc.
const MOST_UNSAID: u64 = 1 << 24;

/// `collect GLOB...` writes the files that match these patterns to standard output; `keep FOLDER EXCEPT...` writes a folder,
/// except for some paths; `cores` writes all complete core dumps. What is left out is reported on standard error, one line each.
///
/// # Errors
/// What went wrong, in words.
pub fn main(words: &[OsString]) -> Result<(), String> {
    let mut pack = Pack::new(BufWriter::with_capacity(1 << 16, io::stdout().lock()));
    let done = match words.split_first() {
        Some((word, globs)) if word == "collect" => pack.collect(globs),
        Some((word, [folder, except @ ..])) if word == "keep" => pack.keep(Path::new(folder), except),
        Some((word, [])) if word == "cores" => pack.cores(Path::new(cores::FOLDER)),
        _ => return Err("this packs files of a node; netloom starts it where it belongs".to_owned()),
    };
    done.and_then(|()| pack.finish()).map_err(|error| error.to_string())
}

struct Pack<W: Write> {
    archive: Builder<W>,
    /// How much the archive may still take, in bytes and entries.
    bytes: u64,
    files: usize,
    notes: Vec<String>,
}

impl<W: Write> Pack<W> {
    fn new(out: W) -> Self {
        Self { archive: Builder::new(out), bytes: MOST_BYTES, files: MOST_FILES, notes: Vec::new() }
    }

    fn finish(mut self) -> io::Result<()> {
        self.archive.finish()?;
        self.archive.into_inner()?.flush()?;
        self.notes.iter().for_each(|note| eprintln!("{note}"));
        Ok(())
    }

    fn collect(&mut self, globs: &[OsString]) -> io::Result<()> {
        let mut all = std::collections::BTreeSet::new();
        for pattern in globs {
            let (found, more) = Glob::new(pattern).map_or_else(Default::default, |glob| glob.find());
            if found.is_empty() {
                self.notes.push(format!("{} matches nothing", shown(pattern)));
            }
            if more {
                self.notes.push(format!("{} was not looked for everywhere: there are too many files", shown(pattern)));
            }
            all.extend(found);
        }
        let mut last: Option<PathBuf> = None;
        for path in all {
            // What is in a folder comes with it, and comes right behind it in their order.
            if last.as_ref().is_some_and(|folder| path.starts_with(folder)) {
                continue;
            }
            self.put(&path, Path::new("/"), &mut |about| !about.is_symlink())?;
            last = Some(path);
        }
        Ok(())
    }

    fn cores(&mut self, folder: &Path) -> io::Result<()> {
        let mut names: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names.iter().try_for_each(|name| self.core(&folder.join(name), folder))
    }

    fn core(&mut self, path: &Path, folder: &Path) -> io::Result<()> {
        // Programs can write into the folder, too.
        if !fs::symlink_metadata(path).is_ok_and(|about| about.is_file()) {
            return self.note(path, "no file");
        }
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let opened = File::options().read(true).write(true).custom_flags(flags).open(path);
        let judged = opened.and_then(|file| match cores::why_incomplete(&file)? {
            None => cores::mend(&file).map(|()| None),
            why => Ok(why),
        });
        match judged {
            Ok(None) => self.put(path, folder, &mut |_| true),
            Ok(Some(why)) => self.note(path, &why),
            Err(error) => self.note(path, &error.to_string()),
        }
    }

    fn keep(&mut self, folder: &Path, except: &[OsString]) -> io::Result<()> {
        (self.bytes, self.files) = (u64::MAX, usize::MAX);
        let except: Vec<&Path> = except.iter().map(Path::new).collect();
        self.put_with(folder, folder, &mut |_| true, &|path| except.contains(&path))
    }

    fn put(&mut self, path: &Path, base: &Path, wanted: &mut dyn FnMut(&Metadata) -> bool) -> io::Result<()> {
        self.put_with(path, base, wanted, &|_| false)
    }

    /// A file, a link, or a folder with all that is in it, by its name relative to `base`.
    fn put_with(
        &mut self,
        path: &Path,
        base: &Path,
        wanted: &mut dyn FnMut(&Metadata) -> bool,
        left_out: &dyn Fn(&Path) -> bool,
    ) -> io::Result<()> {
        if left_out(path) {
            return Ok(());
        }
        let about = match fs::symlink_metadata(path) {
            Ok(about) => about,
            Err(error) => return self.note(path, &error.to_string()),
        };
        if !wanted(&about) {
            return self.note(path, "a link");
        }
        if self.files == 0 {
            return self.note(path, &format!("there are more than {MOST_FILES} files"));
        }
        self.files -= 1;
        let name = path.strip_prefix(base).unwrap_or(path);
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        if about.is_dir() {
            self.archive.append_data(&mut header(&about, EntryType::Directory, 0), name, io::empty())?;
            let mut names: Vec<_> = match fs::read_dir(path) {
                Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
                Err(error) => return self.note(path, &error.to_string()),
            };
            names.sort();
            return names.iter().try_for_each(|inner| self.put_with(&path.join(inner), base, wanted, left_out));
        }
        if about.is_symlink() {
            let target = fs::read_link(path)?;
            return self.archive.append_link(&mut header(&about, EntryType::Symlink, 0), name, target);
        }
        self.put_file(path, name, &about)
    }

    fn put_file(&mut self, path: &Path, name: &Path, about: &Metadata) -> io::Result<()> {
        if let Some(kind) = special(about) {
            return self.note(path, kind);
        }
        // It may have been replaced in the meantime.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let opened = File::options().read(true).custom_flags(flags).open(path);
        let file = match opened.and_then(|file| Ok((file.metadata()?.is_file(), file))) {
            Ok((true, file)) => file,
            Ok((false, _)) => return self.note(path, "no file any more"),
            Err(error) => return self.note(path, &error.to_string()),
        };
        if about.len() == 0 {
            let mut contents = Vec::new();
            if let Err(error) = file.take(MOST_UNSAID.min(self.bytes)).read_to_end(&mut contents) {
                return self.note(path, &error.to_string());
            }
            self.bytes -= contents.len() as u64;
            return self.archive.append_data(
                &mut header(about, EntryType::Regular, contents.len() as u64),
                name,
                &contents[..],
            );
        }
        if about.len() > self.bytes {
            let megabytes = MOST_BYTES >> 20;
            return self.note(path, &format!("with it there would be more than {megabytes} MiB of this node"));
        }
        self.bytes -= about.len();
        // Exactly as long as its header says, even if the file grows or shrinks meanwhile.
        let contents = file.chain(io::repeat(0)).take(about.len());
        self.archive.append_data(&mut header(about, EntryType::Regular, about.len()), name, contents)
    }

    fn note(&mut self, path: &Path, why: &str) -> io::Result<()> {
        self.notes.push(format!("{} is left out: {why}", shown(path.as_os_str())));
        Ok(())
    }
}

/// Control characters are written as numbers: a terminal would obey them.
fn shown(path: &OsStr) -> String {
    path.as_bytes().escape_ascii().to_string()
}

/// What is not a file.
fn special(about: &Metadata) -> Option<&'static str> {
    let kind = about.file_type();
    [
        (kind.is_socket(), "a socket"),
        (kind.is_fifo(), "a FIFO"),
        (kind.is_block_device() || kind.is_char_device(), "a device"),
    ]
    .into_iter()
    .find_map(|(is_it, name)| is_it.then_some(name))
}

fn header(about: &Metadata, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(about.mode() & 0o7777);
    header.set_uid(about.uid().into());
    header.set_gid(about.gid().into());
    header.set_mtime(about.mtime().try_into().unwrap_or(0));
    header.set_size(size);
    header
}
