//! Reads journals, whoever wrote or damaged them: in bounded memory, and up to where they are damaged.

mod batch;
mod message;

use super::columns::{FORM, FORM_KEY, FORM_WITH_ATTEMPTS, Form, LAB_KEY, PIPES_KEY, all_columns};
use super::record::{JournalPipe, Record};
use arrow_ipc::{Field, MessageHeader, Type};
use batch::{Dictionaries, Pipes, dictionary, records};
use message::{Message, Messages};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::vec::IntoIter;

/// Reads a journal record by record: an iterator, which ends with an error where the file is damaged or cut off. All that came
/// before that is right.
///
/// ```
/// # use netloom_results::journal::{JournalPipe, JournalReader, JournalWriter};
/// # let pipes = [JournalPipe { link: "l".into(), direction: "forward".into(), pipe: None }];
/// # let mut file = Vec::new();
/// # JournalWriter::begin(&mut file, "lab", &pipes, None)?.finish()?;
/// let reader = JournalReader::new(&file[..])?; // of a file: JournalReader::open(path)?
/// let mut delivered = 0;
/// for record in reader {
///     delivered += u64::from(record?.due_ns.is_some());
/// }
/// assert_eq!(delivered, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It holds one batch of records at a time, a few megabytes at most, however long the file is.
pub struct JournalReader<R> {
    messages: Messages<R>,
    lab: String,
    pipes: Pipes,
    dictionaries: Dictionaries,
    batch: IntoIter<Record>,
    read: u64,
    is_over: bool,
    has_attempts: bool,
    shows_attempts: bool,
}

/// Why a journal cannot be read, or not further.
#[derive(Debug)]
pub enum JournalError {
    /// The file cannot be read.
    Io(io::Error),
    /// It is no journal, or of a form that is not known here.
    Foreign(String),
    /// It ends where it should go on: what wrote it was killed, or still writes.
    Unfinished {
        /// How many records are in front of that.
        records: u64,
        /// Where what is incomplete begins, in bytes.
        offset: u64,
    },
    /// It is damaged.
    Damaged {
        /// How many records are in front of that.
        records: u64,
        /// Where what is damaged begins, in bytes.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Foreign(why) => write!(f, "this is no journal of netloom: {why}"),
            Self::Unfinished { records, offset } => write!(
                f,
                "the journal ends at byte {offset} without its end mark: its run was killed or still goes on; the {records} \
                 packets before are complete"
            ),
            Self::Damaged { records, offset, what } => {
                write!(f, "the journal is damaged at byte {offset}: {what}; the {records} packets before are sound")
            }
        }
    }
}

impl std::error::Error for JournalError {}

/// What is wrong with a message.
type Wrong = String;

impl JournalReader<BufReader<File>> {
    /// Opens a journal.
    ///
    /// # Errors
    /// A file that cannot be read, or that is no journal.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let file = crate::regular::open(path).map_err(JournalError::Io)?;
        Self::new(BufReader::new(file))
    }
}

impl<R: Read> JournalReader<R> {
    /// Reads the beginning of a journal.
    ///
    /// # Errors
    /// What cannot be read, or is no journal.
    pub fn new(input: R) -> Result<Self, JournalError> {
        let mut messages = Messages::new(input);
        let first = match messages.next() {
            Ok(Some(first)) => first,
            Ok(None) => return Err(JournalError::Foreign("it is empty".into())),
            Err(message::Failure::Io(error)) => return Err(JournalError::Io(error)),
            Err(message::Failure::CutOff) => return Err(JournalError::Foreign("it ends in its first line".into())),
            Err(message::Failure::Wrong(what)) => return Err(JournalError::Foreign(what)),
        };
        let Opening { lab, pipes, ids, has_attempts } = opening(&first).map_err(JournalError::Foreign)?;
        let dictionaries = Dictionaries::new(ids);
        let (batch, pipes) = (Vec::new().into_iter(), Pipes::new(pipes));
        Ok(Self {
            messages,
            lab,
            pipes,
            dictionaries,
            batch,
            read: 0,
            is_over: false,
            has_attempts,
            shows_attempts: false,
        })
    }

    /// Returns a reader that shows attempts on the air, too, and not packets alone.
    #[must_use]
    pub fn with_attempts(mut self) -> Self {
        self.shows_attempts = true;
        self
    }

    /// Whether it is a journal with attempts on the air.
    pub fn has_attempts(&self) -> bool {
        self.has_attempts
    }

    /// The name of the lab.
    pub fn lab(&self) -> &str {
        &self.lab
    }

    /// The pipes that it is about, whether or not anything happened in them; records have their places here.
    pub fn pipes(&self) -> &[JournalPipe] {
        self.pipes.all()
    }

    /// Reads on until there are records; false at the end.
    fn fill(&mut self) -> Result<bool, JournalError> {
        loop {
            let offset = self.messages.offset();
            let damaged = |what, records| JournalError::Damaged { records, offset, what };
            let message = match self.messages.next() {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(false),
                Err(message::Failure::Io(error)) => return Err(JournalError::Io(error)),
                Err(message::Failure::CutOff) => return Err(JournalError::Unfinished { records: self.read, offset }),
                Err(message::Failure::Wrong(what)) => return Err(damaged(what, self.read)),
            };
            match self.take(&message) {
                Ok(batch) if batch.is_empty() => {}
                Ok(batch) => {
                    self.read += batch.len() as u64;
                    self.batch = batch.into_iter();
                    return Ok(true);
                }
                Err(what) => return Err(damaged(what, self.read)),
            }
        }
    }

    fn take(&mut self, message: &Message) -> Result<Vec<Record>, Wrong> {
        let root = message.root()?;
        match root.header_type() {
            MessageHeader::DictionaryBatch => {
                let batch = root.header_as_dictionary_batch().ok_or("a message without content")?;
                let words = dictionary(&batch, message)?;
                self.dictionaries.put(batch.id(), &words)?;
                self.pipes.forget();
                Ok(Vec::new())
            }
            MessageHeader::RecordBatch => {
                let batch = root.header_as_record_batch().ok_or("a message without content")?;
                records(&batch, (message, self.has_attempts), &self.dictionaries, &mut self.pipes)
            }
            _ => Err("a message that does not belong here".into()),
        }
    }
}

impl<R: Read> Iterator for JournalReader<R> {
    type Item = Result<Record, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.batch.next() {
                if record.attempt.is_some() && !self.shows_attempts {
                    continue;
                }
                return Some(Ok(record));
            }
            if self.is_over {
                return None;
            }
            match self.fill() {
                Ok(true) => {}
                Ok(false) => self.is_over = true,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The beginning of a journal.
struct Opening {
    lab: String,
    pipes: Vec<JournalPipe>,
    /// For each column of words the number of its dictionary.
    ids: Vec<i64>,
    has_attempts: bool,
}

fn opening(message: &Message) -> Result<Opening, Wrong> {
    let root = message.root()?;
    let schema = root.header_as_schema().ok_or("it does not begin with the names of its columns")?;
    let words = schema.custom_metadata();
    let word = |key: &str| {
        let own = words.iter().flatten().find(|own| own.key() == Some(key));
        own.and_then(|own| own.value()).ok_or_else(|| format!("it does not say `{key}`"))
    };
    let own_form = word(FORM_KEY)?;
    let has_attempts = own_form == FORM_WITH_ATTEMPTS;
    if own_form != FORM && !has_attempts {
        return Err(format!(
            "it has form {own_form}, and this netloom reads the forms {FORM} and {FORM_WITH_ATTEMPTS}"
        ));
    }
    let pipes = serde_json::from_str(word(PIPES_KEY)?).map_err(|error| format!("its list of pipes: {error}"))?;
    let fields = schema.fields().ok_or("it has no columns")?;
    let wanted = all_columns(has_attempts).count();
    if fields.len() != wanted {
        return Err(format!("it has {} columns in the place of {wanted}", fields.len()));
    }
    let mut ids = Vec::new();
    for (field, (name, form, _)) in fields.iter().zip(all_columns(has_attempts)) {
        if field.name() != Some(*name) {
            return Err(format!("its column {} is not `{name}`", field.name().unwrap_or_default()));
        }
        let wrong = || format!("its column {name} has another type");
        ids.extend(dictionary_of(&field, *form).ok_or_else(wrong)?);
    }
    Ok(Opening { lab: word(LAB_KEY)?.to_owned(), pipes, ids, has_attempts })
}

/// The number of a column's dictionary, none if it needs none; none if its type is not as it should be.
fn dictionary_of(field: &Field<'_>, form: Form) -> Option<Option<i64>> {
    let is_int = |bits: i32, is_signed: bool| {
        field.type_as_int().is_some_and(|int| int.bitWidth() == bits && int.is_signed() == is_signed)
    };
    let no_dictionary = |is_right: bool| (is_right && field.dictionary().is_none()).then_some(None);
    match form {
        Form::Instant => no_dictionary(is_int(64, true)),
        Form::Number(bits) => no_dictionary(is_int(bits, false)),
        Form::Text => no_dictionary(field.type_type() == Type::Utf8),
        Form::Word | Form::Name => {
            let bits = if form == Form::Word { 8 } else { 32 };
            let dictionary = field.dictionary().filter(|_| field.type_type() == Type::Utf8)?;
            let keys = dictionary.indexType()?;
            (keys.bitWidth() == bits && keys.is_signed()).then_some(Some(dictionary.id()))
        }
    }
}
