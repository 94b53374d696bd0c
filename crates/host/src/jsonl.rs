//! JSON values over a stream, one per line: the framing of every stream socket between processes of netloom.

use serde::{Serialize, de::DeserializeOwned};

/// Collects the bytes of a stream and gives them back line by line.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
}

impl Lines {
    /// Adds what was read.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// All that was not taken.
    pub fn into_rest(self) -> Vec<u8> {
        self.buffer
    }

    /// How much waits for its end of line.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// Takes the next complete line as a `T`; none until one is complete.
    pub fn pop<T: DeserializeOwned>(&mut self) -> Option<Result<T, serde_json::Error>> {
        Some(serde_json::from_slice(&self.pop_line()?))
    }

    /// Takes the next complete line with its end, whatever it holds; none until one is complete.
    pub fn pop_line(&mut self) -> Option<Vec<u8>> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        Some(self.buffer.drain(..=end).collect())
    }
}

/// `value` as one line with its end.
pub fn to_line<T: Serialize>(value: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("netloom's own messages have string keys only");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_two_reads_is_one_value() {
        let mut lines = Lines::default();
        lines.feed(b"[1,");
        assert!(lines.pop::<Vec<u32>>().is_none());
        lines.feed(b"2]\n[3]\n[");
        assert_eq!(lines.pop::<Vec<u32>>().unwrap().unwrap(), [1, 2]);
        assert_eq!(lines.pop::<Vec<u32>>().unwrap().unwrap(), [3]);
        assert!(lines.pop::<Vec<u32>>().is_none());
        assert_eq!(lines.pending(), 1);
    }

    #[test]
    fn nonsense_is_an_error_and_skipped() {
        let mut lines = Lines::default();
        lines.feed(b"nonsense\n[3]\n");
        assert!(lines.pop::<Vec<u32>>().unwrap().is_err());
        assert_eq!(lines.pop::<Vec<u32>>().unwrap().unwrap(), [3]);
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(to_line(&["a\nb"]), b"[\"a\\nb\"]\n");
    }
}
