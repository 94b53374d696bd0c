//! Records on the connection between two parts: authenticated and encrypted with AES-256-GCM (RFC 5116).
//!
//! Each end draws a salt. The key of a direction is derived (HKDF-SHA256, RFC 5869) from the key that all parts have, the salt of the end
//! that sends and then that of the other end; so no two connections or directions share one. Records are numbered from zero, and the number
//! is the nonce: none can be left out, repeated or moved.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf;
use std::io::{self, Read, Write};

/// Bytes of a salt.
pub(super) const SALT: usize = 32;
/// No record is longer.
const LONGEST: usize = 64 << 20;
const LEN: usize = 4;

/// Both directions of a connection.
pub(super) struct Sealed {
    pub(super) sends: Sends,
    pub(super) takes: Takes,
}

/// The direction from here.
pub(super) struct Sends(Direction);

/// The direction to here.
pub(super) struct Takes(Direction);

struct Direction {
    key: LessSafeKey,
    records: u64,
}

impl Sealed {
    pub(super) fn new(key: &[u8], here: &[u8; SALT], there: &[u8; SALT]) -> Self {
        let direction = |first: &[u8], second: &[u8]| {
            let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, &[first, second].concat()).extract(key);
            let okm = prk.expand(&[b"netloom part 2 records"], &AES_256_GCM).expect("as long as a hash");
            Direction { key: LessSafeKey::new(UnboundKey::from(okm)), records: 0 }
        };
        Self { sends: Sends(direction(here, there)), takes: Takes(direction(there, here)) }
    }
}

impl Direction {
    fn nonce(&mut self) -> Nonce {
        let mut bytes = [0; NONCE_LEN];
        bytes[NONCE_LEN - 8..].copy_from_slice(&self.records.to_be_bytes());
        self.records += 1;
        Nonce::assume_unique_for_key(bytes)
    }
}

impl Sends {
    /// Writes a record.
    pub(super) fn write(&mut self, stream: &mut impl Write, plain: &[u8]) -> io::Result<()> {
        let mut record = Vec::with_capacity(LEN + plain.len() + AES_256_GCM.tag_len());
        record.extend_from_slice(&[0; LEN]);
        record.extend_from_slice(plain);
        let nonce = self.0.nonce();
        let tag = self.0.key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut record[LEN..]);
        record.extend_from_slice(tag.map_err(|_| io::Error::other("a record is too long"))?.as_ref());
        let len = u32::try_from(record.len() - LEN).map_err(io::Error::other)?;
        record[..LEN].copy_from_slice(&len.to_le_bytes());
        stream.write_all(&record)
    }
}

impl Takes {
    /// Reads a record.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if it was made with another key, or changed on its way.
    pub(super) fn read(&mut self, stream: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut len = [0; LEN];
        stream.read_exact(&mut len)?;
        let len = u32::from_le_bytes(len) as usize;
        if len > LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut record = vec![0; len];
        stream.read_exact(&mut record)?;
        let nonce = self.0.nonce();
        let opened = self.0.key.open_in_place(nonce, Aad::empty(), &mut record);
        let plain = opened.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?.len();
        record.truncate(plain);
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_in_their_order_and_unchanged_or_not_at_all() {
        let pair = || [Sealed::new(&[7; 32], &[1; SALT], &[2; SALT]), Sealed::new(&[7; 32], &[2; SALT], &[1; SALT])];
        let [mut one, mut other] = pair();
        let mut written = Vec::new();
        one.sends.write(&mut written, b"first").unwrap();
        let first = written.len();
        one.sends.write(&mut written, b"second").unwrap();
        let mut rest = &written[..];
        assert_eq!(other.takes.read(&mut rest).unwrap(), b"first");
        assert_eq!(other.takes.read(&mut rest).unwrap(), b"second");
        assert!(other.takes.read(&mut rest).is_err(), "there is none");
        // The second one cannot come first.
        assert_eq!(pair()[1].takes.read(&mut &written[first..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        for at in 4..first {
            let mut changed = written.clone();
            changed[at] ^= 1;
            assert_eq!(pair()[1].takes.read(&mut &changed[..]).unwrap_err().kind(), io::ErrorKind::InvalidData, "{at}");
        }
        let mut stranger = Sealed::new(&[8; 32], &[2; SALT], &[1; SALT]);
        assert!(stranger.takes.read(&mut &written[..]).is_err(), "it has another key");
    }
}
