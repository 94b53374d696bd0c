//! Forwarding of packets in the caller's network, where it is off.
//!
//! It is turned on for the interfaces that are there, and off again by the last of the links that need it. Who is the last,
//! a lock tells: all that need it share it. The locked file says what was turned on, so that the next link puts back what
//! was left by one of which every process was killed.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Attempted, KernelError};
use crate::locked::{alone, is_at};
use crate::sysctl;

/// A share in the forwarding of a network namespace: this process's own one.
#[derive(Debug)]
pub(super) struct Forwarding {
    path: PathBuf,
    /// Locked, shared, for as long as forwarding is needed.
    file: File,
}

impl Forwarding {
    /// Turns forwarding on in the network namespace of this process, where it is off. `folder` is for the lock.
    pub(super) fn hold(folder: &Path) -> Result<Self, KernelError> {
        let path = path(folder)?;
        let attempted = || format!("turn forwarding on, noted in {}", path.display());
        loop {
            let mut file = open(&path).attempted(attempted)?;
            let alone = alone(&file).attempted(attempted)?;
            if !alone {
                file.lock_shared().attempted(attempted)?;
            }
            if !is_at(&file, &path) {
                // The last one has just removed it.
                continue;
            }
            if alone {
                put_back(&mut file).attempted(attempted)?;
            }
            let known = keys(&mut file).attempted(attempted)?;
            for key in off().attempted(attempted)? {
                if !known.contains(&key) {
                    // First noted, then done: whatever happens in between, it is put back.
                    file.seek(SeekFrom::End(0)).attempted(attempted)?;
                    file.write_all(format!("{key}\n").as_bytes()).attempted(attempted)?;
                }
                sysctl::set(&key, "1")?;
            }
            if alone {
                file.lock_shared().attempted(attempted)?;
            }
            // The kernel gives a lock back before it gives the other kind: the last one may have ended in between.
            if is_at(&file, &path) {
                return Ok(Self { path, file });
            }
        }
    }

    /// Gives the share back.
    pub(super) fn release(self) -> Result<(), KernelError> {
        let Self { path, file } = self;
        drop(file);
        end(&path)
    }
}

/// Turns off what was turned on, unless another link needs it.
pub(super) fn release(folder: &Path) -> Result<(), KernelError> {
    end(&path(folder)?)
}

fn end(path: &Path) -> Result<(), KernelError> {
    let attempted = || format!("turn forwarding off, as noted in {}", path.display());
    let mut file = match File::options().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.attempted(attempted)?,
    };
    if !alone(&file).attempted(attempted)? || !is_at(&file, path) {
        return Ok(());
    }
    put_back(&mut file).attempted(attempted)?;
    fs::remove_file(path).attempted(attempted)
}

/// Where the lock of this network namespace is.
fn path(folder: &Path) -> Result<PathBuf, KernelError> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").attempted(|| "look at this network namespace")?;
    Ok(folder.join(format!("forwarding-{}", namespace.ino())))
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

/// The parameters that were turned on.
fn keys(file: &mut File) -> io::Result<Vec<String>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    let is_whole = |key: &&str| key.starts_with("net.ipv4.conf.") && key.ends_with(".forwarding");
    Ok(text.lines().filter(is_whole).map(str::to_owned).collect())
}

fn put_back(file: &mut File) -> io::Result<()> {
    for key in keys(file)? {
        // The interface may have gone meanwhile.
        let _ = sysctl::set_if_present(&key, "0");
    }
    file.set_len(0)
}

/// The parameters of interfaces that do not forward.
fn off() -> io::Result<Vec<String>> {
    let mut keys = Vec::new();
    for entry in fs::read_dir("/proc/sys/net/ipv4/conf")? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        // A slash stands for a dot in the name of an interface.
        let key = format!("net.ipv4.conf.{}.forwarding", name.replace('.', "/"));
        let is_one = !matches!(name.as_str(), "all" | "default" | "lo") && !name.starts_with("netloom");
        if is_one && sysctl::get(&key).is_ok_and(|value| value.trim() == "0") {
            keys.push(key);
        }
    }
    keys.sort();
    Ok(keys)
}
