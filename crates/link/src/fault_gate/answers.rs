//! The first answers of DNS that a fault has seen, by their questions.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use netloom_packet::DnsMessage;

/// The answers that a fault remembers at most, of 4 KiB each; those to further questions stay as they are.
const MOST_ANSWERS: usize = 4_096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(BTreeMap<Vec<u8>, DnsMessage>);

impl Answers {
    /// Takes note of an answer, if it is the first one to its question, and says whether it is another one than the first.
    pub(super) fn differs(&mut self, message: Option<&DnsMessage>) -> bool {
        let Some(message) = message.filter(|message| message.is_response() && message.is_whole()) else { return false };
        let question = message.question();
        if let Some(first) = self.0.get(&question) {
            return !first.says_as(message);
        }
        if self.0.len() < MOST_ANSWERS {
            self.0.insert(question, message.clone());
        }
        false
    }

    /// The first answer to the question of this message, for whoever has asked for this one.
    pub(super) fn first(&self, message: &DnsMessage) -> Option<DnsMessage> {
        self.0.get(&message.question()).map(|first| first.in_place_of(message))
    }
}
