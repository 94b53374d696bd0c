//! The twelve rules of Tcl: commands, words and substitutions.

use super::{Host, Interpreter, Leave, Result_, Word};

/// Runs all commands of a script; the value is that of the last one.
pub(super) fn run(interpreter: &mut Interpreter, script: &str, line: usize, host: &mut dyn Host) -> Result_ {
    let mut reader = Reader { text: script, at: 0, line };
    let value = reader.commands(interpreter, false, host)?;
    Ok(value)
}

/// A text with its variables, commands and backslashes replaced.
pub(super) fn substitute(interpreter: &mut Interpreter, text: &str, line: usize, host: &mut dyn Host) -> Result_ {
    let mut reader = Reader { text, at: 0, line };
    let mut result = String::new();
    while reader.peek().is_some() {
        reader.piece(interpreter, &mut result, host)?;
    }
    Ok(result)
}

/// A text that is read from its beginning.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) line: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn starts_with(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    /// Runs commands up to the end, or up to the bracket that ends them.
    fn commands(&mut self, interpreter: &mut Interpreter, in_brackets: bool, host: &mut dyn Host) -> Result_ {
        let mut value = String::new();
        loop {
            while self.peek().is_some_and(|letter| letter.is_whitespace() || letter == ';') || self.starts_with("\\\n")
            {
                if self.take() == Some('\\') {
                    self.take();
                }
            }
            match self.peek() {
                None if in_brackets => return interpreter.fail(self.line, "a `]` is missing"),
                None => return Ok(value),
                Some(']') if in_brackets => {
                    self.take();
                    return Ok(value);
                }
                Some('#') => self.comment(),
                Some(_) => {
                    let words = self.command(interpreter, in_brackets, host)?;
                    value = interpreter.call(&words, host)?;
                }
            }
        }
    }

    fn comment(&mut self) {
        while let Some(letter) = self.take() {
            match letter {
                '\\' => drop(self.take()),
                '\n' => return,
                _ => {}
            }
        }
    }

    /// The words of a command.
    fn command(
        &mut self,
        interpreter: &mut Interpreter,
        in_brackets: bool,
        host: &mut dyn Host,
    ) -> Result<Vec<Word>, Leave> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            while self.peek().is_some_and(|letter| letter.is_whitespace() && letter != '\n') || self.starts_with("\\\n")
            {
                if self.take() == Some('\\') {
                    self.take();
                }
            }
            let line = self.line;
            match self.peek() {
                None | Some('\n' | ';') => {
                    self.take();
                    return Ok(words);
                }
                Some(']') if in_brackets => return Ok(words),
                Some('{') if self.starts_with("{*}") && !self.text[self.at + 3..].starts_with(char::is_whitespace) => {
                    self.at += 3;
                    let text = self.word(interpreter, in_brackets, host)?;
                    words.extend(super::split_list(&text).into_iter().map(|text| Word { text, line, is_raw: false }));
                }
                Some(_) => {
                    let is_raw = self.peek() == Some('{');
                    let text = self.word(interpreter, in_brackets, host)?;
                    words.push(Word { text, line, is_raw });
                }
            }
            interpreter.step(line, 0)?;
        }
    }

    fn word(&mut self, interpreter: &mut Interpreter, in_brackets: bool, host: &mut dyn Host) -> Result_ {
        match self.peek() {
            Some('{') => self.braced(interpreter),
            Some('"') => self.quoted(interpreter, host),
            _ => self.bare(interpreter, in_brackets, host),
        }
    }

    /// A word in braces: as it is, but for lines that are joined.
    pub(super) fn braced(&mut self, interpreter: &Interpreter) -> Result_ {
        let line = self.line;
        self.take();
        let (mut text, mut depth) = (String::new(), 1);
        while let Some(letter) = self.take() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                '\\' => {
                    text.push('\\');
                    text.extend(self.take());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(text);
            }
            text.push(letter);
        }
        interpreter.fail(line, "this `{` has no `}`")
    }

    /// A word in quotation marks.
    pub(super) fn quoted(&mut self, interpreter: &mut Interpreter, host: &mut dyn Host) -> Result_ {
        let line = self.line;
        self.take();
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return interpreter.fail(line, "this text does not end: a `\"` is missing"),
                Some('"') => {
                    self.take();
                    return Ok(text);
                }
                Some(_) => self.piece(interpreter, &mut text, host)?,
            }
        }
    }

    fn bare(&mut self, interpreter: &mut Interpreter, in_brackets: bool, host: &mut dyn Host) -> Result_ {
        let mut text = String::new();
        loop {
            match self.peek() {
                None | Some(';') => return Ok(text),
                Some(letter) if letter.is_whitespace() => return Ok(text),
                Some(']') if in_brackets => return Ok(text),
                Some('\\') if self.starts_with("\\\n") => return Ok(text),
                Some(_) => self.piece(interpreter, &mut text, host)?,
            }
        }
    }

    /// The next letter, or what a variable, a command or a backslash stands for.
    fn piece(&mut self, interpreter: &mut Interpreter, text: &mut String, host: &mut dyn Host) -> Result<(), Leave> {
        match self.peek() {
            Some('$') => {
                let value = self.variable(interpreter, host)?;
                interpreter.step(self.line, value.len())?;
                text.push_str(&value);
            }
            Some('[') => text.push_str(&self.bracketed(interpreter, host)?),
            Some('\\') => self.backslash(text),
            Some(_) => text.extend(self.take()),
            None => {}
        }
        Ok(())
    }

    /// A command in brackets.
    pub(super) fn bracketed(&mut self, interpreter: &mut Interpreter, host: &mut dyn Host) -> Result_ {
        self.take();
        if interpreter.level >= super::MOST_LEVELS {
            return interpreter.fail(self.line, "brackets are nested too deeply");
        }
        interpreter.level += 1;
        let value = self.commands(interpreter, true, host);
        interpreter.level -= 1;
        value
    }

    /// The value of a variable; a dollar sign without a name is one.
    pub(super) fn variable(&mut self, interpreter: &mut Interpreter, host: &mut dyn Host) -> Result_ {
        let line = self.line;
        self.take();
        let name = if self.peek() == Some('{') {
            self.take();
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('}') else { return interpreter.fail(line, "this `${` has no `}`") };
            self.at += end + 1;
            rest[..end].to_owned()
        } else {
            let rest = &self.text[self.at..];
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
            let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
            // A single colon ends a name.
            let name = rest[..end].trim_end_matches(':');
            self.at += name.len();
            if name.is_empty() {
                return Ok("$".to_owned());
            }
            if self.peek() == Some('(') {
                format!("{name}({})", self.index(interpreter, host)?)
            } else {
                name.to_owned()
            }
        };
        match interpreter.get(&name, line) {
            Some(value) => Ok(value.to_owned()),
            None => interpreter.fail(line, format!("there is no variable `{}`", super::shortened(&name))),
        }
    }

    /// The index of an array, which may have variables of its own.
    fn index(&mut self, interpreter: &mut Interpreter, host: &mut dyn Host) -> Result_ {
        let line = self.line;
        self.take();
        if interpreter.level >= super::MOST_LEVELS {
            return interpreter.fail(line, "indices are nested too deeply");
        }
        interpreter.level += 1;
        let mut index = String::new();
        let result = loop {
            match self.peek() {
                None => break interpreter.fail(line, "this index does not end: a `)` is missing"),
                Some(')') => {
                    self.take();
                    break Ok(index);
                }
                Some(_) => {
                    if let Err(leave) = self.piece(interpreter, &mut index, host) {
                        break Err(leave);
                    }
                }
            }
        };
        interpreter.level -= 1;
        result
    }

    fn backslash(&mut self, text: &mut String) {
        self.take();
        match self.take() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('\n') => {
                while self.peek().is_some_and(|letter| letter == ' ' || letter == '\t') {
                    self.take();
                }
                text.push(' ');
            }
            Some(letter) => text.push(letter),
            None => text.push('\\'),
        }
    }
}
