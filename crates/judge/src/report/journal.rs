use serde::{Deserialize, Serialize};

/// The journal of a run: what happened to each packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRow {
    /// The file, in the results folder.
    pub file: String,
    /// Packets that are in it, each as often as the pipes that it entered.
    pub packets: u64,
    /// Attempts on the air that are in it, if it has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// The size of the journal in bytes.
    pub bytes: u64,
    /// Packets that it had no room for, since it had reached its limit.
    #[serde(default)]
    pub left_out_packets: u64,
    /// Packets that it lacks because the disk or a processor was too slow.
    #[serde(default)]
    pub lost_packets: u64,
}

impl JournalRow {
    /// Returns the message that packets are missing because the machine was too slow, in words; none if none are.
    pub fn loss(&self) -> Option<String> {
        let lost = self.lost_packets;
        let text =
            format!("the journal lacks {lost} packets: the disk or a processor was too slow; the links were not");
        (lost > 0).then_some(text)
    }

    /// Returns the message that packets are missing because the journal was to become no larger, in words; none if none are.
    pub fn remark(&self) -> Option<String> {
        let Self { packets, left_out_packets: left_out, .. } = self;
        let text = format!("the journal reached its limit after {packets} packets, and {left_out} more are not in it");
        (*left_out > 0).then_some(text)
    }
}
