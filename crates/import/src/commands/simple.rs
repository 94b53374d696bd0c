//! Simple commands: their words, and what they run.

use std::ops::Range;

/// Words that may stand in front of a command.
const BEFORE: [&str; 16] = [
    "then", "do", "else", "if", "elif", "while", "until", "!", "{", "}", "exec", "time", "command", "builtin", "eval",
    "coproc",
];
/// Programs that run the command behind their options, and the letters of options that have a word of their own.
const WRAPPERS: [(&str, &str); 14] = [
    ("sudo", "ughpCTrt"),
    ("doas", "uC"),
    ("env", "uC"),
    ("nohup", ""),
    ("timeout", "sk"),
    ("nice", "n"),
    ("ionice", "cnp"),
    ("setsid", ""),
    ("stdbuf", "ioe"),
    ("xargs", "InPLdsaE"),
    ("unbuffer", ""),
    ("watch", "n"),
    ("busybox", ""),
    ("chrt", ""),
];
/// Programs that read a script: behind `-c`, in a file, or from their input.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "su"];

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// What it says without quotation marks; substitutions are as they are written.
    pub(crate) text: String,
    /// Where it stands in the script.
    pub(crate) span: Range<usize>,
    /// Where each byte of what it says stands.
    pub(super) offsets: Vec<usize>,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words, without redirections.
    pub(crate) words: Vec<Word>,
    /// Where it ends, with its redirections.
    pub(crate) end: usize,
    /// Whether a here-document is its input.
    pub(crate) has_document: bool,
    /// The file that it writes to.
    pub(crate) output: Option<String>,
}

impl Command {
    /// Its words from the one on that says what is run: behind variables, and programs that only run another one.
    pub(crate) fn run(&self) -> &[Word] {
        let mut at = 0;
        let mut wrapper: Option<&str> = None;
        while let Some(word) = self.words.get(at) {
            let text = word.text.as_str();
            let name = text.rsplit('/').next().unwrap_or(text);
            let is_option = text.starts_with('-') || text.starts_with(|one: char| one.is_ascii_digit());
            let is_variable = text.split_once('=').is_some_and(|(before, _)| is_name(before));
            let known = WRAPPERS.iter().find(|(program, _)| *program == name);
            at += match (wrapper, known) {
                (Some(letters), _) if is_option => {
                    1 + usize::from(text.len() == 2 && letters.contains(&text[1..]) && at + 2 < self.words.len())
                }
                _ if is_variable || BEFORE.contains(&text) => 1,
                (_, Some((_, letters))) => {
                    wrapper = Some(letters);
                    1
                }
                _ => break,
            };
        }
        &self.words[at.min(self.words.len())..]
    }

    /// Whether a shell reads its commands from its input.
    pub(super) fn is_shell(&self) -> bool {
        let words = self.run();
        let Some((first, rest)) = words.split_first() else { return false };
        let name = first.text.rsplit('/').next().unwrap_or_default();
        let is_plain = rest.iter().all(|word| word.text.starts_with('-')) || rest.iter().any(|word| word.text == "-s");
        SHELLS.contains(&name) && is_plain && !rest.iter().any(|word| is_script_option(&word.text))
    }

    /// The words that are scripts of their own: behind `sh -c`, and those of `eval`.
    pub(super) fn scripts(&self) -> Vec<&Word> {
        let is_before = |word: &Word| BEFORE.contains(&word.text.as_str()) || word.text.contains('=');
        if let Some(at) = self.words.iter().position(|word| word.text == "eval")
            && self.words[..at].iter().all(is_before)
        {
            return self.words[at + 1..].iter().collect();
        }
        let words = self.run();
        let is_shell =
            words.first().is_some_and(|first| SHELLS.contains(&first.text.rsplit('/').next().unwrap_or_default()));
        let option = words.iter().position(|word| is_script_option(&word.text));
        option.filter(|_| is_shell).and_then(|at| words.get(at + 1)).into_iter().collect()
    }
}

/// `-c`, `-lc`, `-ec`.
fn is_script_option(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|letters| letters.ends_with('c') && letters.bytes().all(|one| one.is_ascii_lowercase()))
}

/// Whether a shell's variable may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
