//! Places in a text as a page counts them: in UTF-16 code units, and columns from 1.

/// A text whose places are asked for.
pub(crate) struct Places<'a> {
    text: &'a str,
    /// The UTF-16 units before each piece of so many bytes; none of a text that is ASCII alone.
    before: Option<Vec<usize>>,
}

/// A look-up counts no more bytes than these.
const PIECE: usize = 256;

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let before = (!text.is_ascii()).then(|| {
            let mut units = 0;
            text.as_bytes()
                .chunks(PIECE)
                .map(|piece| {
                    let so_far = units;
                    units += piece.iter().map(|byte| width(*byte)).sum::<usize>();
                    so_far
                })
                .collect()
        });
        Self { text, before }
    }

    /// The UTF-16 units before this byte.
    pub(crate) fn units(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let Some(before) = &self.before else { return byte };
        let piece = (byte / PIECE).min(before.len().saturating_sub(1));
        let begin = piece * PIECE;
        before.get(piece).copied().unwrap_or(0)
            + self.text.as_bytes()[begin..byte].iter().map(|byte| width(*byte)).sum::<usize>()
    }

    /// The column of this byte in its line, from 1.
    pub(crate) fn column(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let line = self.text.as_bytes()[..byte].iter().rposition(|other| *other == b'\n').map_or(0, |end| end + 1);
        1 + self.units(byte) - self.units(line)
    }
}

/// The UTF-16 units of a character, counted at its first byte.
fn width(byte: u8) -> usize {
    match byte {
        0x80..=0xbf => 0,
        0xf0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_javascript() {
        let text = format!("a: b\n{}ü: 😀x\nend", "é".repeat(300));
        let places = Places::new(&text);
        for (byte, _) in text.char_indices() {
            assert_eq!(places.units(byte), text[..byte].encode_utf16().count(), "{byte}");
        }
        let x = text.find('x').unwrap();
        assert_eq!(places.column(x), 1 + 300 + 1 + 2 + 2);
        assert_eq!(places.column(0), 1);
        assert_eq!(places.units(1 << 30), text.encode_utf16().count());
        assert_eq!(Places::new("").units(0), 0);
        assert_eq!(Places::new("ab\ncd").column(4), 2);
    }
}
