//! Messages to the user, on standard error. Errors are ignored: the terminal may be gone.

use anstyle::{AnsiColor, Style};
use std::io::Write;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Something went wrong.
pub(crate) fn failure(message: &str) {
    say(&format!("{ERROR}error{ERROR:#}: {message}"));
}

/// Something to check before the results are trusted.
pub(crate) fn warning(message: &str) {
    say(&format!("{WARNING}warning{WARNING:#}: {message}"));
}

/// Anything else.
pub(crate) fn say(message: &str) {
    // A reader that has gone, or a disk that is full, must not leave a lab behind.
    let _ = writeln!(anstream::stderr(), "{message}");
}
