//! Text in XML and HTML, for all that write such files.

/// Returns `text` as it stands in an element or in an attribute with double quotes, of XML or HTML. Control characters, which XML 1.0
/// cannot have at all, become U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<a href=\"x\">Tom & 'Jerry'</a>\n"),
            "&lt;a href=&quot;x&quot;&gt;Tom &amp; 'Jerry'&lt;/a&gt;\n"
        );
        assert_eq!(escaped("\u{1b}[2J\té\u{ffff}"), "\u{fffd}[2J\té\u{fffd}");
    }
}
