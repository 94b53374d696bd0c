//! The compression of layers, recognized by their first bytes: media types of old archives do not say it.

use crate::ImageError;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Skippable frames of zstd: this with any lowest four bits (RFC 8878, section 3.1.2).
const ZSTD_SKIPPABLE: u8 = 0x50;
const ZSTD_SKIPPABLE_REST: &[u8] = &[0x2a, 0x4d, 0x18];

/// Other programs' formats, which are refused by name.
const OTHERS: [(&[u8], &str); 3] =
    [(&[0xfd, b'7', b'z', b'X', b'Z'], "xz"), (b"BZh", "bzip2"), (&[4, 0x22, 0x4d, 0x18], "lz4")];

/// Reads what is packed in `input`, with whatever program it was packed. `what` names it in errors.
///
/// # Errors
/// If it is packed with a program that is not known here, or cannot be read.
pub fn unpack<'a>(mut input: impl BufRead + 'a, what: &str) -> Result<Box<dyn Read + 'a>, ImageError> {
    let first = input.fill_buf().map_err(|error| ImageError::Io { attempted: format!("read {what}"), error })?;
    if let Some((_, program)) = OTHERS.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Err(ImageError::Unsuitable(format!(
            "{what} is packed with {program}: pack it with gzip or zstd, or not at all"
        )));
    }
    Ok(if first.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(input))
    } else if first.starts_with(ZSTD) || is_skippable(first) {
        Box::new(Frames::new(input))
    } else {
        Box::new(input)
    })
}

/// How much of a frame is unpacked at a time, in bytes.
const PIECE: usize = 1 << 17;

/// The largest window of a frame of zstd, for which a decoder keeps so many bytes: the limit of the program `zstd`, too
/// (RFC 8878, section 3.1.1.1.2, recommends to support 8 MB at least).
const MOST_WINDOW: u64 = 128 << 20;
/// The longest header of a frame in bytes (RFC 8878, section 3.1.1.1, behind the four bytes of the magic number).
const LONGEST_HEADER: usize = 4 + 14;

/// Zstd's frames, one after the other, as `pzstd` and others write them. Each frame is refused by its header if its window is
/// larger than [`MOST_WINDOW`]; the library looks at the window of frames behind the first alone.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    is_inside: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(input: R) -> Self {
        Self { input, decoder: FrameDecoder::new(), is_inside: false }
    }

    /// Begins a frame, or passes one that is to be skipped; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut header = [0; LONGEST_HEADER];
        self.input.read_exact(&mut header[..4])?;
        if is_skippable(&header) {
            let mut length = [0; 4];
            self.input.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            io::copy(&mut Read::take(&mut self.input, length), &mut io::sink())?;
            return Ok(true);
        }
        if !header.starts_with(ZSTD) {
            return Err(io::Error::other("a frame of zstd is followed by other data"));
        }
        self.input.read_exact(&mut header[4..5])?;
        let parts = HeaderParts::of(header[4]);
        let header = &mut header[..parts.length()];
        self.input.read_exact(&mut header[5..])?;
        let window = parts.window(header);
        if window > MOST_WINDOW {
            let (window, most) = (window >> 20, MOST_WINDOW >> 20);
            let said = format!("a window of {window} MiB: more than {most} MiB are refused, as by `zstd` itself");
            return Err(io::Error::other(said));
        }
        // A new one for each frame: a used one has a limit of its own.
        self.decoder = FrameDecoder::new();
        let whole = header.chain(&mut self.input);
        self.decoder.reset(whole).map_err(|error| io::Error::other(error.to_string()))?;
        self.is_inside = true;
        Ok(true)
    }
}

/// How long the parts of a frame's header are (RFC 8878, section 3.1.1.1.1).
struct HeaderParts {
    /// None where the whole frame is one segment.
    window: usize,
    dictionary: usize,
    content: usize,
}

impl HeaderParts {
    /// Those that a frame header descriptor says.
    fn of(descriptor: u8) -> Self {
        let is_single_segment = descriptor & 0x20 != 0;
        let content = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            flag => 1 << flag,
        };
        Self { window: usize::from(!is_single_segment), dictionary: [0, 1, 2, 4][usize::from(descriptor & 3)], content }
    }

    /// The header's length with the magic number and the descriptor.
    fn length(&self) -> usize {
        5 + self.window + self.dictionary + self.content
    }

    /// How many bytes a decoder keeps, by a whole header.
    fn window(&self, header: &[u8]) -> u64 {
        if self.window == 1 {
            // Section 3.1.1.1.2.
            let (exponent, mantissa) = (header[5] >> 3, header[5] & 7);
            let base = 1_u64 << (10 + exponent);
            return base + base / 8 * u64::from(mantissa);
        }
        let mut size = [0; 8];
        size[..self.content].copy_from_slice(&header[header.len() - self.content..]);
        // Section 3.1.1.1.4.
        u64::from_le_bytes(size) + if self.content == 2 { 256 } else { 0 }
    }
}

/// Whether these are the first bytes of a skippable frame.
fn is_skippable(first: &[u8]) -> bool {
    first.first().is_some_and(|byte| byte & 0xf0 == ZSTD_SKIPPABLE)
        && first.get(1..4).is_some_and(|rest| rest == ZSTD_SKIPPABLE_REST)
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_inside {
                if !self.begin()? {
                    return Ok(0);
                }
                continue;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.decoder.is_finished() {
                self.is_inside = false;
                continue;
            }
            let blocks = BlockDecodingStrategy::UptoBytes(PIECE);
            self.decoder.decode_blocks(&mut self.input, blocks).map_err(|error| io::Error::other(error.to_string()))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpack(bytes, "x").unwrap().read_to_end(&mut all)?;
        Ok(all)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn all_forms_are_told_by_their_first_bytes() {
        let text = b"what is in it ".repeat(30_000);
        let zstd = compress_to_vec(&text[..], CompressionLevel::Fastest);
        let skipped = [&[0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd].concat();
        for packed in [text.clone(), gzip(&text), zstd, skipped] {
            assert_eq!(unpacked(&packed).unwrap(), text);
        }
        assert_eq!(unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn several_parts_are_one_text() {
        let zstd = |text: &[u8]| compress_to_vec(text, CompressionLevel::Fastest);
        assert_eq!(unpacked(&[gzip(b"one "), gzip(b"two")].concat()).unwrap(), b"one two");
        assert_eq!(unpacked(&[zstd(b"one "), zstd(b"two")].concat()).unwrap(), b"one two");
    }

    /// A frame with the text "x", whose header this is behind the magic number.
    fn frame(header: &[u8]) -> Vec<u8> {
        // The last block, raw, of one byte.
        [ZSTD, header, &[9, 0, 0, b'x']].concat()
    }

    #[test]
    fn every_frame_has_a_window_that_fits_into_memory() {
        // 2^(10 + 17) bytes are the limit, an eighth more is too much, and so are 2 GiB.
        let [most, more, gigabytes] = [0x88, 0x89, 21 << 3].map(|window| frame(&[0, window]));
        assert_eq!(unpacked(&[&most[..], &most].concat()).unwrap(), b"xx");
        for (large, size) in [(&more, "144 MiB"), (&gigabytes, "2048 MiB")] {
            for packed in [large.clone(), [&most[..], large].concat()] {
                let error = unpacked(&packed).unwrap_err().to_string();
                assert!(error.contains(size) && error.contains("more than 128 MiB"), "{error}");
            }
        }
        // One segment: its window is its content, here of eight bytes and of one.
        let whole = frame(&[&[0xe0][..], &(1_u64 << 40).to_le_bytes()].concat());
        assert!(unpacked(&whole).unwrap_err().to_string().contains("more than 128 MiB"));
        assert_eq!(unpacked(&frame(&[0x20, 1])).unwrap(), b"x");
        assert!(unpacked(&[&most[..], b"more"].concat()).is_err());
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        let text = b"what is in it ".repeat(30_000);
        for packed in [gzip(&text), compress_to_vec(&text[..], CompressionLevel::Fastest)] {
            assert!(unpacked(&packed[..packed.len() / 2]).is_err());
        }
    }

    #[test]
    fn other_packers_are_named() {
        let error = unpack(&b"\xfd7zXZ\0"[..], "layer 1").err().unwrap().to_string();
        assert_eq!(error, "layer 1 is packed with xz: pack it with gzip or zstd, or not at all");
    }
}
