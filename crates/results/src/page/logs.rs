//! What commands wrote: the beginning and the end of each output.

use crate::regular;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// How many commands are shown at most; failed ones come first.
const MOST: usize = 60;
/// How many bytes of an output are shown from its beginning and from its end.
const HEAD: u64 = 4 << 10;
const TAIL: u64 = 8 << 10;

/// The outputs of a command.
#[derive(Debug, Serialize)]
pub(super) struct Log {
    name: String,
    node: String,
    outputs: Vec<Output>,
}

/// One of them.
#[derive(Debug, Serialize)]
struct Output {
    stream: &'static str,
    file: String,
    bytes: u64,
    head: String,
    /// What follows after a gap; empty if there is none.
    tail: String,
}

/// Those of the commands in a report, and how many commands are left out.
pub(super) fn gather(folder: &Path, commands: &Value) -> (Vec<Log>, usize) {
    let mut all: Vec<&Value> = commands.as_array().into_iter().flatten().collect();
    let left_out = all.len().saturating_sub(MOST);
    all.sort_by_key(|command| !command["failed"].as_bool().unwrap_or(false));
    let word = |command: &Value, key: &str| command[key].as_str().unwrap_or_default().to_owned();
    let log = |command: &Value| {
        let streams = ["stdout", "stderr"].into_iter();
        let outputs = streams.filter_map(|stream| output(folder, stream, &word(command, stream)).ok().flatten());
        Log { name: word(command, "name"), node: word(command, "node"), outputs: outputs.collect() }
    };
    let logs = all.into_iter().take(MOST).map(log).filter(|log| !log.outputs.is_empty());
    (logs.collect(), left_out)
}

/// None of an empty one.
fn output(folder: &Path, stream: &'static str, name: &str) -> io::Result<Option<Output>> {
    let path = PathBuf::from(name);
    // A folder that was tampered with names files elsewhere.
    if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Ok(None);
    }
    let mut file = regular::open(&folder.join(&path))?;
    let bytes = file.metadata()?.len();
    if bytes == 0 {
        return Ok(None);
    }
    let is_whole = bytes <= HEAD + TAIL;
    let head = piece(&mut file, 0, if is_whole { bytes } else { HEAD })?;
    let tail = if is_whole { String::new() } else { piece(&mut file, bytes - TAIL, TAIL)? };
    Ok(Some(Output { stream, file: name.to_owned(), bytes, head, tail }))
}

fn piece(file: &mut File, from: u64, length: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
