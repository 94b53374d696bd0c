//! What is said to the person at the terminal, on standard error.

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Something went wrong.
pub(crate) fn failure(message: &str) {
    anstream::eprintln!("{ERROR}error{ERROR:#}: {message}");
}

/// Something to check before the results are trusted.
pub(crate) fn warning(message: &str) {
    anstream::eprintln!("{WARNING}warning{WARNING:#}: {message}");
}

/// Anything else.
pub(crate) fn say(message: &str) {
    anstream::eprintln!("{message}");
}
