//! Journals that are read in.

use crate::answer::Refusal;
use axum::http::StatusCode;
use netloom_results::journal::{JournalError, Spool, SpoolState};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Journals that are read in at a time.
const MOST_JOURNALS: usize = 4;

/// The journals that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct Journals(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// What tells one file from another, and one that has grown from what it was.
    identity: [u64; 5],
    spool: Arc<Spool>,
    used: Instant,
}

impl Journals {
    /// The journal at `path`, as far as it is read.
    pub(crate) fn get(&self, path: &FilePath) -> Result<Arc<Spool>, Refusal> {
        let identity = identity(path).map_err(|error| unreadable(path, &JournalError::Io(error)))?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter_mut().find(|known| known.path == path) {
            // While one that grows is being read, what is there serves.
            if known.identity == identity || known.spool.state() == SpoolState::Reading {
                known.used = Instant::now();
                return Ok(Arc::clone(&known.spool));
            }
        }
        kept.retain(|known| {
            known.path != path || {
                known.spool.give_up();
                false
            }
        });
        while kept.len() >= MOST_JOURNALS {
            let oldest = kept.iter().enumerate().min_by_key(|(_, known)| known.used).map_or(0, |(place, _)| place);
            kept.swap_remove(oldest).spool.give_up();
        }
        let (spool, reader) = Spool::begin(path).map_err(|error| unreadable(path, &error))?;
        let filled = Arc::clone(&spool);
        let reading = std::thread::Builder::new().name("netloom-journal".into()).spawn(move || filled.fill(reader));
        reading.map_err(|error| Refusal::failed(format!("starting a thread: {error}")))?;
        kept.push(Kept { path: path.to_owned(), identity, spool: Arc::clone(&spool), used: Instant::now() });
        Ok(spool)
    }
}

fn identity(path: &FilePath) -> std::io::Result<[u64; 5]> {
    let about = fs::metadata(path)?;
    Ok([about.dev(), about.ino(), about.len(), about.mtime().cast_unsigned(), about.mtime_nsec().cast_unsigned()])
}

fn unreadable(path: &FilePath, error: &JournalError) -> Refusal {
    match error {
        JournalError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Refusal::missing("these results have no journal: `journal: all` in the lab file keeps one")
        }
        JournalError::Io(error) => Refusal::failed(format!("reading {}: {error}", path.display())),
        other => Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{}: {other}", path.display())),
    }
}
