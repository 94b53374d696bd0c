//! Batches of records, and the words that they refer to.
//!
//! Source: Arrow Columnar Format 1.5, "Physical Memory Layout" and "Recordbatch message", with the compression of buffers.

use super::Wrong;
use super::message::Message;
use crate::journal::columns::{Form, OF_PACKETS, OUTCOMES, all_columns};
use crate::journal::record::{AirAttempt, Fate, JournalPipe, Record, cause_of};
use arrow_ipc::{CompressionType, DictionaryBatch, RecordBatch};
use lz4_flex::frame::FrameDecoder;
use netloom_link::Cause;
use netloom_packet::Flow;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::net::IpAddr;
use std::ops::Range;

/// More records than these are in no batch that netloom writes.
const MOST_ROWS: usize = 1 << 16;
/// Nor are there more words in a dictionary: each link has one.
const MOST_WORDS: usize = 1 << 20;
/// No text is longer on average.
const MOST_TEXT: usize = 256;

/// The words of the columns that refer to such, by place among these columns.
pub(super) struct Dictionaries {
    ids: Vec<i64>,
    words: Vec<Vec<String>>,
}

impl Dictionaries {
    pub(super) fn new(ids: Vec<i64>) -> Self {
        let words = vec![Vec::new(); ids.len()];
        Self { ids, words }
    }

    pub(super) fn put(&mut self, id: i64, words: &[String]) -> Result<(), Wrong> {
        let mut is_known = false;
        for (_, own) in self.ids.iter().zip(&mut self.words).filter(|(other, _)| **other == id) {
            words.clone_into(own);
            is_known = true;
        }
        if is_known { Ok(()) } else { Err(format!("words number {id}, which belong to no column")) }
    }
}

/// The pipes of a journal.
pub(super) struct Pipes {
    all: Vec<JournalPipe>,
    places: HashMap<JournalPipe, u32>,
    /// The place of the pipe with these numbers of link, direction and name, once it was found.
    found: HashMap<[i64; 3], u32>,
}

impl Pipes {
    pub(super) fn new(all: Vec<JournalPipe>) -> Self {
        let places = all.iter().cloned().zip(0..).collect();
        Self { all, places, found: HashMap::new() }
    }

    pub(super) fn all(&self) -> &[JournalPipe] {
        &self.all
    }

    /// Words have changed, or a hostile file has as many names for a pipe as it likes.
    pub(super) fn forget(&mut self) {
        self.found.clear();
    }
}

/// The words of a dictionary.
pub(super) fn dictionary(batch: &DictionaryBatch<'_>, message: &Message) -> Result<Vec<String>, Wrong> {
    if batch.isDelta() {
        return Err("words that add to others".into());
    }
    let data = batch.data().ok_or("a dictionary without words")?;
    let mut parts = Parts::new(&data, message, MOST_WORDS)?;
    let text = parts.column(Form::Text)?;
    (0..parts.rows).map(|row| text.text(row).map(|word| word.unwrap_or_default().to_owned())).collect()
}

/// The records of a batch.
pub(super) fn records(
    batch: &RecordBatch<'_>,
    (message, has_attempts): (&Message, bool),
    dictionaries: &Dictionaries,
    pipes: &mut Pipes,
) -> Result<Vec<Record>, Wrong> {
    let mut parts = Parts::new(batch, message, MOST_ROWS)?;
    let forms = all_columns(has_attempts).map(|(_, form, _)| *form);
    let columns = forms.map(|form| parts.column(form)).collect::<Result<Vec<_>, _>>()?;
    let columns = Columns { columns, dictionaries };
    (0..parts.rows).map(|row| columns.record(row, pipes)).collect()
}

/// What a batch is made of, taken part by part.
struct Parts<'a> {
    rows: usize,
    nodes: Vec<(i64, i64)>,
    buffers: Vec<(i64, i64)>,
    is_compressed: bool,
    body: &'a [u8],
    next_node: usize,
    next_buffer: usize,
}

impl<'a> Parts<'a> {
    fn new(batch: &RecordBatch<'_>, message: &'a Message, most_rows: usize) -> Result<Self, Wrong> {
        let rows = usize::try_from(batch.length()).ok().filter(|rows| *rows <= most_rows);
        let is_compressed = match batch.compression().map(|how| how.codec()) {
            None => false,
            Some(CompressionType::LZ4_FRAME) => true,
            Some(_) => return Err("a batch that is compressed in an unknown way".into()),
        };
        Ok(Self {
            rows: rows.ok_or_else(|| format!("a batch that claims to have {} rows", batch.length()))?,
            nodes: batch.nodes().iter().flatten().map(|node| (node.length(), node.null_count())).collect(),
            buffers: batch.buffers().iter().flatten().map(|part| (part.offset(), part.length())).collect(),
            is_compressed,
            body: &message.body,
            next_node: 0,
            next_buffer: 0,
        })
    }

    fn column(&mut self, form: Form) -> Result<Column<'a>, Wrong> {
        let (length, missing) = *self.nodes.get(self.next_node).ok_or("a batch that lacks columns")?;
        self.next_node += 1;
        if usize::try_from(length) != Ok(self.rows) {
            return Err(format!("a column of {length} rows among columns of {}", self.rows));
        }
        let valid = self.buffer(self.rows.div_ceil(8))?;
        let valid = if missing == 0 { None } else { Some(whole(valid, self.rows.div_ceil(8))?) };
        let width = match form {
            Form::Text => 4,
            Form::Word => 1,
            Form::Name => 4,
            Form::Instant => 8,
            Form::Number(bits) => usize::try_from(bits / 8).unwrap_or(1),
        };
        // Texts have one offset more than there are rows, unless there are none.
        let count = if form == Form::Text && self.rows > 0 { self.rows + 1 } else { self.rows };
        let values = self.buffer(count * width)?;
        let values = whole(values, count * width)?;
        let texts = if form == Form::Text { self.buffer(self.rows * MOST_TEXT)? } else { Cow::Borrowed(&[][..]) };
        Ok(Column { valid, values, texts, width })
    }

    /// The next buffer, which is not longer than `most` if it was compressed.
    fn buffer(&mut self, most: usize) -> Result<Cow<'a, [u8]>, Wrong> {
        let (offset, length) = *self.buffers.get(self.next_buffer).ok_or("a batch that lacks a part of a column")?;
        self.next_buffer += 1;
        let range = range(offset, length).and_then(|range| self.body.get(range));
        let bytes = range.ok_or("a part of a column that lies outside its batch")?;
        let Some((claimed, packed)) = bytes.split_first_chunk::<8>().filter(|_| self.is_compressed) else {
            return Ok(Cow::Borrowed(bytes));
        };
        // Minus one says that it is not compressed after all.
        match i64::from_le_bytes(*claimed) {
            -1 => Ok(Cow::Borrowed(packed)),
            claimed => {
                // Buffers may be filled up to a multiple of 64 bytes.
                let size = usize::try_from(claimed).ok().filter(|size| *size <= most + 64);
                let size = size.ok_or_else(|| format!("a part of a column that claims to have {claimed} bytes"))?;
                let mut unpacked = Vec::with_capacity(size);
                let read = FrameDecoder::new(packed).take(size as u64 + 1).read_to_end(&mut unpacked);
                match read {
                    Ok(read) if read == size => Ok(Cow::Owned(unpacked)),
                    _ => Err("a part of a column that cannot be unpacked".into()),
                }
            }
        }
    }
}

fn range(offset: i64, length: i64) -> Option<Range<usize>> {
    let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
    Some(offset..offset.checked_add(length)?)
}

/// At least so many bytes.
fn whole(bytes: Cow<'_, [u8]>, least: usize) -> Result<Cow<'_, [u8]>, Wrong> {
    if bytes.len() >= least { Ok(bytes) } else { Err("a part of a column that is too short".into()) }
}

/// A column of a batch.
struct Column<'a> {
    /// A bit for each row; none: nothing is missing.
    valid: Option<Cow<'a, [u8]>>,
    /// Numbers of this width; of texts, where each begins.
    values: Cow<'a, [u8]>,
    texts: Cow<'a, [u8]>,
    width: usize,
}

impl Column<'_> {
    fn is_there(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row / 8] >> (row % 8) & 1 == 1)
    }

    /// The number in a row, as it is written; none if it is missing.
    fn bits(&self, row: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let at = row * self.width;
        bytes[..self.width].copy_from_slice(&self.values[at..at + self.width]);
        self.is_there(row).then(|| u64::from_le_bytes(bytes))
    }

    /// The same of a column of 64 bits.
    fn signed(&self, row: usize) -> Option<i64> {
        self.bits(row).map(u64::cast_signed)
    }

    /// The number of a word; none if it is missing. Negative ones are no numbers of words.
    fn key(&self, row: usize) -> Option<usize> {
        self.bits(row).map(|bits| usize::try_from(bits).unwrap_or(usize::MAX))
    }

    fn text(&self, row: usize) -> Result<Option<&str>, Wrong> {
        let begin = |number: usize| {
            let at = number * self.width;
            let bytes = self.values.get(at..at + 4).unwrap_or(&[0; 4]);
            i64::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        if !self.is_there(row) {
            return Ok(None);
        }
        let bytes = range(begin(row), begin(row + 1) - begin(row)).and_then(|range| self.texts.get(range));
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(Some).ok_or_else(|| "a text that is none".into())
    }
}

/// The columns of a batch, in the order of [`COLUMNS`].
struct Columns<'a> {
    columns: Vec<Column<'a>>,
    dictionaries: &'a Dictionaries,
}

impl Columns<'_> {
    fn record(&self, row: usize, pipes: &mut Pipes) -> Result<Record, Wrong> {
        let [link, direction, pipe, outcome, cause, arrived, started, sent, due, delivered, dropped, marked, rest @ ..] =
            &self.columns[..]
        else {
            return Err("a batch that lacks columns".into());
        };
        let [size, protocol, dscp, source, source_port, destination, destination_port, sequence, of_attempt @ ..] =
            rest
        else {
            return Err("a batch that lacks columns".into());
        };
        let at = |column: &Column<'_>, name: &str| column.signed(row).ok_or_else(|| format!("a row without `{name}`"));
        let fate = match OUTCOMES.iter().position(|name| self.word(3, outcome, row) == Some(name)) {
            Some(0) => Fate::Delivered { at_ns: at(delivered, "delivered_ns")? },
            Some(1) => Fate::Dropped {
                at_ns: at(dropped, "dropped_ns")?,
                cause: self.word(4, cause, row).and_then(cause_of).ok_or("a drop without a cause")?,
            },
            Some(2) => Fate::Inside,
            Some(3) if !of_attempt.is_empty() => Fate::Delivered { at_ns: at(sent, "sent_ns")? },
            Some(4) if !of_attempt.is_empty() => Fate::Dropped { at_ns: at(sent, "sent_ns")?, cause: Cause::Air },
            _ => return Err("a row without an outcome".into()),
        };
        let number = |column: &Column<'_>| column.bits(row).unwrap_or(0);
        let flow = match (source.text(row)?, destination.text(row)?, protocol.bits(row)) {
            (Some(from), Some(to), Some(protocol)) => Some(Flow {
                source: address(from)?,
                destination: address(to)?,
                protocol: narrow(protocol)?,
                source_port: narrow(number(source_port))?,
                destination_port: narrow(number(destination_port))?,
                dscp: narrow(number(dscp))?,
            }),
            _ => None,
        };
        let is_attempt = self.word(3, outcome, row).is_some_and(|word| OUTCOMES[OF_PACKETS..].contains(&word));
        let attempt = if is_attempt { Some(attempt(of_attempt, row)?) } else { None };
        Ok(Record {
            pipe: self.pipe([link, direction, pipe], row, pipes)?,
            arrived_ns: at(arrived, "arrived_ns")?,
            started_ns: started.signed(row),
            sent_ns: sent.signed(row),
            due_ns: due.signed(row),
            marked_ns: marked.signed(row),
            fate,
            size_bytes: narrow(number(size))?,
            flow,
            sequence: sequence.bits(row).map(narrow).transpose()?,
            attempt,
        })
    }

    /// The word in a row of the column at this place among those that refer to words.
    fn word(&self, place: usize, column: &Column<'_>, row: usize) -> Option<&str> {
        self.dictionaries.words.get(place)?.get(column.key(row)?).map(String::as_str)
    }

    fn pipe(&self, columns: [&Column<'_>; 3], row: usize, pipes: &mut Pipes) -> Result<u32, Wrong> {
        let keys = columns.map(|column| column.signed(row).unwrap_or(-1));
        if let Some(place) = pipes.found.get(&keys) {
            return Ok(*place);
        }
        let [link, direction, pipe] = [0, 1, 2].map(|place| self.word(place, columns[place], row).map(str::to_owned));
        let (Some(link), Some(direction)) = (link, direction) else { return Err("a row without a pipe".into()) };
        let named = JournalPipe { link, direction, pipe };
        let place = pipes.places.get(&named).copied();
        let place =
            place.ok_or_else(|| format!("a row of {}.{}, which is none of its pipes", named.link, named.direction))?;
        if pipes.found.len() > pipes.all.len() {
            pipes.forget();
        }
        pipes.found.insert(keys, place);
        Ok(place)
    }
}

/// The attempt on the air that a row is about.
fn attempt(columns: &[Column<'_>], row: usize) -> Result<AirAttempt, Wrong> {
    let [number, rate, sender, receiver] = columns else { return Err("a batch that lacks columns".into()) };
    let of = |column: &Column<'_>| narrow(column.bits(row).ok_or("an attempt without a number or a rate")?);
    Ok(AirAttempt {
        number: of(number)?,
        kilobits_per_second: of(rate)?,
        sender: sender.text(row)?.ok_or("an attempt without a sender")?.to_owned(),
        receiver: receiver.text(row)?.map(str::to_owned),
    })
}

fn address(text: &str) -> Result<IpAddr, Wrong> {
    text.parse().map_err(|_| format!("`{}`, which is no address", text.escape_debug()))
}

fn narrow<T: TryFrom<u64>>(bits: u64) -> Result<T, Wrong> {
    T::try_from(bits).map_err(|_| format!("{bits}, which is too large"))
}
