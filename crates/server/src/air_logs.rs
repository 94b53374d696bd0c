//! Captures of what was on the air that pages look at, read once; one that grows is read on.

use crate::answer::Refusal;
use netloom_results::capture::AirLog;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// So many are remembered.
const MOST: usize = 2;

/// The captures that pages have asked about last.
#[derive(Default)]
pub(crate) struct AirLogs(Mutex<Vec<(PathBuf, Arc<Mutex<Kept>>)>>);

/// A capture as it was read last; nothing before that.
#[derive(Default)]
struct Kept {
    /// The file that was read, and its length then.
    file: Option<Known>,
    log: Arc<AirLog>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Known {
    device: u64,
    inode: u64,
    length: u64,
}

impl AirLogs {
    /// A capture. If it was read before and has grown, only what was added is read; otherwise `read` reads it.
    pub(crate) fn get(
        &self,
        path: &Path,
        file: File,
        read: impl FnOnce(File) -> AirLog,
    ) -> Result<Arc<AirLog>, Refusal> {
        let about = file.metadata();
        let about = about.map_err(|error| Refusal::failed(format!("reading {}: {error}", path.display())))?;
        let now = Known { device: about.dev(), inode: about.ino(), length: about.len() };
        let kept = self.kept(path);
        // Whoever asks about the same capture at once waits until it is read.
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.file {
            Some(known) if known == now => return Ok(Arc::clone(&kept.log)),
            Some(known) if known.length < now.length && (Known { length: now.length, ..known }) == now => {
                let mut again = file.try_clone().ok();
                let log = Arc::make_mut(&mut kept.log);
                if !again.as_mut().is_some_and(|same| log.go_on(same)) {
                    *log = read_anew(file, path, read)?;
                }
            }
            _ => kept.log = Arc::new(read(file)),
        }
        kept.file = Some(now);
        Ok(Arc::clone(&kept.log))
    }

    /// The capture at a path, which is the last one that was asked about now.
    fn kept(&self, path: &Path) -> Arc<Mutex<Kept>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|(own, _)| own == path);
        let own = found.map_or_else(|| (path.to_owned(), Arc::default()), |place| all.remove(place));
        let kept = Arc::clone(&own.1);
        all.insert(0, own);
        all.truncate(MOST);
        kept
    }
}

/// Reads a file from its beginning of which something was read.
fn read_anew(mut file: File, path: &Path, read: impl FnOnce(File) -> AirLog) -> Result<AirLog, Refusal> {
    let begin = std::io::Seek::rewind(&mut file);
    begin.map_err(|error| Refusal::failed(format!("reading {}: {error}", path.display())))?;
    Ok(read(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is no capture has nothing that could be read on, and is read again when it has grown, or is another one.
    #[test]
    fn a_file_is_read_again_if_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("air.pcapng");
        let logs = AirLogs::default();
        let mut count = 0;
        let mut get = |text: &str, is_other: bool| {
            if is_other {
                std::fs::rename(&path, folder.path().join("before")).unwrap();
            }
            std::fs::write(&path, text).unwrap();
            let read = |_| {
                count += 1;
                AirLog::default()
            };
            assert!(logs.get(&path, File::open(&path).unwrap(), read).is_ok());
            count
        };
        let found = [get("one", false), get("one", false), get("longer", false), get("longer", false)];
        assert_eq!(found, [1, 1, 2, 2]);
        assert_eq!([get("longer", true), get("less", false)], [3, 4]);
    }
}
