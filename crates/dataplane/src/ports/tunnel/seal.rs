//! Datagrams of tunnels with a key: authenticated and encrypted.
//!
//! Both ends have the key (32 bytes) from their lab files. Greetings are readable and end in an HMAC-SHA256. All other datagrams are sealed
//! with AES-256-GCM (RFC 5116):
//!
//! ```text
//!  0      4         5      6       7       8       16        24                                  -16
//!  | NLTN | version | kind | piece | count | token | counter | number, stamp, second, body: sealed | tag |
//! ```
//!
//! *Keys.* Each end draws a salt when it opens the tunnel, and tells it in its greeting. The key of a direction is derived (HKDF-SHA256,
//! RFC 5869) from the tunnel's key, the salt of the end that sends and then that of the end that receives. So no two directions, tunnels
//! or lives of an end share one.
//!
//! *Nonces.* The counter of an end begins at zero when it opens the tunnel and never goes back, whatever the far end does. Its salt is as
//! old, so that no key sees a number twice.
//!
//! *Replays.* A greeting counts only if it bears the token that this end drew, so that it answers one of its own. A life of the far end
//! that was there once and was followed by another does not come back. Within a life, a window of numbers tells what came already.

use super::TunnelKey;
use super::message::{Greeting, HEADER, HELLO, MAGIC, MODE_AT, Message, PLAIN, SALT, VERSION, word};
use super::numbers::Numbers;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{hkdf, hmac};

/// Bytes of a sealed datagram beside those of the plain one: counter and tag.
pub(super) const SEAL: usize = 8 + TAG;
const TAG: usize = 16;
/// Bytes before what is encrypted; they are authenticated, too.
const CLEAR: usize = 24;
/// Bytes behind a greeting.
pub(super) const MAC: usize = 32;
/// Lives of the far end that this end can tell from new ones; it takes no more of them.
const LIVES: usize = 4_096;

/// See the module.
pub(super) struct Seals {
    key: TunnelKey,
    greetings: hmac::Key,
    salt: [u8; SALT],
    directions: Option<Directions>,
    /// Datagrams that were sealed.
    counter: u64,
    /// The far end's lives so far, by their tokens.
    lives: Vec<u64>,
}

/// The keys of both directions, between this end and a life of the far end.
struct Directions {
    sends: LessSafeKey,
    takes: LessSafeKey,
    /// The counters that have come.
    seen: Numbers,
}

/// Why a datagram is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// A greeting without a key.
    Plain,
    /// Made with another key, or changed on its way.
    Forged,
    /// Came before.
    Replayed,
    /// Nothing that the far end sends now.
    Stray,
}

impl Seals {
    pub(super) fn new(key: TunnelKey, salt: [u8; SALT]) -> Self {
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, b"netloom tunnel 3").extract(&key.0);
        let greetings = prk.expand(&[b"greetings"], hmac::HMAC_SHA256).expect("as long as a hash").into();
        Self { key, greetings, salt, directions: None, counter: 0, lives: Vec::new() }
    }

    /// Takes a life of the far end that has shown that it is there now; false if it was there before, or too many were.
    pub(super) fn begin(&mut self, far: &Greeting) -> bool {
        if self.lives.len() >= LIVES || self.lives.contains(&far.session) {
            return false;
        }
        self.lives.push(far.session);
        let key = |first: &[u8], second: &[u8]| {
            let salt = [first, second].concat();
            let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, &salt).extract(&self.key.0);
            let okm = prk.expand(&[b"netloom tunnel 3 datagrams"], &AES_256_GCM);
            LessSafeKey::new(UnboundKey::from(okm.expect("as long as a hash")))
        };
        let (sends, takes) = (key(&self.salt, &far.salt), key(&far.salt, &self.salt));
        self.directions = Some(Directions { sends, takes, seen: Numbers::default() });
        true
    }

    /// Adds a message to `out`, sealed; nothing as long as no far end is known.
    pub(super) fn write(&mut self, message: &Message<'_>, token: u64, out: &mut Vec<u8>) {
        let begin = out.len();
        if let Message::Hello { greeting, len, knows } = *message {
            Message::Hello { greeting, len: len.saturating_sub(MAC), knows }.write(token, out);
            let tag = hmac::sign(&self.greetings, &out[begin..]);
            out.extend_from_slice(tag.as_ref());
            return;
        }
        let Some(Directions { sends, .. }) = &self.directions else { return };
        out.extend_from_slice(&[0; CLEAR - 16]);
        message.write(token, out);
        let datagram = &mut out[begin..];
        datagram.copy_within(CLEAR - 16..CLEAR, 0);
        datagram[16..CLEAR].copy_from_slice(&self.counter.to_be_bytes());
        let (clear, rest) = datagram.split_at_mut(CLEAR);
        let sealed = sends.seal_in_place_separate_tag(nonce(self.counter), Aad::from(&*clear), rest);
        self.counter += 1;
        out.extend_from_slice(sealed.expect("a datagram is not too long").as_ref());
    }

    /// Opens a datagram in its place: returns the plain one. What is too short, of another version or none of ours is returned as it is,
    /// as its reader says so.
    ///
    /// # Errors
    /// Why it is not opened.
    pub(super) fn open<'a>(&mut self, datagram: &'a mut [u8], token: u64) -> Result<&'a [u8], Unopened> {
        if datagram.len() < HEADER || datagram[..4] != MAGIC || datagram[4] != VERSION {
            return Ok(datagram);
        }
        if datagram[5] == HELLO {
            return self.check(datagram).map(|()| &*datagram);
        }
        let Some(Directions { takes, seen, .. }) = &mut self.directions else { return Err(Unopened::Stray) };
        if word(datagram, 8) != token || datagram.len() < HEADER + SEAL {
            return Err(Unopened::Stray);
        }
        let counter = word(datagram, 16);
        let (clear, rest) = datagram.split_at_mut(CLEAR);
        let opened = takes.open_in_place(nonce(counter), Aad::from(&*clear), rest).map_err(|_| Unopened::Forged)?;
        let end = CLEAR + opened.len();
        if !seen.take(counter) {
            return Err(Unopened::Replayed);
        }
        datagram.copy_within(..16, CLEAR - 16);
        Ok(&datagram[CLEAR - 16..end])
    }

    fn check(&self, datagram: &[u8]) -> Result<(), Unopened> {
        if datagram.get(MODE_AT..MODE_AT + 4).is_some_and(|mode| *mode == PLAIN.to_be_bytes()) {
            return Err(Unopened::Plain);
        }
        let (signed, tag) = datagram.split_at(datagram.len() - MAC);
        hmac::verify(&self.greetings, signed, tag).map_err(|_| Unopened::Forged)
    }
}

fn nonce(counter: u64) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 8..].copy_from_slice(&counter.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::message::SEALED;
    use super::*;
    use std::collections::BTreeSet;

    fn greeting(session: u64, salt: u8) -> Greeting {
        Greeting { session, clock: 1, vni: 1, mtu: 1_500, mode: SEALED, longest: 1_582, salt: [salt; SALT] }
    }

    /// Two ends that know one another, with the tokens 1 and 2.
    fn pair(keys: [u8; 2]) -> [Seals; 2] {
        let [mut one, mut two] = [(keys[0], 1), (keys[1], 2)]
            .map(|(key, salt)| Seals::new(TunnelKey::new([key; TunnelKey::LEN]), [salt; SALT]));
        assert!(one.begin(&greeting(2, 2)) && two.begin(&greeting(1, 1)));
        [one, two]
    }

    fn written(seals: &mut Seals, message: &Message<'_>, token: u64) -> Vec<u8> {
        let mut out = vec![9; 5];
        seals.write(message, token, &mut out);
        out.split_off(5)
    }

    const FRAME: Message<'_> = Message::Frame { number: 3, due: 4, sent: 5, bytes: &[6; 60] };

    #[test]
    fn what_is_sealed_is_opened_once_and_unreadable() {
        let [mut one, mut two] = pair([7, 7]);
        let first = written(&mut one, &FRAME, 2);
        assert_eq!(first.len(), HEADER + 60 + SEAL);
        assert!(!first.windows(8).any(|bytes| bytes == [6; 8]));
        let opened = two.open(&mut first.clone(), 2).map(|bytes| Message::parse(bytes, 2).unwrap().0 == FRAME);
        assert_eq!(opened, Ok(true));
        assert_eq!(two.open(&mut first.clone(), 2), Err(Unopened::Replayed));
        // No datagram is sealed as another one was.
        let all: BTreeSet<Vec<u8>> = (0..100).map(|_| written(&mut one, &FRAME, 2)).collect();
        assert_eq!(all.len(), 100);
        // What this end seals is not what it opens.
        assert_eq!(one.open(&mut written(&mut two, &FRAME, 1).clone(), 1).map(<[u8]>::len), Ok(100));
        assert_eq!(one.open(&mut first.clone(), 2), Err(Unopened::Forged));
    }

    #[test]
    fn no_changed_byte_gets_through() {
        let [mut one, mut two] = pair([7, 7]);
        let hello = Message::Hello { greeting: greeting(1, 1), len: 300, knows: true };
        for message in [FRAME, hello] {
            let good = written(&mut one, &message, 2);
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at] ^= 1;
                let opened = two.open(&mut bad, 2).map(|bytes| Message::parse(bytes, 2).is_ok());
                // What bears another magic or version is for the reader, which takes neither.
                assert!(matches!(opened, Err(_) | Ok(false)), "{at}: {opened:?}");
            }
            for len in 0..good.len() {
                let opened = two.open(&mut good[..len].to_vec(), 2).map(|bytes| Message::parse(bytes, 2).is_ok());
                assert!(matches!(opened, Err(_) | Ok(false)), "{len}: {opened:?}");
            }
            assert!(two.open(&mut good.clone(), 2).is_ok());
        }
        assert_eq!(written(&mut one, &hello, 0).len(), 300);
    }

    #[test]
    fn another_key_opens_nothing() {
        let [mut one, mut two] = pair([7, 8]);
        let hello = Message::Hello { greeting: greeting(1, 1), len: 0, knows: false };
        for message in [FRAME, hello] {
            assert_eq!(two.open(&mut written(&mut one, &message, 2), 2), Err(Unopened::Forged));
        }
        let mut plain = Vec::new();
        Message::Hello { greeting: Greeting { mode: PLAIN, ..greeting(1, 1) }, len: 0, knows: false }
            .write(0, &mut plain);
        assert_eq!(two.open(&mut plain, 2), Err(Unopened::Plain));
    }

    #[test]
    fn a_life_that_was_followed_by_another_does_not_come_back() {
        let [mut one, mut two] = pair([7, 7]);
        let early = written(&mut one, &FRAME, 2);
        assert!(two.begin(&greeting(9, 9)) && !two.begin(&greeting(1, 1)));
        assert_eq!(two.open(&mut early.clone(), 2), Err(Unopened::Forged));
        // Nor does the counter go back.
        let count = two.counter;
        written(&mut two, &FRAME, 9);
        assert!(two.begin(&greeting(10, 10)));
        written(&mut two, &FRAME, 10);
        assert_eq!(two.counter, count + 2);
    }

    #[test]
    fn keys_are_not_printed() {
        assert_eq!(format!("{:?}", TunnelKey::new([7; TunnelKey::LEN])), "TunnelKey(..)");
    }
}
