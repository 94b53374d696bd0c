//! The commands of a script of the shell, wherever they stand: behind `&&`, in functions, loops, substitutions and texts for further
//! shells (POSIX.1-2017, Shell Command Language, 2.2 to 2.10). What is read may be anything; nothing of it is run.

mod simple;

pub(crate) use simple::{Command, Word, is_name};
use std::ops::Range;

/// How deep commands stand within others.
const MOST_LEVELS: usize = 24;
/// Programs that write their input somewhere, and run nothing of it.
const WRITERS: [&str; 6] = ["cat", "tee", "dd", "sed", "true", ":"];

/// What there is in a script.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    pub(crate) all: Vec<Command>,
    /// Here-documents that are written somewhere, without the lines that end them.
    pub(crate) documents: Vec<Range<usize>>,
}

/// All commands of a script.
pub(crate) fn commands(text: &str) -> Commands {
    let mut reader = Reader { text, at: 0, level: 0, found: Commands::default(), waiting: Vec::new(), is_open: false };
    reader.list(false, false);
    reader.found
}

/// Where the first line of a script ends, with the lines that are continued and the here-documents that belong to it; none if one of
/// them has no end.
pub(crate) fn first_line(text: &str) -> Option<usize> {
    let mut reader = Reader { text, at: 0, level: 0, found: Commands::default(), waiting: Vec::new(), is_open: false };
    reader.list(false, true);
    (reader.waiting.is_empty() && !reader.is_open).then_some(reader.at)
}

/// A script without the here-documents that are written somewhere: they are no commands.
pub(crate) fn without_documents(text: &str) -> String {
    if !text.contains("<<") {
        return text.to_owned();
    }
    let mut spans = commands(text).documents;
    spans.sort_by_key(|span| span.start);
    let (mut made, mut at) = (String::new(), 0);
    for span in spans.into_iter().filter(|span| span.start <= span.end) {
        // One may stand in another.
        if span.start >= at {
            made.push_str(&text[at..span.start]);
            at = span.end;
        }
    }
    made.push_str(&text[at..]);
    made
}

/// The file that a single command writes from a here-document in which a shell replaces nothing, and what it writes: `cat > FILE << END`.
pub(crate) fn written(text: &str) -> Option<(String, String)> {
    let Commands { all, documents } = commands(text);
    let ([command], [span]) = (&all[..], &documents[..]) else { return None };
    let words: Vec<&str> = command.run().iter().map(|word| word.text.as_str()).collect();
    let path = match (&words[..], &command.output) {
        (["cat"] | ["cat", "-"], Some(path)) => path.clone(),
        (["tee", path], _) => (*path).to_owned(),
        _ => return None,
    };
    let body = &text[span.clone()];
    let head = text.lines().next().unwrap_or_default();
    let is_raw = ["<<'", "<< '", "<<\"", "<< \"", "<<\\", "<<-'", "<<-\""].iter().any(|begin| head.contains(begin));
    if !is_raw && body.contains(['$', '`', '\\']) {
        return None;
    }
    let without_tabs = || body.lines().map(|line| format!("{}\n", line.trim_start_matches('\t'))).collect();
    Some((path, if head.contains("<<-") { without_tabs() } else { body.to_owned() }))
}

/// A here-document that begins on the next line.
#[derive(Clone, Debug)]
struct Document {
    delimiter: String,
    /// `<<-`: tabs before its lines mean nothing.
    has_tabs: bool,
    /// Nothing in it is replaced.
    is_raw: bool,
    /// The number of the first command that may read it.
    reader: usize,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    level: usize,
    found: Commands,
    waiting: Vec<Document>,
    /// Whether a here-document has no end.
    is_open: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    fn skip(&mut self, letter: char) {
        self.at += letter.len_utf8();
    }

    /// Reads commands up to the end, or to the parenthesis that ends them; or those of a line.
    fn list(&mut self, is_below: bool, is_line: bool) {
        let (mut command, mut depth) = (Command::default(), 0_usize);
        while let Some(letter) = self.peek() {
            match letter {
                '\\' if self.starts_with("\\\n") => self.at += 2,
                '\n' => {
                    self.finish(&mut command);
                    self.skip(letter);
                    self.documents();
                    if is_line {
                        return;
                    }
                }
                _ if letter.is_whitespace() => self.skip(letter),
                '#' => self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at),
                '&' if self.starts_with("&>") => self.redirection(&mut command),
                '<' | '>' if !self.text[self.at + 1..].starts_with('(') => self.redirection(&mut command),
                ')' if is_below && depth == 0 => {
                    self.finish(&mut command);
                    self.skip(letter);
                    return;
                }
                '(' if self.starts_with("((") => self.balanced(),
                ';' | '&' | '|' | '(' | ')' => {
                    depth = (depth + usize::from(letter == '(')).saturating_sub(usize::from(letter == ')'));
                    self.finish(&mut command);
                    self.skip(letter);
                }
                _ => {
                    let word = self.word();
                    // The number before a redirection is that of a file.
                    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
                    if !is_number || !self.peek().is_some_and(|next| next == '<' || next == '>') {
                        command.end = self.at;
                        command.words.push(word);
                    }
                }
            }
        }
        self.finish(&mut command);
    }

    /// The command is complete.
    fn finish(&mut self, command: &mut Command) {
        let done = std::mem::take(command);
        if done.words.is_empty() {
            return;
        }
        let scripts: Vec<Word> = done.scripts().into_iter().cloned().collect();
        self.found.all.push(done);
        for script in scripts {
            self.nested(&script.text, &script.offsets);
        }
    }

    /// A script within the script, each byte of which stands at one of these places.
    fn nested(&mut self, script: &str, offsets: &[usize]) {
        if self.level >= MOST_LEVELS {
            return;
        }
        let mut reader = Reader {
            text: script,
            at: 0,
            level: self.level + 1,
            found: Commands::default(),
            waiting: Vec::new(),
            is_open: false,
        };
        reader.list(false, false);
        let place = |at: usize| offsets.get(at).copied();
        let behind = |at: usize| at.checked_sub(1).and_then(place).map(|last| last + 1);
        for mut command in reader.found.all {
            let Some(end) = behind(command.end) else { continue };
            command.end = end;
            for word in &mut command.words {
                let (Some(start), Some(last)) = (place(word.span.start), behind(word.span.end)) else { continue };
                word.span = start..last;
                word.offsets.iter_mut().for_each(|one| *one = place(*one).unwrap_or(start));
            }
            self.found.all.push(command);
        }
        let spans = reader.found.documents.into_iter().filter_map(|span| Some(place(span.start)?..behind(span.end)?));
        self.found.documents.extend(spans);
    }

    /// `> FILE`, `2>&1`, `<< END`, `<<< WORD`.
    fn redirection(&mut self, command: &mut Command) {
        let rest = &self.text[self.at..];
        let operator = ["<<<", "<<-", "<<", "&>>", "&>", ">>", ">&", "<&", "<>", ">|", "<", ">"]
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .unwrap_or(">");
        self.at += operator.len();
        while self.peek().is_some_and(|letter| letter == ' ' || letter == '\t') {
            self.at += 1;
        }
        let word = self.word();
        command.end = self.at;
        if operator == ">" || operator == ">|" {
            command.output = Some(word.text.clone());
        }
        if operator == "<<" || operator == "<<-" {
            let is_raw = word.span.len() != word.text.len();
            let reader = self.found.all.len();
            command.has_document = true;
            self.waiting.push(Document { delimiter: word.text, has_tabs: operator == "<<-", is_raw, reader });
        }
    }

    /// The here-documents that begin here. What has no end is none.
    fn documents(&mut self) {
        for document in std::mem::take(&mut self.waiting) {
            let begin = self.at;
            let mut end = None;
            while end.is_none() && self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let line = rest.split('\n').next().unwrap_or_default();
                let plain = if document.has_tabs { line.trim_start_matches('\t') } else { line };
                if plain == document.delimiter {
                    end = Some(self.at);
                }
                self.at += (line.len() + 1).min(rest.len());
            }
            match end {
                Some(end) => self.document(&document, begin..end),
                None => (self.at, self.is_open) = (begin, true),
            }
        }
    }

    fn document(&mut self, document: &Document, span: Range<usize>) {
        let readers = &self.found.all[document.reader.min(self.found.all.len())..];
        let is_script = readers.iter().any(Command::is_shell);
        let first = readers.first().and_then(|command| command.run().first());
        let is_written = first.is_none_or(|word| WRITERS.contains(&word.text.rsplit('/').next().unwrap_or_default()));
        let text = self.text;
        if is_script {
            let offsets: Vec<usize> = span.clone().collect();
            self.nested(&text[span], &offsets);
            return;
        }
        if is_written {
            self.found.documents.push(span.clone());
        }
        if !document.is_raw {
            let behind = std::mem::replace(&mut self.at, span.start);
            self.expanded(&mut Word::default(), |reader| reader.at >= span.end);
            self.at = behind;
        }
    }

    /// A word, which ends with white space or an operator.
    fn word(&mut self) -> Word {
        let mut word = Word { span: self.at..self.at, ..Word::default() };
        while let Some(letter) = self.peek() {
            match letter {
                '\\' if self.starts_with("\\\n") => self.at += 2,
                '\\' => {
                    self.at += 1;
                    self.take(&mut word);
                }
                '\'' => {
                    self.at += 1;
                    while self.peek().is_some_and(|inner| inner != '\'') {
                        self.take(&mut word);
                    }
                    self.at = (self.at + 1).min(self.text.len());
                }
                '"' => {
                    self.at += 1;
                    self.expanded(&mut word, |reader| reader.peek().is_none_or(|inner| inner == '"'));
                    self.at = (self.at + 1).min(self.text.len());
                }
                '$' | '`' => self.substitution(&mut word),
                // A list of values, and a command whose output is a file.
                '(' if word.text.ends_with('=') => self.balanced(),
                '<' | '>' if word.text.is_empty() && self.text[self.at + 1..].starts_with('(') => self.below(&mut word),
                ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                _ if letter.is_whitespace() => break,
                _ => self.take(&mut word),
            }
        }
        word.span.end = self.at;
        if word.span.is_empty() {
            // An operator that belongs to nothing.
            self.at += self.peek().map_or(0, char::len_utf8);
            word.span.end = self.at;
        }
        word
    }

    /// What stands in quotation marks, in which commands are replaced.
    fn expanded(&mut self, word: &mut Word, is_end: impl Fn(&Self) -> bool) {
        while !is_end(self) && self.at < self.text.len() {
            match self.peek() {
                Some('\\') if self.text[self.at + 1..].starts_with(['$', '`', '"', '\\']) => {
                    self.at += 1;
                    self.take(word);
                }
                Some('\\') if self.starts_with("\\\n") => self.at += 2,
                Some('$' | '`') => self.substitution(word),
                _ => self.take(word),
            }
        }
    }

    /// `$(COMMAND)`, `` `COMMAND` ``, `$((SUM))`, `${NAME...}`, `$NAME`.
    fn substitution(&mut self, word: &mut Word) {
        if self.starts_with("$((") {
            let start = self.at;
            self.at += 1;
            self.balanced();
            self.written(word, start);
        } else if self.starts_with("$(") {
            self.below(word);
        } else if self.starts_with("`") {
            self.backquoted(word);
        } else if self.starts_with("${") {
            let start = self.at;
            let length = self.text[start..].find('}').map_or(self.text.len() - start, |end| end + 1);
            self.at += length;
            self.written(word, start);
        } else {
            self.take(word);
        }
    }

    /// Commands behind a letter and a parenthesis, up to the one that closes; the word has them as they are written.
    fn below(&mut self, word: &mut Word) {
        let start = self.at;
        self.at += 2;
        if self.level >= MOST_LEVELS {
            self.at = self.text.len();
            return;
        }
        self.level += 1;
        self.list(true, false);
        self.level -= 1;
        self.written(word, start);
    }

    /// Commands between backquotes, in which a backslash takes the meaning of some letters (2.6.3).
    fn backquoted(&mut self, word: &mut Word) {
        let start = self.at;
        self.at += 1;
        let mut inner = Word::default();
        while self.peek().is_some_and(|letter| letter != '`') {
            if self.starts_with("\\") && self.text[self.at + 1..].starts_with(['$', '`', '\\']) {
                self.at += 1;
            }
            self.take(&mut inner);
        }
        self.at = (self.at + 1).min(self.text.len());
        self.written(word, start);
        self.nested(&inner.text, &inner.offsets);
    }

    /// Adds what was read from here on, as it is written.
    fn written(&mut self, word: &mut Word, start: usize) {
        word.text.push_str(&self.text[start..self.at]);
        word.offsets.extend(start..self.at);
    }

    /// Adds the next letter.
    fn take(&mut self, word: &mut Word) {
        if let Some(letter) = self.peek() {
            let start = self.at;
            self.skip(letter);
            self.written(word, start);
        }
    }

    /// Skips what is in parentheses.
    fn balanced(&mut self) {
        let mut depth = 0_usize;
        while let Some(letter) = self.peek() {
            self.skip(letter);
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
