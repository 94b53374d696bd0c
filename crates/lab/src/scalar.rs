//! Single values.

use crate::diagnostics::{Diagnostic, nearest, one_of};
use crate::plan::{Argv, Cpus};
use crate::yaml::{Content, Node};
use ipnet::IpNet;
use netloom_units::{Decimal, Drift, Duration, ParseError, Probability, Rate, Seed};
use std::net::IpAddr;
use std::str::FromStr;

/// Any text.
pub(crate) fn text(node: &Node) -> Result<String, Diagnostic> {
    node.text().map(str::to_owned).ok_or_else(|| node.expected("a text"))
}

/// A text that is not empty.
pub(crate) fn filled(node: &Node) -> Result<String, Diagnostic> {
    let value = text(node)?;
    if value.trim().is_empty() { Err(node.error("expected a text, found an empty one")) } else { Ok(value) }
}

/// One of a few words.
pub(crate) fn word<T: Clone>(node: &Node, words: &[(&str, T)]) -> Result<T, Diagnostic> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let Some(found) = node.text() else { return Err(node.expected(&one_of(&names))) };
    let meant = words.iter().find(|(name, _)| *name == found).map(|(_, value)| value.clone());
    meant.ok_or_else(|| {
        let hint =
            nearest(found, names.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        node.error(format!("`{found}` is not known here: {hint}write {}", one_of(&names)))
    })
}

/// `true` or `false`.
pub(crate) fn flag(node: &Node) -> Result<bool, Diagnostic> {
    match node.plain() {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => Err(node.error("expected true or false")),
    }
}

/// A whole number from `least` to `most`.
pub(crate) fn integer(node: &Node, least: u64, most: u64) -> Result<u64, Diagnostic> {
    let parsed = node.plain().and_then(|text| text.parse().ok()).filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| match node.text() {
        Some(found) => node.error(format!("\"{found}\" is not a whole number from {least} to {most}")),
        None => node.expected(&format!("a whole number from {least} to {most}")),
    })
}

/// A seed.
pub(crate) fn seed(node: &Node) -> Result<Seed, Diagnostic> {
    integer(node, 0, u64::MAX).map(Seed::new)
}

/// A number with a unit.
pub(crate) fn quantity<T: FromStr<Err = ParseError>>(node: &Node) -> Result<T, Diagnostic> {
    let text = node.text().ok_or_else(|| node.expected("a number with a unit"))?;
    text.parse().map_err(|error: ParseError| node.error(error.to_string()))
}

/// A duration.
pub(crate) fn duration(node: &Node) -> Result<Duration, Diagnostic> {
    quantity(node)
}

/// A duration that is not zero.
pub(crate) fn positive_duration(node: &Node) -> Result<Duration, Diagnostic> {
    match duration(node)? {
        Duration::ZERO => Err(node.error("a time above zero is needed here, for example 1 s")),
        span => Ok(span),
    }
}

/// A duration, or the bare number zero: zero is zero in every unit.
pub(crate) fn duration_or_zero(node: &Node) -> Result<Duration, Diagnostic> {
    if node.plain() == Some("0") { Ok(Duration::ZERO) } else { duration(node) }
}

/// A drift, or the bare number zero.
pub(crate) fn drift_or_zero(node: &Node) -> Result<Drift, Diagnostic> {
    if node.plain() == Some("0") { Ok(Drift::ZERO) } else { quantity(node) }
}

/// A probability or share.
pub(crate) fn probability(node: &Node) -> Result<Probability, Diagnostic> {
    quantity(node)
}

/// A probability or share, or the bare number zero.
pub(crate) fn probability_or_zero(node: &Node) -> Result<Probability, Diagnostic> {
    if node.plain() == Some("0") { Ok(Probability::ZERO) } else { probability(node) }
}

/// A rate; none is unlimited.
pub(crate) fn rate(node: &Node) -> Result<Option<Rate>, Diagnostic> {
    match node.text() {
        Some("unlimited") => Ok(None),
        Some("0") => Err(node.error("a link of rate zero never sends; to cut a link, write `down` in the timeline")),
        _ => quantity(node).map(Some),
    }
}

/// Cores, to a thousandth.
pub(crate) fn cpus(node: &Node) -> Result<Cpus, Diagnostic> {
    let thousandths = node.plain().and_then(|text| Decimal::parse(text)?.times(1_000).ok());
    let cpus = thousandths.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0).map(Cpus);
    cpus.ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!(
            "{found} is not a number of cores: write a number above zero with at most three decimals, for example 0.5"
        ))
    })
}

/// A command: a text for the shell, or a list of words.
pub(crate) fn command(node: &Node) -> Result<Argv, Diagnostic> {
    match &node.content {
        Content::Text { .. } => filled(node).map(Argv::Shell),
        Content::List(words) if !words.is_empty() => {
            let words: Result<Vec<String>, Diagnostic> = words.iter().map(text).collect();
            words.map(Argv::Exec)
        }
        _ => Err(node.expected("a command: a text for the shell, or a list of a program and its arguments")),
    }
}

/// An address with the length of its prefix.
pub(crate) fn address(node: &Node) -> Result<IpNet, Diagnostic> {
    let text = text(node)?;
    let wrong = |what: &str| node.error(format!("\"{text}\" {what}: write for example 10.0.0.1/24 or fd00::1/64"));
    if text.parse::<IpAddr>().is_ok() {
        return Err(wrong("has no prefix length"));
    }
    let net: IpNet = text.parse().map_err(|_| wrong("is not an address with a prefix length"))?;
    match unusable(&net) {
        Some(why) => Err(wrong(why)),
        None => Ok(net),
    }
}

/// Why an interface cannot have this address.
fn unusable(net: &IpNet) -> Option<&'static str> {
    let address = net.addr();
    if address.is_unspecified() || address.is_multicast() || address.is_loopback() {
        return Some("cannot be the address of an interface");
    }
    match net {
        IpNet::V6(v6) if v6.addr().is_unicast_link_local() => {
            Some("is link-local, and every interface has such an address already")
        }
        IpNet::V4(v4) if v4.prefix_len() < 31 && v4.addr() == v4.network() => {
            Some("is the address of the subnet itself")
        }
        IpNet::V4(v4) if v4.prefix_len() < 31 && v4.addr() == v4.broadcast() => {
            Some("is the subnet's broadcast address")
        }
        _ => None,
    }
}

/// A hardware address.
pub(crate) fn mac(node: &Node) -> Result<[u8; 6], Diagnostic> {
    mac_of(&text(node)?).map_err(|wrong| node.error(wrong))
}

/// The hardware address that `text` is, or why it is none.
pub(crate) fn mac_of(text: &str) -> Result<[u8; 6], String> {
    let parts: Vec<&str> = text.split(':').collect();
    let bytes: Option<Vec<u8>> =
        parts.iter().map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2)).collect();
    let mac = bytes.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
    match mac {
        Some(mac) if mac[0] & 1 == 1 => Err(format!("\"{text}\" is a group address: its first byte must be even")),
        Some(mac) if mac != [0; 6] => Ok(mac),
        _ => Err(format!("\"{text}\" is not a hardware address: write for example 02:00:00:00:00:01")),
    }
}
