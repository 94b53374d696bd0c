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
