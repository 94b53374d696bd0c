//! The journals of parts.

use super::{Known, OwnPipe, Part, wrong};
use crate::journal::{JOURNAL, JournalError, JournalPipe, JournalReader, JournalWriter, Record};
use crate::{ReadError, WriteError};
use netloom_judge::JournalRow;
use std::io::{BufWriter, Read};
use std::path::Path;

/// Makes one journal of those of all parts.
pub(super) fn join(folder: &Path, parts: &[Part], known: &Known) -> Result<Option<JournalRow>, ReadError> {
    let mut sources = Vec::new();
    for part in parts {
        let path = part.folder(folder).join(JOURNAL);
        if path.exists() {
            let reader = JournalReader::open(&path).map_err(|error| wrong(&path, &error))?.with_attempts();
            let is_own = |pipe: &&OwnPipe| pipe.machine == part.machine;
            sources.push(Source::new(reader, &known.pipes.iter().filter(is_own).collect::<Vec<_>>()));
        }
    }
    if sources.is_empty() {
        return Ok(None);
    }
    let target = folder.join(JOURNAL);
    let mut row = known.journal.clone().unwrap_or_default();
    let mut outcome = Ok(());
    let written = netloom_regular::replace(&target, |file| {
        let pipes = number(&mut sources);
        let has_attempts = sources.iter().any(|source| source.reader.has_attempts());
        let mut journal = JournalWriter::begin_with(BufWriter::new(file), &known.lab, &pipes, (None, has_attempts))?;
        outcome = merge(&mut sources, |record| journal.push(record).map_err(JournalError::Io));
        let done = journal.finish()?;
        row = JournalRow { file: JOURNAL.into(), bytes: done.bytes, ..row.clone() };
        (row.packets, row.attempts) = (done.records - done.attempts, Some(done.attempts).filter(|count| *count > 0));
        Ok(())
    });
    written.map_err(WriteError::file(&target))?;
    outcome.map_err(|error| wrong(&target, &error))?;
    Ok(Some(row))
}

/// Gives the pipes of all sources numbers in the joined journal; the pipes by their numbers.
fn number<R>(sources: &mut [Source<R>]) -> Vec<JournalPipe> {
    let mut pipes = Vec::new();
    for source in sources {
        for (pipe, number) in source.named.iter().zip(&mut source.numbers) {
            if let Some(number) = number {
                *number = u32::try_from(pipes.len()).expect("pipes are numbered so");
                pipes.push(pipe.clone());
            }
        }
    }
    pipes
}

/// Passes on the records of all sources in the order of the instants at which their packets were delivered or dropped; those that were still in
/// a pipe come last.
fn merge<R: Read>(
    sources: &mut [Source<R>],
    mut take: impl FnMut(&Record) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    for source in sources.iter_mut() {
        source.advance()?;
    }
    loop {
        let ended = |record: &Record| record.ended_ns().unwrap_or(i64::MAX);
        let instants = sources.iter().enumerate();
        let instants = instants.filter_map(|(place, source)| Some((ended(source.next.as_ref()?), place)));
        let Some((_, first)) = instants.min() else { return Ok(()) };
        if let Some(record) = &sources[first].next {
            take(record)?;
        }
        sources[first].advance()?;
    }
}

/// The journal of a part.
struct Source<R> {
    reader: JournalReader<R>,
    /// Its pipes, and the numbers in the joined journal of those that the part describes.
    named: Vec<JournalPipe>,
    numbers: Vec<Option<u32>>,
    next: Option<Record>,
}

impl<R: Read> Source<R> {
    fn new(reader: JournalReader<R>, own: &[&OwnPipe]) -> Self {
        let is_own = |pipe: &JournalPipe| {
            let mut all = own.iter();
            all.any(|one| one.link == pipe.link && one.direction == pipe.direction && one.pipe == pipe.pipe)
        };
        let named = reader.pipes().to_vec();
        let numbers = named.iter().map(|pipe| is_own(pipe).then_some(0)).collect();
        Self { reader, named, numbers, next: None }
    }

    /// Goes on to the next record of a pipe that the part describes. The journal of a part that was killed ends where that happened.
    fn advance(&mut self) -> Result<(), JournalError> {
        self.next = None;
        for record in &mut self.reader {
            let record = match record {
                Ok(record) => record,
                Err(JournalError::Unfinished { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            if let Some(Some(number)) = self.numbers.get(record.pipe as usize) {
                self.next = Some(Record { pipe: *number, ..record });
                return Ok(());
            }
        }
        Ok(())
    }
}
