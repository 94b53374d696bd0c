//! Commands that work on values.

use super::lists::quoted;
use super::strings::{self, index};
use super::{Host, Interpreter, Leave, Result_, Variable, expr, list, split_list};

/// What a script would do to the system, and does not do here.
const OUTSIDE: [&str; 15] = [
    "open",
    "close",
    "gets",
    "read",
    "eof",
    "flush",
    "exec",
    "cd",
    "socket",
    "after",
    "vwait",
    "fconfigure",
    "load",
    "package",
    "namespace",
];

/// Calls the command of this name, if it is one of these.
pub(super) fn call(
    interpreter: &mut Interpreter,
    name: &str,
    words: &[String],
    line: usize,
    host: &mut dyn Host,
) -> Option<Result_> {
    let text = |at: usize| words.get(at).map_or("", String::as_str);
    let plain = match name {
        "set" => return Some(set(interpreter, words, line, host)),
        "incr" | "append" | "lappend" | "lset" => return Some(change(interpreter, name, words, line, host)),
        "unset" => {
            for variable in &words[1..] {
                unset(interpreter, variable);
            }
            Some(String::new())
        }
        "expr" => return Some(expr::evaluate(interpreter, &words[1..].join(" "), line, host)),
        "global" => {
            globals(interpreter, &words[1..]);
            Some(String::new())
        }
        "variable" => return Some(variables(interpreter, &words[1..], line)),
        "upvar" => return Some(upvar(interpreter, words, line)),
        "array" => return Some(array(interpreter, words, line)),
        "info" => info(interpreter, words, line, host),
        "return" => {
            let value = words.last().filter(|_| words.len() > 1).cloned().unwrap_or_default();
            return Some(Err(Leave::Return(value)));
        }
        "break" => return Some(Err(Leave::Break)),
        "continue" => return Some(Err(Leave::Continue)),
        "exit" if words.len() > 2 => {
            let said = format!("`{}`: write `exit` or `exit CODE`", super::shortened(&words.join(" ")));
            return Some(interpreter.fail(line, said));
        }
        "exit" => return Some(Err(Leave::Exit)),
        "error" => return Some(interpreter.fail(line, format!("the script fails: {}", super::shortened(text(1))))),
        "puts" | "update" => Some(String::new()),
        "source" => return Some(interpreter.source(text(1), line, host)),
        "string" => strings::string(words),
        "format" => strings::format(words),
        "file" => Some(file(host, interpreter.place(line), text(1), text(2))),
        "regexp" | "clock" => {
            let why = match name {
                "clock" => "`clock` is always 0 here: scripts have no way to the system",
                _ => "`regexp` finds nothing here: regular expressions are not known",
            };
            host.note(interpreter.place(line), why.to_owned());
            Some("0".to_owned())
        }
        _ if OUTSIDE.contains(&name) => {
            host.note(
                interpreter.place(line),
                format!("`{name}` does nothing here: scripts have no way to the system"),
            );
            Some(if name == "open" { "file1".to_owned() } else { String::new() })
        }
        _ => {
            note_options(interpreter, name, words, line, host);
            of_lists(name, words)?
        }
    };
    let wrong =
        || interpreter.fail(line, format!("`{name}` cannot be understood: {:?}", super::shortened(&words.join(" "))));
    Some(plain.map_or_else(wrong, Ok))
}

impl Interpreter {
    /// A number from 0 to 1: the same ones in every run (xorshift64).
    pub(super) fn draw(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn set(interpreter: &mut Interpreter, words: &[String], line: usize, host: &mut dyn Host) -> Result_ {
    match words {
        [_, name] => match interpreter.get(name, line) {
            Some(value) => Ok(value.to_owned()),
            None => interpreter.fail(line, format!("there is no variable `{}`", super::shortened(name))),
        },
        [_, name, value] => {
            host.named(name, value);
            interpreter.set(name, value.clone(), line)?;
            Ok(value.clone())
        }
        _ => interpreter.fail(line, "write `set NAME VALUE`; a value with spaces is in braces or quotation marks"),
    }
}

/// What `file` says of a path: what it is made of, and that there is no such file.
fn file(host: &mut dyn Host, place: crate::source::Place, what: &str, path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let end = name.rfind('.').unwrap_or(name.len());
    match what {
        "dirname" => folder.to_owned(),
        "tail" => name.to_owned(),
        "extension" => name[end..].to_owned(),
        "rootname" => path[..path.len() - (name.len() - end)].to_owned(),
        _ => {
            host.note(place, "`file` finds no files here: scripts have no way to the system".to_owned());
            "0".to_owned()
        }
    }
}

fn unset(interpreter: &mut Interpreter, variable: &str) {
    let (name, index) = super::parts(variable);
    match (interpreter.slot(name), index) {
        (Some(Variable::Array(array)), Some(index)) => drop(array.remove(index)),
        (Some(_), None) => drop(interpreter.scope_of(None).remove(name)),
        _ => {}
    }
}

/// Commands that change a variable.
fn change(interpreter: &mut Interpreter, name: &str, words: &[String], line: usize, host: &mut dyn Host) -> Result_ {
    let [_, variable, arguments @ ..] = words else {
        return interpreter.fail(line, format!("`{name}` needs the name of a variable"));
    };
    let before = interpreter.get(variable, line).map(str::to_owned);
    interpreter.step(line, before.as_ref().map_or(0, String::len))?;
    let value = match name {
        "incr" => {
            let by = arguments.first().map_or(Ok(1), |by| by.trim().parse::<i64>());
            let sum =
                by.ok().and_then(|by| before.unwrap_or_else(|| "0".into()).trim().parse::<i64>().ok()?.checked_add(by));
            let Some(sum) = sum else {
                return interpreter.fail(line, format!("`incr {variable}`: this is no whole number"));
            };
            sum.to_string()
        }
        "append" => before.unwrap_or_default() + &arguments.concat(),
        "lset" => {
            let mut items = split_list(&before.unwrap_or_default());
            let (Some(at), Some(item)) = (arguments.first(), arguments.get(1)) else {
                return interpreter.fail(line, "write `lset NAME INDEX VALUE`");
            };
            let there = index(at, items.len()).and_then(|at| items.get_mut(usize::try_from(at).ok()?));
            let Some(there) = there else { return interpreter.fail(line, format!("the list has no item {at}")) };
            there.clone_from(item);
            list(items.iter().map(String::as_str))
        }
        _ => {
            let mut value = before.unwrap_or_default();
            for (at, item) in arguments.iter().enumerate() {
                if at > 0 || !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(&quoted(item));
                host.named("", item);
            }
            value
        }
    };
    interpreter.set(variable, value.clone(), line)?;
    Ok(value)
}

/// `upvar LEVEL THERE HERE ...`
fn upvar(interpreter: &mut Interpreter, words: &[String], line: usize) -> Result_ {
    let has_level = words.len().is_multiple_of(2);
    let level = words.get(1).filter(|_| has_level).map(String::as_str);
    let Some(scope) = interpreter.above(level) else {
        return interpreter.fail(line, "`upvar`: there is no such level");
    };
    for pair in words[1 + usize::from(has_level)..].chunks_exact(2) {
        interpreter.link(&pair[1], scope, &pair[0]);
    }
    Ok(String::new())
}

fn globals(interpreter: &mut Interpreter, names: &[String]) {
    if interpreter.scopes.len() > 1 {
        names.iter().for_each(|one| interpreter.link(one, 0, one));
    }
}

/// `variable NAME VALUE NAME VALUE ... NAME`: those of the only namespace that there is.
fn variables(interpreter: &mut Interpreter, words: &[String], line: usize) -> Result_ {
    for pair in words.chunks(2) {
        globals(interpreter, &pair[..1]);
        if let [name, value] = pair {
            interpreter.set(name, value.clone(), line)?;
        }
    }
    Ok(String::new())
}

fn array(interpreter: &mut Interpreter, words: &[String], line: usize) -> Result_ {
    let [_, option, name, rest @ ..] = words else { return interpreter.fail(line, "write `array names NAME`") };
    if option == "set" {
        let items = split_list(rest.first().map_or("", String::as_str));
        for pair in items.chunks_exact(2) {
            interpreter.set(&format!("{name}({})", pair[0]), pair[1].clone(), line)?;
        }
        return Ok(String::new());
    }
    if option == "unset" {
        let wanted = |index: &&String| rest.first().is_none_or(|pattern| strings::matches(pattern, index));
        let found: Vec<String> =
            interpreter.array(name).into_iter().flatten().map(|(index, _)| index).filter(wanted).cloned().collect();
        found.iter().for_each(|index| unset(interpreter, &format!("{name}({index})")));
        return Ok(String::new());
    }
    let array = interpreter.array(name);
    let is_wanted = |index: &str| rest.first().is_none_or(|pattern| strings::matches(pattern, index));
    let result = match option.as_str() {
        "names" => list(array.into_iter().flatten().map(|(index, _)| index.as_str()).filter(|index| is_wanted(index))),
        "get" => list(array.into_iter().flatten().flat_map(|(index, value)| [index.as_str(), value.as_str()])),
        "size" => array.map_or(0, std::collections::BTreeMap::len).to_string(),
        "exists" => i32::from(array.is_some()).to_string(),
        _ => return interpreter.fail(line, format!("`array {option}` is not known here")),
    };
    interpreter.step(line, result.len())?;
    Ok(result)
}

fn info(interpreter: &Interpreter, words: &[String], line: usize, host: &mut dyn Host) -> Option<String> {
    let name = words.get(2).map_or("", String::as_str);
    let flag = |flag: bool| Some(i32::from(flag).to_string());
    match words.get(1)?.as_str() {
        "exists" => flag(interpreter.find_text(name) || interpreter.array(name).is_some()),
        "procs" | "commands" => Some(interpreter.procedures.get(name).map_or_else(String::new, |_| name.to_owned())),
        what @ ("script" | "args" | "level" | "hostname") => {
            host.note(interpreter.place(line), format!("`info {what}` returns nothing here"));
            Some(String::new())
        }
        _ => None,
    }
}

/// Notes options of commands on lists that these do not have here.
fn note_options(interpreter: &Interpreter, name: &str, words: &[String], line: usize, host: &mut dyn Host) {
    let known: &[&str] = match name {
        "lsearch" => &["-exact", "-glob"],
        "lsort" => &["-integer", "-real", "-unique", "-decreasing", "-increasing", "-ascii"],
        _ => return,
    };
    let options = words.iter().take(words.len().saturating_sub(1)).skip(1).filter(|word| word.starts_with('-'));
    for odd in options.filter(|word| !known.contains(&word.as_str())) {
        host.note(interpreter.place(line), format!("`{}` of `{name}` is not known here", super::shortened(odd)));
    }
}

/// Commands on lists; none of another name.
fn of_lists(name: &str, words: &[String]) -> Option<Option<String>> {
    let text = |at: usize| words.get(at).map_or("", String::as_str);
    let items = || split_list(text(1));
    let joined = |all: &[String]| Some(list(all.iter().map(String::as_str)));
    Some(match name {
        "list" => joined(&words[1..]),
        "llength" => Some(items().len().to_string()),
        "concat" => Some(words[1..].iter().map(|word| word.trim()).collect::<Vec<_>>().join(" ")),
        "join" => Some(items().join(words.get(2).map_or(" ", String::as_str))),
        "split" => {
            let marks = words.get(2).map_or(" \t\n", String::as_str);
            let parts: Vec<&str> = text(1).split(|letter| marks.contains(letter)).collect();
            Some(if marks.is_empty() { list(text(1).split("").filter(|one| !one.is_empty())) } else { list(parts) })
        }
        "lindex" => {
            let mut value = text(1).to_owned();
            for at in words.iter().skip(2) {
                let inner = split_list(&value);
                let at = index(at, inner.len()).and_then(|at| usize::try_from(at).ok());
                value = at.and_then(|at| inner.get(at)).cloned().unwrap_or_default();
            }
            Some(value)
        }
        "lrange" | "lreplace" => {
            let items = items();
            let (Some(from), Some(to)) = (index(text(2), items.len()), index(text(3), items.len())) else {
                return Some(None);
            };
            let from = usize::try_from(from).unwrap_or(0).min(items.len());
            let to = usize::try_from(to.saturating_add(1)).unwrap_or(0).clamp(from, items.len());
            if name == "lrange" {
                joined(&items[from..to])
            } else {
                joined(&[&items[..from], words.get(4..).unwrap_or(&[]), &items[to..]].concat())
            }
        }
        "linsert" => {
            let items = items();
            let at =
                index(text(2), items.len() + 1).and_then(|at| usize::try_from(at).ok()).unwrap_or(0).min(items.len());
            joined(&[&items[..at], words.get(3..).unwrap_or(&[]), &items[at..]].concat())
        }
        "lreverse" => joined(&items().into_iter().rev().collect::<Vec<_>>()),
        "lsearch" => {
            let (options, rest): (Vec<&String>, Vec<&String>) =
                words[1..].iter().partition(|word| word.starts_with('-'));
            let [all, wanted] = rest[..] else { return Some(None) };
            let is_exact = options.iter().any(|option| *option == "-exact");
            let found = split_list(all)
                .iter()
                .position(|item| if is_exact { item == wanted } else { strings::matches(wanted, item) });
            Some(found.map_or("-1".to_owned(), |at| at.to_string()))
        }
        "lsort" => Some(sorted(words)),
        "lassign" => None,
        _ => return None,
    })
}

/// `lsort [-integer] [-real] [-unique] [-decreasing] LIST`
fn sorted(words: &[String]) -> String {
    let mut items = split_list(words.last().map_or("", String::as_str));
    let has = |option: &str| words[1..].iter().any(|word| word == option);
    if has("-integer") || has("-real") {
        let value = |item: &String| item.trim().parse::<f64>().unwrap_or(0.0);
        items.sort_by(|a, b| value(a).total_cmp(&value(b)));
    } else {
        items.sort();
    }
    if has("-unique") {
        items.dedup();
    }
    if has("-decreasing") {
        items.reverse();
    }
    list(items.iter().map(String::as_str))
}
