//! Datagrams in a stream of bytes: each has its length in front, two bytes, the higher one first.

/// What has come of a stream and is not taken yet.
#[derive(Debug, Default)]
pub(super) struct Frames(Vec<u8>);

impl Frames {
    /// Adds what has come.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Gives all datagrams that are complete to `take`.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        let mut rest = &self.0[..];
        while let Some((length, behind)) = rest.split_first_chunk::<2>()
            && let Some((datagram, behind)) = behind.split_at_checked(u16::from_be_bytes(*length).into())
        {
            take(datagram);
            rest = behind;
        }
        let taken = self.0.len() - rest.len();
        self.0.drain(..taken);
    }
}

/// A datagram with its length in front; none if it is longer than any.
pub(super) fn framed(datagram: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(datagram.len()).ok()?;
    Some([&length.to_be_bytes()[..], datagram].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_come_out_as_they_went_in_however_the_stream_is_cut() {
        let sent: [&[u8]; 4] = [b"one", b"", &[7; 65_535], b"two"];
        let stream: Vec<u8> = sent.iter().flat_map(|datagram| framed(datagram).unwrap()).collect();
        for step in [1, 2, 3, 1_000, stream.len()] {
            let (mut frames, mut out) = (Frames::default(), Vec::new());
            for piece in stream.chunks(step) {
                frames.feed(piece);
                frames.drain(|datagram| out.push(datagram.to_vec()));
            }
            assert!(out == sent, "in pieces of {step}");
            assert!(frames.0.is_empty());
        }
        assert_eq!(framed(&[0; 65_536]), None);
    }
}
