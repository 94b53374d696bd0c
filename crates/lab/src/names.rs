//! Checks of names, and the errors about wrong ones.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::scalar::{filled, text};
use crate::yaml::Node;

/// Whether `name` can name a lab.
///
/// # Errors
/// What would be right.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if plain && (1..=32).contains(&name.len()) {
        return Ok(());
    }
    Err(format!("\"{name}\" cannot name a lab: use 1 to 32 of a-z, 0-9 and -"))
}

/// What is wrong with the name of a node.
pub(crate) fn wrong_node_name(name: &str) -> Option<String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if name.eq_ignore_ascii_case("localhost") {
        return Some("`localhost` is every node's name for itself: choose another".into());
    }
    (!begins || !goes_on || name.len() > 31).then(|| {
        format!("`{name}` cannot name a node: begin with a letter, go on with letters, digits and -, 31 at most")
    })
}

/// What is wrong with the name of a link or pipe.
pub(crate) fn wrong_link_name(name: &str, what: &str) -> Option<String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    (!begins || !goes_on || name.len() > 31).then(|| {
        format!("`{name}` cannot name a {what}: begin with a letter, go on with letters, digits, _ and -, 31 at most")
    })
}

/// The link that is meant.
pub(crate) fn link_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    name_of("a link")(node)
}

/// The name of another thing of the file; `what` says of what.
pub(crate) fn name_of(what: &'static str) -> impl Fn(&Node) -> Result<Spanned<String>, Diagnostic> {
    move |node| match node.text() {
        Some(name) => Ok(node.spanned(name.to_owned())),
        None => Err(node.expected(&format!("the name of {what}"))),
    }
}

/// A command's own name.
pub(crate) fn command_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = text(node)?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if begins && goes_on && name.len() <= 63 {
        return Ok(node.spanned(name));
    }
    Err(node.error(format!(
        "\"{name}\" cannot name a command: begin with a letter, go on with letters, digits, _ and -, 63 at most"
    )))
}

/// What a run writes itself.
const RESERVED: [&str; 20] = [
    "provenance.json",
    "lab.yaml",
    "plan.json",
    "lab.svg",
    "map.svg",
    "hosts",
    "logs",
    "captures",
    "cores",
    "journal.arrows",
    "events.jsonl",
    "samples.csv",
    "pipes.csv",
    "pipes.json",
    "commands.json",
    "verdict.json",
    "summary.txt",
    "report.html",
    "machine-files.json",
    "root-image",
];

/// The name of a file in the results folder.
pub(crate) fn file_name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    let name = filled(node)?;
    let plain =
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_. -".contains(&b)) && !name.starts_with(['.', ' ']);
    if RESERVED.contains(&name.as_str()) {
        return Err(node.error(format!("\"{name}\" is a file that every run writes: choose another name")));
    }
    if plain {
        return Ok(node.spanned(name));
    }
    Err(node.error(format!(
        "\"{name}\" is not a plain file name: it goes into the results folder, write for example iperf.json"
    )))
}

/// The name of a user, or its number.
pub(crate) fn user_name(node: &Node) -> Result<String, Diagnostic> {
    let name = text(node)?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)) && !name.starts_with(['-', '.']);
    let is_number = name.bytes().all(|b| b.is_ascii_digit());
    // The largest number means "nobody in particular" to the kernel.
    let is_right = if is_number { name.parse().is_ok_and(|uid: u32| uid < u32::MAX) } else { name.len() <= 32 };
    if plain && is_right && !name.is_empty() {
        return Ok(name);
    }
    Err(node.error(format!(
        "\"{name}\" is not a user: write a name that /etc/passwd has, or a number, for example postgres"
    )))
}

/// What is wrong with the name of a variable.
pub(crate) fn variable_name(name: &str) -> Option<&'static str> {
    let mut bytes = name.bytes();
    let begins = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let goes_on = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if begins && goes_on { None } else { Some("is not the name of a variable: use letters, digits and _") }
}
