//! The columns of a journal, and records as batches of them.

use super::record::{AirAttempt, Fate, JournalPipe, Record, cause_names, cause_place};
use arrow_array::builder::{Int64Builder, PrimitiveBuilder, StringBuilder, UInt8Builder, UInt16Builder, UInt32Builder};
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use netloom_lab::Direction;
use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::sync::Arc;

/// The keys of the file's own words: which form of journals it has, the lab's name, and the pipes as JSON.
pub(super) const FORM_KEY: &str = "netloom.journal";
pub(super) const LAB_KEY: &str = "netloom.lab";
pub(super) const PIPES_KEY: &str = "netloom.pipes";
/// The forms that are written here: without attempts on the air, and with them.
pub(super) const FORM: &str = "1";
pub(super) const FORM_WITH_ATTEMPTS: &str = "2";

/// What became of packets, as journals name it; and of attempts.
pub(super) const OUTCOMES: [&str; 5] = ["delivered", "dropped", "inside", "decoded", "lost"];
/// So many of them are of packets.
pub(super) const OF_PACKETS: usize = 3;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One of some words, by their numbers of 8 bits.
    Word,
    /// One of some names, by their numbers of 32 bits.
    Name,
    /// An instant.
    Instant,
    /// Numbers of so many bits.
    Number(i32),
    /// A text.
    Text,
}

/// A column: its name, what it holds, and whether that may be missing.
pub(super) type Column = (&'static str, Form, bool);

/// All columns.
pub(super) const COLUMNS: [Column; 20] = [
    ("link", Form::Name, false),
    ("direction", Form::Word, false),
    ("pipe", Form::Name, true),
    ("outcome", Form::Word, false),
    ("cause", Form::Word, true),
    ("arrived_ns", Form::Instant, false),
    ("started_ns", Form::Instant, true),
    ("sent_ns", Form::Instant, true),
    ("due_ns", Form::Instant, true),
    ("delivered_ns", Form::Instant, true),
    ("dropped_ns", Form::Instant, true),
    ("marked_ns", Form::Instant, true),
    ("size_bytes", Form::Number(32), false),
    ("protocol", Form::Number(8), true),
    ("dscp", Form::Number(8), true),
    ("source", Form::Text, true),
    ("source_port", Form::Number(16), true),
    ("destination", Form::Text, true),
    ("destination_port", Form::Number(16), true),
    ("sequence", Form::Number(32), true),
];

/// The columns behind these in a journal with attempts on the air.
pub(super) const ATTEMPT_COLUMNS: [Column; 4] = [
    ("attempt", Form::Number(32), true),
    ("rate_kilobits_per_second", Form::Number(32), true),
    ("sender", Form::Text, true),
    ("receiver", Form::Text, true),
];

/// All columns of a journal, with attempts or without.
pub(super) fn all_columns(has_attempts: bool) -> impl Iterator<Item = &'static Column> {
    COLUMNS.iter().chain(ATTEMPT_COLUMNS.iter().filter(move |_| has_attempts))
}

/// The schema of a journal of these pipes.
pub(super) fn schema(lab: &str, pipes: &[JournalPipe], has_attempts: bool) -> Schema {
    let dictionary = |keys| DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
    let field = |(name, form, may_miss): &Column| {
        let kind = match form {
            Form::Word => dictionary(DataType::Int8),
            Form::Name => dictionary(DataType::Int32),
            Form::Instant => DataType::Int64,
            Form::Number(8) => DataType::UInt8,
            Form::Number(16) => DataType::UInt16,
            Form::Number(_) => DataType::UInt32,
            Form::Text => DataType::Utf8,
        };
        Field::new(*name, kind, *may_miss)
    };
    let fields: Vec<Field> = all_columns(has_attempts).map(field).collect();
    let form = if has_attempts { FORM_WITH_ATTEMPTS } else { FORM };
    let pipes = serde_json::to_string(pipes).expect("names are text");
    let own = [(FORM_KEY, form.to_owned()), (LAB_KEY, lab.to_owned()), (PIPES_KEY, pipes)];
    Schema::new(fields).with_metadata(own.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Words or names that a column refers to by numbers.
struct Words<K: ArrowDictionaryKeyType> {
    words: Arc<StringArray>,
    keys: PrimitiveBuilder<K>,
}

impl<K: ArrowDictionaryKeyType> Words<K> {
    fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        Self { words: Arc::new(StringArray::from_iter_values(words)), keys: PrimitiveBuilder::new() }
    }

    fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let words: ArrayRef = self.words.clone();
        Ok(Arc::new(DictionaryArray::<K>::try_new(self.keys.finish(), words)?))
    }
}

/// Records that become a batch.
pub(super) struct Batch {
    schema: Arc<Schema>,
    /// By pipe: the numbers of its link, direction and name.
    keys: Vec<(i32, i8, Option<i32>)>,
    rows: usize,
    link: Words<Int32Type>,
    direction: Words<Int8Type>,
    pipe: Words<Int32Type>,
    outcome: Words<Int8Type>,
    cause: Words<Int8Type>,
    arrived: Int64Builder,
    /// In the order of the columns: started, sent, due, delivered, dropped, marked.
    instants: [Int64Builder; 6],
    size: UInt32Builder,
    protocol: UInt8Builder,
    dscp: UInt8Builder,
    source: StringBuilder,
    source_port: UInt16Builder,
    destination: StringBuilder,
    destination_port: UInt16Builder,
    sequence: UInt32Builder,
    /// The columns of attempts; none in a journal without.
    attempts: Option<Attempts>,
}

/// The columns of attempts.
#[derive(Default)]
struct Attempts {
    number: UInt32Builder,
    rate: UInt32Builder,
    sender: StringBuilder,
    receiver: StringBuilder,
}

impl Attempts {
    fn push(&mut self, attempt: Option<&AirAttempt>) {
        self.number.append_option(attempt.map(|own| own.number));
        self.rate.append_option(attempt.map(|own| own.kilobits_per_second));
        self.sender.append_option(attempt.map(|own| own.sender.as_str()));
        self.receiver.append_option(attempt.and_then(|own| own.receiver.as_deref()));
    }

    fn finish(&mut self) -> [ArrayRef; 4] {
        let Self { number, rate, sender, receiver } = self;
        let (number, rate) = (Arc::new(number.finish()), Arc::new(rate.finish()));
        [number, rate, Arc::new(sender.finish()), Arc::new(receiver.finish())]
    }
}

impl Batch {
    /// An empty one, of a journal of these pipes.
    pub(super) fn new(schema: Arc<Schema>, pipes: &[JournalPipe], has_attempts: bool) -> Self {
        let outcomes = if has_attempts { &OUTCOMES[..] } else { &OUTCOMES[..OF_PACKETS] };
        let directions = [Direction::Forward, Direction::Backward, Direction::Shared].map(Direction::name);
        let links = Numbered::new(pipes.iter().map(|pipe| pipe.link.as_str()));
        let names = Numbered::new(pipes.iter().filter_map(|pipe| pipe.pipe.as_deref()));
        let keys = pipes.iter().map(|pipe| {
            let direction = directions.iter().position(|name| *name == pipe.direction).unwrap_or(0);
            let direction = i8::try_from(direction).expect("there are three");
            (links.numbers[pipe.link.as_str()], direction, pipe.pipe.as_deref().map(|name| names.numbers[name]))
        });
        Self {
            schema,
            keys: keys.collect(),
            rows: 0,
            link: Words::new(links.words.iter().copied()),
            direction: Words::new(directions.into_iter()),
            pipe: Words::new(names.words.iter().copied()),
            outcome: Words::new(outcomes.iter().copied()),
            cause: Words::new(cause_names()),
            arrived: Int64Builder::new(),
            instants: Default::default(),
            size: UInt32Builder::new(),
            protocol: UInt8Builder::new(),
            dscp: UInt8Builder::new(),
            source: StringBuilder::new(),
            source_port: UInt16Builder::new(),
            destination: StringBuilder::new(),
            destination_port: UInt16Builder::new(),
            sequence: UInt32Builder::new(),
            attempts: has_attempts.then(Attempts::default),
        }
    }

    /// How many records it has.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a record.
    pub(super) fn push(&mut self, record: &Record) {
        self.rows += 1;
        let (link, direction, pipe) = self.keys[record.pipe as usize];
        self.link.keys.append_value(link);
        self.direction.keys.append_value(direction);
        self.pipe.keys.append_option(pipe);
        let (outcome, delivered, dropped, cause) = match record.fate {
            Fate::Delivered { .. } if record.attempt.is_some() => (3, None, None, None),
            _ if record.attempt.is_some() => (4, None, None, None),
            Fate::Delivered { at_ns } => (0, Some(at_ns), None, None),
            Fate::Dropped { at_ns, cause } => (1, None, Some(at_ns), Some(cause)),
            Fate::Inside => (2, None, None, None),
        };
        self.outcome.keys.append_value(outcome);
        let place = |why| i8::try_from(cause_place(why)).expect("there are four");
        self.cause.keys.append_option(cause.map(place));
        self.arrived.append_value(record.arrived_ns);
        let instants = [record.started_ns, record.sent_ns, record.due_ns, delivered, dropped, record.marked_ns];
        self.instants.iter_mut().zip(instants).for_each(|(column, at)| column.append_option(at));
        self.size.append_value(record.size_bytes);
        let flow = record.flow.as_ref();
        self.protocol.append_option(flow.map(|flow| flow.protocol));
        self.dscp.append_option(flow.map(|flow| flow.dscp));
        append_text(&mut self.source, flow.map(|flow| flow.source));
        append_text(&mut self.destination, flow.map(|flow| flow.destination));
        // No port is zero where there are ports.
        let port = |port: u16| Some(port).filter(|port| *port > 0);
        self.source_port.append_option(flow.and_then(|flow| port(flow.source_port)));
        self.destination_port.append_option(flow.and_then(|flow| port(flow.destination_port)));
        self.sequence.append_option(record.sequence);
        self.attempts.iter_mut().for_each(|attempts| attempts.push(record.attempt.as_ref()));
    }

    /// What was added, as a batch; it is empty afterwards.
    pub(super) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let [started, sent, due, delivered, dropped, marked] = &mut self.instants;
        let mut columns: Vec<ArrayRef> = vec![
            self.link.finish()?,
            self.direction.finish()?,
            self.pipe.finish()?,
            self.outcome.finish()?,
            self.cause.finish()?,
            Arc::new(self.arrived.finish()),
            Arc::new(started.finish()),
            Arc::new(sent.finish()),
            Arc::new(due.finish()),
            Arc::new(delivered.finish()),
            Arc::new(dropped.finish()),
            Arc::new(marked.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.protocol.finish()),
            Arc::new(self.dscp.finish()),
            Arc::new(self.source.finish()),
            Arc::new(self.source_port.finish()),
            Arc::new(self.destination.finish()),
            Arc::new(self.destination_port.finish()),
            Arc::new(self.sequence.finish()),
        ];
        columns.extend(self.attempts.iter_mut().flat_map(Attempts::finish));
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

fn append_text(column: &mut StringBuilder, value: Option<impl Display>) {
    match value {
        Some(value) => {
            // To write to memory cannot fail.
            let _ = write!(column, "{value}");
            column.append_value("");
        }
        None => column.append_null(),
    }
}

/// Words, each once, in the order in which they came.
struct Numbered<'a> {
    words: Vec<&'a str>,
    numbers: HashMap<&'a str, i32>,
}

impl<'a> Numbered<'a> {
    fn new(all: impl Iterator<Item = &'a str>) -> Self {
        let mut this = Self { words: Vec::new(), numbers: HashMap::new() };
        for word in all {
            let next = i32::try_from(this.words.len()).expect("a lab has fewer links");
            if *this.numbers.entry(word).or_insert(next) == next {
                this.words.push(word);
            }
        }
        this
    }
}
