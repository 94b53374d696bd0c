//! Hardware addresses in words.

/// The usual notation of a hardware address.
pub fn mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}
