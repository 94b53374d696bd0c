//! What layers are packed with, told by their first bytes: media types of old archives do not say it.

use crate::ImageError;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
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
    let is_skippable = first.first().is_some_and(|byte| byte & 0xf0 == ZSTD_SKIPPABLE)
        && first.get(1..4).is_some_and(|rest| rest == ZSTD_SKIPPABLE_REST);
    Ok(if first.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(input))
    } else if first.starts_with(ZSTD) || is_skippable {
        Box::new(Frames::new(input))
    } else {
        Box::new(input)
    })
}

/// How much of a frame is unpacked at a time, in bytes.
const PIECE: usize = 1 << 17;

/// Zstd's frames, one after the other, as `pzstd` and others write them. The library refuses windows of more than 100 MB.
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
        match self.decoder.reset(&mut self.input) {
            Ok(()) => self.is_inside = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut Read::take(&mut self.input, u64::from(length)), &mut io::sink())?;
            }
            Err(error) => return Err(io::Error::other(error.to_string())),
        }
        Ok(true)
    }
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
