//! Captures of what was on the air that pages look at, read once.

use crate::answer::Refusal;
use netloom_results::capture::AirLog;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// So many are remembered.
const MOST: usize = 2;

/// The captures that pages have asked about last.
#[derive(Default)]
pub(crate) struct AirLogs(Mutex<Vec<Kept>>);

struct Kept {
    path: PathBuf,
    /// The length of the file, which tells it from one that has grown.
    length: u64,
    log: Arc<AirLog>,
}

impl AirLogs {
    /// A capture, which is read if it is not remembered as it is.
    pub(crate) fn get(
        &self,
        path: &Path,
        file: File,
        read: impl FnOnce(File) -> AirLog,
    ) -> Result<Arc<AirLog>, Refusal> {
        let about = file.metadata();
        let length = about.map_err(|error| Refusal::failed(format!("reading {}: {error}", path.display())))?.len();
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().iter().find(|kept| kept.path == path && kept.length == length) {
            return Ok(Arc::clone(&known.log));
        }
        let log = Arc::new(read(file));
        let mut all = lock();
        all.retain(|kept| kept.path != path);
        all.insert(0, Kept { path: path.to_owned(), length, log: Arc::clone(&log) });
        all.truncate(MOST);
        Ok(log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_if_it_has_grown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("air.pcapng");
        let logs = AirLogs::default();
        let mut count = 0;
        let mut get = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let read = |_| {
                count += 1;
                AirLog::default()
            };
            assert!(logs.get(&path, File::open(&path).unwrap(), read).is_ok());
            count
        };
        assert_eq!([get("one"), get("one"), get("longer"), get("longer")], [1, 1, 2, 2]);
    }
}
