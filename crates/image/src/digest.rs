//! Digests: what names a file by its contents (descriptor.md of the OCI image specification, "Digests").

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// The SHA-256 digest of some bytes. Images with others are refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first twelve of them, as tables show it.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// The digest of all layers up to one, from that of those below it and its own (config.md, "Layer ChainID").
    pub(crate) fn chained(below: Option<Self>, own: Self) -> Self {
        below.map_or(own, |below| Self::of(format!("{below} {own}").as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (algorithm, digits) = text.split_once(':').ok_or_else(|| format!("\"{text}\" is no digest"))?;
        if algorithm != "sha256" {
            return Err(format!("digests of the kind `{algorithm}` are not checked here, only sha256"));
        }
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if digits.len() != 64 || !digits.bytes().all(is_digit) {
            return Err(format!("\"{text}\" is no digest: 64 hexadecimal digits belong behind sha256:"));
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let digit = |b: u8| if b.is_ascii_digit() { b - b'0' } else { b - b'a' + 10 };
            *byte = digit(pair[0]) << 4 | digit(pair[1]);
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Passes on what it reads, and knows its digest at the end.
pub struct Hashing<R> {
    input: R,
    hasher: Sha256,
    read: u64,
}

impl<R: Read> Hashing<R> {
    /// The caller reads from the result.
    pub fn new(input: R) -> Self {
        Self { input, hasher: Sha256::new(), read: 0 }
    }

    /// The digest of what was read, and how many bytes that was.
    pub fn finish(self) -> (Digest, u64) {
        (Digest(self.hasher.finalize().into()), self.read)
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.read += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the empty string and of "abc": FIPS 180-4, as NIST publishes its example values.
    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(Digest::of(b"").to_string(), EMPTY);
        assert_eq!(Digest::of(b"abc"), ABC.parse().unwrap());
        assert_eq!(Digest::of(b"abc").short(), "ba7816bf8f01");
        let mut hashing = Hashing::new(&b"abc"[..]);
        io::copy(&mut hashing, &mut io::sink()).unwrap();
        assert_eq!(hashing.finish(), (ABC.parse().unwrap(), 3));
    }

    #[test]
    fn what_is_no_digest_could_be_a_path() {
        for text in ["sha256:../../etc/passwd", "sha256:", "sha512:00", "abc", &ABC.to_uppercase(), &ABC[..70]] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
