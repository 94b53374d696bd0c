//! Changes of a link: those of the timeline, and those from outside a lab file.

use super::KEYS;
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keyed::sections;
use crate::yaml::{self, Content, Entry, Node};
use netloom_link::{PipeChange, PipeConfig};
use std::fmt;

sections! {
    /// What can be changed while a lab runs.
    pub(crate) const CHANGE = "change" {
        ..KEYS;
    }
}

/// Why a text is not a change of a link. The message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError(String);

impl ChangeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChangeError {}

/// The change that `key` and `value` describe, as a lab file would have them.
///
/// # Errors
/// An unknown key, or a value that is not one of its kind.
///
/// ```
/// use netloom_units::Duration;
/// let change = netloom_lab::parse_change("delay", "80 ms")?;
/// assert_eq!(change.delay, Some(Duration::from_millis(80).into()));
/// # Ok::<(), netloom_lab::ChangeError>(())
/// ```
pub fn parse_change(key: &str, value: &str) -> Result<PipeChange, ChangeError> {
    named_change(key, parsed(key, value)?).map_err(|error| ChangeError(format!("{key}: {}", error.message())))
}

fn parsed(key: &str, value: &str) -> Result<Node, ChangeError> {
    let parsed = if value.trim().is_empty() { Ok(Node::empty()) } else { yaml::parse(value) };
    parsed.map_err(|errors| {
        let why = errors.first().map_or("it is not YAML", Diagnostic::message);
        ChangeError(format!("{key}: {why}"))
    })
}

/// Whether keys, each of which is right for itself, can be said together: a string of another tool may say what a key says.
///
/// # Errors
/// What is said twice.
pub fn check_together(keys: &[(String, String)]) -> Result<(), ChangeError> {
    let entry = |(key, value): &(String, String)| {
        let value = parsed(key, value)?;
        Ok(Entry { name: key.clone(), span: value.span, value })
    };
    let entries = keys.iter().map(entry).collect::<Result<Vec<_>, ChangeError>>()?;
    let Some(span) = entries.first().map(|first| first.span) else { return Ok(()) };
    let map = Node { span, content: Content::Map(entries), head: span, ..Node::empty() };
    let mut errors = Errors::default();
    changes(&map, &mut errors);
    errors.into_entries().first().map_or(Ok(()), |error| Err(ChangeError(error.message().to_owned())))
}

/// A direction that these keys and values describe; what they do not say is the default.
///
/// # Errors
/// An unknown key, or a value that is not one of its kind.
pub fn parse_pipe(keys: &[(String, String)]) -> Result<PipeConfig, ChangeError> {
    keys.iter()
        .try_fold(PipeConfig::default(), |config, (key, value)| Ok(parse_change(key, value)?.applied_to(&config)))
}

/// The change that a map like `{delay: 80 ms}` describes.
pub(crate) fn changes(node: &Node, errors: &mut Errors) -> Option<PipeChange> {
    let fields = Fields::open(node, &CHANGE, errors)?;
    if node.content == Content::Map(Vec::new()) {
        errors.push(node.error("nothing is changed: write for example `{delay: 80 ms}`"));
    }
    let mut change = super::decode(&fields, errors);
    super::complete(&fields, &mut change);
    Some(change)
}

/// The change that one key and its value describe.
fn named_change(key: &str, value: Node) -> Result<PipeChange, Diagnostic> {
    let span = value.span;
    let entry = Entry { name: key.to_owned(), span, value };
    let map = Node { span, content: Content::Map(vec![entry]), head: span, ..Node::empty() };
    let mut errors = Errors::default();
    let change = changes(&map, &mut errors);
    match (errors.into_entries().into_iter().next(), change) {
        (Some(error), _) => Err(error),
        (None, change) => Ok(change.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_link::{LossConfig, QueueConfig, RateConfig};
    use netloom_units::Limit;

    #[test]
    fn a_change_says_one_thing() {
        let rate = parse_change("rate", "unlimited").expect("a rate");
        assert_eq!(rate, PipeChange { rate: Some(RateConfig::Unlimited), ..PipeChange::default() });
        let queue = parse_change("queue", "7 packets").expect("a queue");
        assert_eq!(queue.queue, Some(QueueConfig::DropTail(Limit::Packets(7))));
        assert_eq!(parse_change("loss", " 0 ").expect("a loss").loss, Some(LossConfig::None));
    }

    /// After `tc qdisc change dev eth0 root netem delay 100ms`, `tc qdisc show` has nothing but the delay.
    #[test]
    fn a_string_says_all_that_its_tool_says() {
        let before = parse_change("netem", "delay 50ms loss 20% duplicate 5% corrupt 1% rate 1mbit").expect("netem");
        let before = before.applied_to(&PipeConfig::default());
        let after = parse_change("netem", "delay 100ms").expect("netem").applied_to(&before);
        let written: Vec<_> =
            crate::models::written(&after).into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
        assert_eq!(written, ["rate: 1 Mbit/s", "delay: 100 ms"]);
        let dummynet = parse_change("dummynet", "plr 0.1 queue 20").expect("dummynet").applied_to(&before);
        assert_eq!((dummynet.rate, dummynet.delay), (RateConfig::Unlimited, PipeConfig::default().delay));
    }

    #[test]
    fn errors_name_the_key() {
        let wrong = |key, value| parse_change(key, value).expect_err("it is wrong").to_string();
        let unknown = wrong("dely", "1 ms");
        assert!(unknown.starts_with("dely: unknown key `dely`: did you mean `delay`? known here: rate, delay, queue,"));
        assert_eq!(
            wrong("loss", "170 %"),
            "loss: \"170 %\" is more than 100 %: a probability lies between 0 % and 100 %"
        );
        assert_eq!(wrong("delay", ""), "delay: expected a number with a unit, found nothing");
    }
}
