//! Changes of a link from outside a lab file.

use crate::decode::named_change;
use crate::diagnostics::Span;
use crate::yaml::{Content, Node};
use netloom_link::PipeChange;
use std::fmt;

/// Why a text is not a change of a link. The message says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError(String);

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChangeError {}

/// The change that `key` (rate, delay, queue or loss) and `value` describe, as a lab file would have them.
///
/// # Errors
/// An unknown key, or a value that is not one of its kind.
///
/// ```
/// use netloom_units::Duration;
/// let change = netloom_lab::parse_change("delay", "80 ms")?;
/// assert_eq!(change.delay, Some(Duration::from_millis(80)));
/// # Ok::<(), netloom_lab::ChangeError>(())
/// ```
pub fn parse_change(key: &str, value: &str) -> Result<PipeChange, ChangeError> {
    let span = Span::default();
    let text = value.trim().to_owned();
    let content = if text.is_empty() { Content::Empty } else { Content::Text { text, plain: true } };
    let node = Node { span, head: span, key: key.to_owned(), content };
    named_change(key, node).map_err(|error| ChangeError(format!("{key}: {}", error.message())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_link::{LossConfig, QueueConfig};
    use netloom_units::Limit;

    #[test]
    fn a_change_says_one_thing() {
        let rate = parse_change("rate", "unlimited").expect("a rate");
        assert_eq!(rate, PipeChange { rate: Some(None), ..PipeChange::default() });
        let queue = parse_change("queue", "7 packets").expect("a queue");
        assert_eq!(queue.queue, Some(QueueConfig::DropTail(Limit::Packets(7))));
        assert_eq!(parse_change("loss", " 0 ").expect("a loss").loss, Some(LossConfig::None));
    }

    #[test]
    fn errors_name_the_key() {
        let wrong = |key, value| parse_change(key, value).expect_err("it is wrong").to_string();
        assert_eq!(
            wrong("dely", "1 ms"),
            "dely: unknown key `dely`: did you mean `delay`? known here: rate, delay, queue, loss"
        );
        assert_eq!(
            wrong("loss", "170 %"),
            "loss: \"170 %\" is more than 100 %: a probability lies between 0 % and 100 %"
        );
        assert_eq!(wrong("delay", ""), "delay: expected a number with a unit, found nothing");
    }
}
