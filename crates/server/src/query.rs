//! Queries and names as parts of addresses.

use crate::answer::Refusal;

/// The pairs of a query, as browsers encode them.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decoded(key)?, decoded(value)?))
    });
    pairs.collect::<Option<_>>().ok_or_else(|| Refusal::bad("the query of this request is not encoded as it should be"))
}

/// A text without percent signs for bytes, and with spaces for plus signs.
fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'+' => plain.push(b' '),
            b'%' => {
                plain.push(u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()?);
                at += 2;
            }
            byte => plain.push(byte),
        }
        at += 1;
    }
    String::from_utf8(plain).ok()
}

/// A name as a part of a path.
pub(crate) fn encoded(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    name.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_or_refused() {
        let found = pairs("a=1&b=x%20y+z&&c").unwrap();
        let expected = [("a", "1"), ("b", "x y z"), ("c", "")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(found, expected);
        for wrong in ["a=%", "a=%zz", "a=%ff", "a=%é"] {
            assert!(pairs(wrong).is_err(), "{wrong}");
        }
        assert_eq!(encoded("a b/ü:1"), "a%20b%2F%C3%BC:1");
    }
}
