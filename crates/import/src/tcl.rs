//! A small Tcl: enough for the scripts by which ns-2 and Emulab describe networks. It reads no files but scripts that its host
//! gives it, starts no programs, and ends after a bounded number of steps.
//!
//! It is not a library's: the Tcl that there is for Rust (`molt`) had its last release in May 2020, and its forks are personal ones. A
//! binding to the Tcl of C would let a script read files and start programs.
//!
//! Values are texts, as in Tcl. What the language does not have, objects and their methods above all, goes to a [`Host`].

mod builtins;
mod control;
mod expr;
mod lists;
mod strings;
mod words;

pub(crate) use lists::{list, placed_list, split_list};

use crate::source::{Lines, Place, Wrong};
use std::cell::Cell;
use std::collections::BTreeMap;

/// Steps of a script: a command is one, and so are 256 bytes of what it works on.
const MOST_STEPS: u64 = 1_000_000;
/// Levels of commands within commands: each takes some kilobytes of the stack.
const MOST_LEVELS: usize = 60;
/// Bytes of all variables and procedures together.
const MOST_BYTES: usize = 32 << 20;

/// What commands are called that the language does not have.
pub(crate) trait Host {
    /// Calls a command with its arguments; none if there is no such command.
    fn call(&mut self, words: &[String], place: Place) -> Option<Result<String, String>>;
    /// A variable of this name got a value.
    fn named(&mut self, variable: &str, value: &str);
    /// The script of this name, which is asked for at this place, and the number of its file; none if it is not read.
    fn script(&mut self, name: &str, place: Place) -> Option<(usize, String)>;
    /// Something that is not done.
    fn note(&mut self, place: Place, message: String);
    /// Whether a command ended the program.
    fn is_over(&self) -> bool {
        false
    }
}

/// How a script ends otherwise than behind its last command.
#[derive(Debug)]
pub(crate) enum Leave {
    Error(Wrong),
    Break,
    Continue,
    Return(String),
    /// The program ends.
    Exit,
}

/// The value of a script.
pub(crate) type Result_ = Result<String, Leave>;

/// A variable: a text, or texts by their index.
#[derive(Clone, Debug)]
enum Variable {
    Text(String),
    Array(BTreeMap<String, String>),
    /// The variable of this name of another scope, by its number.
    Linked(usize, String),
}

#[derive(Clone, Debug)]
struct Procedure {
    parameters: Vec<String>,
    body: String,
    line: usize,
}

/// A script that runs.
pub(crate) struct Interpreter {
    /// The scripts, each with the number of lines in those before it: lines are numbered through all of them.
    files: Vec<(usize, Lines)>,
    /// The variables: of the script, and of the procedures that run.
    scopes: Vec<BTreeMap<String, Variable>>,
    procedures: BTreeMap<String, Procedure>,
    steps: u64,
    level: usize,
    bytes: usize,
    /// From which `rand()` draws.
    random: u64,
    /// A global variable, and the line where it was asked for first.
    watched: (String, Cell<Option<usize>>),
}

/// A word and the line where it begins.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    line: usize,
    /// In braces, in which nothing was replaced.
    is_raw: bool,
}

impl Word {
    /// The text as a value: a line that is continued is one line.
    fn value(&self) -> String {
        if self.is_raw { joined(&self.text) } else { self.text.clone() }
    }
}

impl Interpreter {
    /// For the script whose lines these are.
    pub(crate) fn new(lines: Lines) -> Self {
        Self {
            files: vec![(0, lines)],
            scopes: vec![BTreeMap::new()],
            procedures: BTreeMap::new(),
            steps: 0,
            level: 0,
            bytes: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            watched: (String::new(), Cell::new(None)),
        }
    }

    /// Remembers where this global variable is asked for first.
    pub(crate) fn watch(&mut self, name: &str) {
        self.watched.0 = name.to_owned();
    }

    /// Where that was, if it was.
    pub(crate) fn watched(&self) -> Option<Place> {
        self.watched.1.get().map(|line| self.place(line))
    }

    /// Runs a script that begins on this line.
    pub(crate) fn run(&mut self, script: &str, line: usize, host: &mut dyn Host) -> Result_ {
        if self.level >= MOST_LEVELS {
            return self.fail(line, format!("more than {MOST_LEVELS} commands within one another: this does not end"));
        }
        self.level += 1;
        let result = words::run(self, script, line, host);
        self.level -= 1;
        result
    }

    /// Gives a variable a value before the script runs.
    pub(crate) fn define(&mut self, name: &str, value: &str) {
        self.scopes[0].insert(name.to_owned(), Variable::Text(value.to_owned()));
    }

    /// The number, through all scripts, of the line where a place is.
    pub(crate) fn line(&self, place: Place) -> usize {
        let file = self.files.iter().find(|(_, lines)| lines.extent().0 == place.file);
        file.map_or(0, |(before, _)| before + place.span.line)
    }

    /// Whether the script defined procedures.
    pub(crate) fn has_procedures(&self) -> bool {
        !self.procedures.is_empty()
    }

    /// Runs another script.
    fn source(&mut self, name: &str, line: usize, host: &mut dyn Host) -> Result_ {
        let Some((file, script)) = host.script(name, self.place(line)) else {
            let said = format!("`source {}`: only scripts beside this one are read", shortened(name));
            host.note(self.place(line), said);
            return Ok(String::new());
        };
        self.step(line, script.len())?;
        let known = self.files.iter().find(|(_, lines)| lines.extent().0 == file).map(|(before, _)| *before);
        let before = known.unwrap_or_else(|| {
            let before = self.files.last().map_or(0, |(before, lines)| before + lines.extent().1);
            self.files.push((before, Lines::of(&script, file)));
            before
        });
        match self.run(&script, before + 1, host) {
            Err(Leave::Return(value)) => Ok(value),
            other => other,
        }
    }

    /// The place of a line.
    pub(crate) fn place(&self, line: usize) -> Place {
        let behind = self.files.partition_point(|(before, _)| *before < line);
        let (before, lines) = &self.files[behind.max(1) - 1];
        lines.line(line - before)
    }

    fn fail<T>(&self, line: usize, message: impl Into<String>) -> Result<T, Leave> {
        Err(Leave::Error(self.place(line).wrong(message)))
    }

    /// Counts a step, and what it works on.
    fn step(&mut self, line: usize, bytes: usize) -> Result<(), Leave> {
        self.steps += 1 + bytes as u64 / 256;
        if self.steps > MOST_STEPS {
            return self.fail(line, format!("the script takes more than {MOST_STEPS} steps: does it end?"));
        }
        Ok(())
    }

    /// Calls a command.
    fn call(&mut self, words: &[Word], host: &mut dyn Host) -> Result_ {
        let Some(first) = words.first() else { return Ok(String::new()) };
        let line = first.line;
        self.step(line, words.iter().map(|word| word.text.len()).sum())?;
        let name = first.text.strip_prefix("::").unwrap_or(&first.text);
        if let Some(procedure) = self.procedures.get(name).cloned() {
            return self.procedure(name, &procedure, words, host);
        }
        if let Some(result) = control::call(self, name, words, host) {
            return result;
        }
        let texts: Vec<String> = words.iter().map(Word::value).collect();
        if let Some(result) = builtins::call(self, name, &texts, line, host) {
            return result;
        }
        let place = self.place(line);
        match host.call(&texts, place) {
            Some(_) if host.is_over() => Err(Leave::Exit),
            Some(result) => result.or_else(|message| self.fail(line, message)),
            None if name.is_empty() => {
                let rest = shortened(&texts[1..].join(" "));
                host.note(place, format!("a command without a name, before `{rest}`: it does nothing"));
                Ok(String::new())
            }
            None => {
                host.note(place, format!("`{}` is no command that is known here: it does nothing", shortened(name)));
                Ok(String::new())
            }
        }
    }

    fn procedure(&mut self, name: &str, procedure: &Procedure, words: &[Word], host: &mut dyn Host) -> Result_ {
        let mut scope = BTreeMap::new();
        let mut given = words[1..].iter();
        for (at, parameter) in procedure.parameters.iter().enumerate() {
            let parts = split_list(parameter);
            let (called, default) = (parts.first().cloned().unwrap_or_default(), parts.get(1).cloned());
            let value = if called == "args" && at + 1 == procedure.parameters.len() {
                let rest: Vec<String> = given.by_ref().map(Word::value).collect();
                Some(list(rest.iter().map(String::as_str)))
            } else {
                given.next().map(Word::value).or(default)
            };
            let Some(value) = value else {
                return self.fail(words[0].line, format!("`{name}` needs a value for `{called}`"));
            };
            scope.insert(called, Variable::Text(value));
        }
        if let Some(more) = given.next() {
            let said = format!("`{}` behind `{name}` is one word too many", shortened(&more.text));
            return self.fail(words[0].line, said);
        }
        self.scopes.push(scope);
        let result = self.run(&procedure.body, procedure.line, host);
        self.scopes.pop();
        match result {
            Err(Leave::Return(value)) => Ok(value),
            Err(Leave::Break | Leave::Continue) => Ok(String::new()),
            other => other,
        }
    }

    /// The value of a variable; an array is asked by its index.
    fn get(&self, name: &str, line: usize) -> Option<&str> {
        let (name, index) = parts(name);
        if !self.watched.0.is_empty()
            && name.ends_with(&self.watched.0)
            && self.home(name) == (0, self.watched.0.clone())
        {
            self.watched.1.set(self.watched.1.get().or(Some(line)));
        }
        match (self.find(name)?, index) {
            (Variable::Text(text), None) => Some(text),
            (Variable::Array(array), Some(index)) => array.get(index).map(String::as_str),
            _ => None,
        }
    }

    /// Whether there is a variable of this name with a value.
    fn find_text(&self, name: &str) -> bool {
        match (self.find(parts(name).0), parts(name).1) {
            (Some(Variable::Text(_)), None) => true,
            (Some(Variable::Array(array)), Some(index)) => array.contains_key(index),
            _ => false,
        }
    }

    /// The array of this name.
    fn array(&self, name: &str) -> Option<&BTreeMap<String, String>> {
        if let Variable::Array(array) = self.find(name)? { Some(array) } else { None }
    }

    /// The scope in which a variable of the present one is, and its name there. A link leads to no other link.
    fn home(&self, name: &str) -> (usize, String) {
        if let Some(global) = name.strip_prefix("::") {
            return (0, global.to_owned());
        }
        let here = self.scopes.len() - 1;
        match self.scopes[here].get(name) {
            Some(Variable::Linked(scope, there)) => (*scope, there.clone()),
            _ => (here, name.to_owned()),
        }
    }

    fn find(&self, name: &str) -> Option<&Variable> {
        let (scope, there) = self.home(name);
        self.scopes[scope].get(&there)
    }

    /// Makes a name of the present scope stand for a variable of another one, which `there` is in that scope.
    fn link(&mut self, name: &str, scope: usize, there: &str) {
        let target = match self.scopes[scope].get(there) {
            Some(Variable::Linked(further, called)) => (*further, called.clone()),
            _ => (scope, there.to_owned()),
        };
        if target != (self.scopes.len() - 1, name.to_owned()) {
            self.scope_of(None).insert(name.to_owned(), Variable::Linked(target.0, target.1));
        }
    }

    /// The number of the scope that `upvar` and `uplevel` mean: `#0`, `1`; that of the caller unless it is said.
    fn above(&self, level: Option<&str>) -> Option<usize> {
        let here = self.scopes.len() - 1;
        match level {
            None => here.checked_sub(1),
            Some(level) => match level.strip_prefix('#') {
                Some(number) => number.parse().ok().filter(|number| *number <= here),
                None => here.checked_sub(level.parse().ok()?),
            },
        }
    }

    /// Runs a script in another scope.
    fn run_above(&mut self, scope: usize, script: &str, line: usize, host: &mut dyn Host) -> Result_ {
        let left = self.scopes.split_off(scope + 1);
        let result = self.run(script, line, host);
        self.scopes.truncate(scope + 1);
        self.scopes.extend(left);
        result
    }

    /// Sets a variable.
    fn set(&mut self, name: &str, value: String, line: usize) -> Result<(), Leave> {
        self.bytes += name.len() + value.len() + 64;
        if self.bytes > MOST_BYTES {
            self.bytes =
                self.scopes.iter().flatten().map(|(called, variable)| called.len() + size(variable) + 64).sum();
            if self.bytes > MOST_BYTES / 2 {
                return self
                    .fail(line, format!("the variables of this script take more than {} MiB", MOST_BYTES >> 21));
            }
        }
        let (name, index) = parts(name);
        let slot = self.slot(name);
        match (slot, index) {
            (None, None) => {
                let global = name.strip_prefix("::");
                self.scope_of(global).insert(global.unwrap_or(name).to_owned(), Variable::Text(value));
            }
            // A global variable that has no value yet is an empty array.
            (Some(slot), None) => match slot {
                Variable::Array(array) if !array.is_empty() => {
                    return self.fail(line, format!("`{name}` is an array"));
                }
                _ => *slot = Variable::Text(value),
            },
            (Some(Variable::Array(array)), Some(index)) => drop(array.insert(index.to_owned(), value)),
            (None, Some(index)) => {
                let array = Variable::Array([(index.to_owned(), value)].into());
                let global = name.strip_prefix("::");
                self.scope_of(global).insert(global.unwrap_or(name).to_owned(), array);
            }
            (Some(_), Some(_)) => return self.fail(line, format!("`{name}` is no array")),
        }
        Ok(())
    }

    fn scope_of(&mut self, global: Option<&str>) -> &mut BTreeMap<String, Variable> {
        let last = self.scopes.len() - 1;
        &mut self.scopes[if global.is_some() { 0 } else { last }]
    }

    /// Where a variable is, behind what leads to it. One of another scope that does not exist yet is made.
    fn slot(&mut self, name: &str) -> Option<&mut Variable> {
        let (scope, there) = self.home(name);
        let is_link = !name.starts_with("::") && matches!(self.scopes.last()?.get(name), Some(Variable::Linked(..)));
        if is_link && !self.scopes[scope].contains_key(&there) {
            // An array that gets its first element, or a text: whichever comes makes it.
            self.scopes[scope].insert(there.clone(), Variable::Array(BTreeMap::new()));
        }
        self.scopes[scope].get_mut(&there)
    }
}

/// A name and the index in its parentheses.
fn parts(name: &str) -> (&str, Option<&str>) {
    match name.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
        Some((array, index)) => (array, Some(index)),
        None => (name, None),
    }
}

fn size(variable: &Variable) -> usize {
    match variable {
        Variable::Text(text) | Variable::Linked(_, text) => text.len(),
        Variable::Array(array) => array.iter().map(|(index, value)| index.len() + value.len() + 64).sum(),
    }
}

/// A text in which each backslash at the end of a line, and the white space behind it, is a space (Tcl(n), rule 9).
fn joined(text: &str) -> String {
    if !text.contains("\\\n") {
        return text.to_owned();
    }
    let mut whole = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'\n') => {
                letters.next();
                while letters.next_if(|next| *next == ' ' || *next == '\t').is_some() {}
                whole.push(' ');
            }
            '\\' => {
                whole.push(letter);
                whole.extend(letters.next());
            }
            _ => whole.push(letter),
        }
    }
    whole
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
