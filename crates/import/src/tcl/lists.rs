//! Lists: texts whose words are items.

/// A list of these items.
pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        text.push_str(&quoted(item));
    }
    text
}

/// An item as a word of a list.
pub(super) fn quoted(item: &str) -> String {
    let is_plain = |letter: char| !letter.is_whitespace() && !"{}[]$\"\\;#".contains(letter);
    if !item.is_empty() && item.chars().all(is_plain) {
        return item.to_owned();
    }
    let mut depth = 0_i64;
    let is_balanced = item.chars().all(|letter| {
        depth += i64::from(letter == '{') - i64::from(letter == '}');
        depth >= 0
    }) && depth == 0
        && !item.contains('\\');
    if is_balanced {
        return format!("{{{item}}}");
    }
    let escaped = |letter: char| match letter {
        '\n' => "\\n".to_owned(),
        _ if is_plain(letter) => letter.to_string(),
        _ => format!("\\{letter}"),
    };
    item.chars().map(escaped).collect()
}

/// The items of a list. Braces that do not match end with the text.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    placed_list(text).into_iter().map(|(_, item)| item).collect()
}

/// The items of a list, each with the byte at which it begins.
pub(crate) fn placed_list(text: &str) -> Vec<(usize, String)> {
    let mut items = Vec::new();
    let mut letters = text.chars();
    loop {
        let rest = without_space(letters.as_str());
        letters = rest.chars();
        let at = text.len() - rest.len();
        let Some(first) = letters.next() else { return items };
        let mut item = String::new();
        let mut depth = 1;
        match first {
            '{' => {
                while let Some(letter) = letters.next() {
                    depth += i32::from(letter == '{') - i32::from(letter == '}');
                    if depth == 0 {
                        break;
                    }
                    item.push(letter);
                    if letter == '\\' {
                        item.extend(letters.next());
                    }
                }
            }
            '"' => {
                while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                    item.push(if letter == '\\' { letters.next().unwrap_or('\\') } else { letter });
                }
            }
            _ => {
                let mut next = Some(first);
                while let Some(letter) = next.filter(|letter| !letter.is_whitespace()) {
                    if letter == '\\' && letters.as_str().starts_with('\n') {
                        break;
                    }
                    item.push(if letter == '\\' { unescaped(letters.next().unwrap_or('\\')) } else { letter });
                    next = letters.next();
                }
            }
        }
        items.push((at, item));
    }
}

/// The text from its next item on. A backslash at the end of a line is white space (Tcl(n), rule 9).
fn without_space(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(behind) = rest.strip_prefix("\\\n") {
        rest = behind.trim_start();
    }
    rest
}

fn unescaped(letter: char) -> char {
    match letter {
        'n' => '\n',
        't' => '\t',
        _ => letter,
    }
}
