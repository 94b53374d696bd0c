//! Where in a file a value goes: `links.bottleneck.rate`, `timeline[2].at`, `timeline.transfer.run`.

use crate::diagnostics::{Diagnostic, nearest};
use crate::yaml::{Content, Entry, Node, below};

/// Puts `value` where `path` leads. The last key may be new; a value that is nothing takes it out.
pub(super) fn put(root: &mut Node, path: &Node, value: &Node) -> Result<(), Diagnostic> {
    let text = path.text().unwrap_or_default().to_owned();
    let mut at = root;
    let mut rest = text.as_str();
    loop {
        let step = find(at, rest).map_err(|why| path.error(why))?;
        match step {
            Step::Entry(index, "") | Step::Item(index, "") => return replace(at, index, value),
            Step::New(name) => return add(at, name, path, value),
            Step::Direction(_) if value.content == Content::Empty => return Ok(()),
            Step::Direction(name) => {
                let empty = Node { content: Content::Map(Vec::new()), ..value.clone() };
                add(at, name, path, &empty)?;
            }
            Step::Entry(index, tail) => {
                let Content::Map(entries) = &mut at.content else { unreachable!("it has this entry") };
                (at, rest) = (&mut entries[index].value, tail);
            }
            Step::Item(index, tail) => {
                let Content::List(items) = &mut at.content else { unreachable!("it has this item") };
                (at, rest) = (&mut items[index], tail);
            }
        }
    }
}

/// Whether `path` leads anywhere in `root`, or why not.
pub(super) fn check(root: &Node, path: &Node) -> Result<(), Diagnostic> {
    let text = path.text().ok_or_else(|| path.expected(WANTED))?;
    let (mut at, mut rest) = (root, text);
    while !rest.is_empty() {
        match find(at, rest).map_err(|why| path.error(why))? {
            Step::New(_) | Step::Direction(_) => return Ok(()),
            Step::Entry(index, tail) => {
                let Content::Map(entries) = &at.content else { return Ok(()) };
                (at, rest) = (&entries[index].value, tail);
            }
            Step::Item(index, tail) => {
                let Content::List(items) = &at.content else { return Ok(()) };
                (at, rest) = (&items[index], tail);
            }
        }
    }
    if text.is_empty() { Err(path.expected(WANTED)) } else { Ok(()) }
}

pub(super) const WANTED: &str = "a path in this file, for example links.bottleneck.rate";

/// A step of a path, and what is left of it.
enum Step<'a> {
    Entry(usize, &'a str),
    Item(usize, &'a str),
    New(&'a str),
    /// A direction of a link that has nothing of its own yet; the path goes on in it.
    Direction(&'a str),
}

fn find<'a>(at: &Node, rest: &'a str) -> Result<Step<'a>, String> {
    let here = || if at.key.is_empty() { "this file".to_owned() } else { format!("`{}`", at.key) };
    match &at.content {
        Content::Map(entries) => {
            // Names may have dots in them: the longest that fits is meant.
            let fits = |entry: &Entry| tail_behind(rest, &entry.name).map(|tail| (entry.name.len(), tail));
            let found = entries.iter().enumerate().filter_map(|(index, entry)| Some((index, fits(entry)?)));
            if let Some((index, (_, tail))) = found.max_by_key(|(_, (len, _))| *len) {
                return Ok(Step::Entry(index, tail));
            }
            let (name, tail) = first(rest);
            // A key that is not there yet stands in a map of settings, and not in one of names.
            if tail.is_empty() && !["nodes", "links", "layout"].contains(&at.key.as_str()) {
                return Ok(Step::New(name));
            }
            if ["forward", "backward"].contains(&name) && is_link(&at.key) {
                return Ok(Step::Direction(name));
            }
            let near = nearest(name, entries.iter().map(|entry| entry.name.as_str()));
            let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            Err(format!("there is no `{name}` in {}{hint}", here()))
        }
        Content::List(items) => item(items, rest).ok_or_else(|| {
            let (name, _) = first(rest);
            let count = items.len();
            format!(
                "{} has {count} items, and none is `{name}`: write its number, from 0, or the name that it has (`as`)",
                here()
            )
        }),
        Content::Empty => match first(rest) {
            (name, "") => Ok(Step::New(name)),
            (name, _) => Err(format!("there is no `{name}` in {}, where nothing is", here())),
        },
        Content::Text { .. } => Err(format!("{} is a text: there is no `{}` in it", here(), first(rest).0)),
    }
}

/// Whether this is the key of a link, which has directions.
fn is_link(key: &str) -> bool {
    key.strip_prefix("links.").is_some_and(|name| !name.is_empty())
}

fn item<'a>(items: &[Node], rest: &'a str) -> Option<Step<'a>> {
    let is_called = |item: &Node, name: &str| {
        let Content::Map(entries) = &item.content else { return item.text() == Some(name) };
        entries.iter().any(|entry| ["as", "name"].contains(&entry.name.as_str()) && entry.value.text() == Some(name))
    };
    let (name, tail) = first(rest);
    let number = name.parse::<usize>().ok().filter(|number| *number < items.len());
    let place = number.or_else(|| items.iter().position(|item| is_called(item, name)))?;
    Some(Step::Item(place, tail))
}

/// The first name or number of a path, and what is behind it.
fn first(rest: &str) -> (&str, &str) {
    if let Some((number, tail)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        return (number, tail.strip_prefix('.').unwrap_or(tail));
    }
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    (name, tail.strip_prefix('.').unwrap_or(tail))
}

/// What is behind `name` in a path that begins with it.
fn tail_behind<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let tail = rest.strip_prefix(name)?;
    match tail.strip_prefix('.') {
        Some(tail) => Some(tail),
        None => (tail.is_empty() || tail.starts_with('[')).then_some(tail),
    }
}

fn replace(at: &mut Node, index: usize, value: &Node) -> Result<(), Diagnostic> {
    let is_nothing = value.content == Content::Empty;
    match &mut at.content {
        Content::Map(entries) if is_nothing => drop(entries.remove(index)),
        Content::List(items) if is_nothing => drop(items.remove(index)),
        Content::Map(entries) => entries[index].value = value.clone().at(entries[index].value.key.clone()),
        Content::List(items) => items[index] = value.clone().at(items[index].key.clone()),
        Content::Text { .. } | Content::Empty => {}
    }
    Ok(())
}

fn add(at: &mut Node, name: &str, path: &Node, value: &Node) -> Result<(), Diagnostic> {
    if name.is_empty() {
        return Err(path.expected(WANTED));
    }
    if value.content == Content::Empty {
        return Ok(());
    }
    if at.content == Content::Empty {
        at.content = Content::Map(Vec::new());
    }
    let Content::Map(entries) = &mut at.content else { return Ok(()) };
    let value = value.clone().at(below(&at.key, name));
    entries.push(Entry { name: name.to_owned(), span: path.span, value });
    Ok(())
}
