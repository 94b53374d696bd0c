//! How a switch looks at groups of multicast.

use super::list;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{QUERIER, SNOOPING};
use crate::names::link_name;
use crate::plan::{QuerierSettings, SnoopingSettings};
use crate::scalar::{self, integer, positive_duration, text};
use crate::spec::SnoopingSpec;
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::net::Ipv4Addr;

const TENTH: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
/// What a query of IGMP can say exactly: 127 tenths of a second (RFC 3376, section 4.1.1).
const LONGEST_RESPONSE: Duration = Duration::from_millis(12_700);
const LONGEST_INTERVAL: Duration = Duration::from_secs(3_600);

/// What is said; none: it does not look at groups, or an error was noted.
pub(super) fn snooping(node: &Node, errors: &mut Errors) -> Option<SnoopingSpec> {
    const RIGHT: &str = "true, false, or for example {fast_leave: true, querier: {address: 10.0.0.254}}";
    let usual = SnoopingSettings::default();
    if !matches!(node.content, Content::Map(_)) {
        let is_on = keep(scalar::flag(node).map_err(|_| node.expected(RIGHT)), errors)?;
        return is_on.then(|| SnoopingSpec { settings: usual, fast_leave: Some(Vec::new()), routers: Vec::new() });
    }
    let fields = Fields::open(node, &SNOOPING, errors)?;
    let groups = fields.read("groups", |value| integer(value, 1, 65_536), errors);
    let robustness = fields.read("robustness", |value| integer(value, 1, 7), errors);
    let settings = SnoopingSettings {
        groups: groups.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual.groups),
        interval: fields.read("interval", interval, errors).unwrap_or(usual.interval),
        response: fields.read("response", response, errors).unwrap_or(usual.response),
        last_member: fields.read("last_member", response, errors).unwrap_or(usual.last_member),
        robustness: robustness.and_then(|count| u8::try_from(count).ok()).unwrap_or(usual.robustness),
        querier: fields.get("querier").map_or(usual.querier, |value| querier(value, errors)),
    };
    let SnoopingSettings { interval, response, .. } = settings;
    if response >= interval {
        errors.push(node.error(format!(
            "`response` is {response}, and is to be less than `interval`, which is {interval}: hosts answer one query before the next"
        )));
    }
    Some(SnoopingSpec {
        settings,
        fast_leave: fields.get("fast_leave").map_or(Some(Vec::new()), |value| fast_leave(value, errors)),
        routers: fields.get("routers").map_or_else(Vec::new, |value| links(value, errors)),
    })
}

/// How it asks; none: not at all.
fn querier(node: &Node, errors: &mut Errors) -> Option<QuerierSettings> {
    const RIGHT: &str = "true, false, or for example {address: 10.0.0.254}";
    if !matches!(node.content, Content::Map(_)) {
        let is_on = keep(scalar::flag(node).map_err(|_| node.expected(RIGHT)), errors)?;
        return is_on.then(QuerierSettings::default);
    }
    let fields = Fields::open(node, &QUERIER, errors)?;
    let usual = QuerierSettings::default();
    let version = |value: Option<u64>| value.and_then(|version| u8::try_from(version).ok());
    Some(QuerierSettings {
        address: fields.read("address", address, errors),
        igmp: version(fields.read("igmp", |value| integer(value, 2, 3), errors)).unwrap_or(usual.igmp),
        mld: version(fields.read("mld", |value| integer(value, 1, 2), errors)).unwrap_or(usual.mld),
    })
}

fn address(node: &Node) -> Result<Ipv4Addr, Diagnostic> {
    const RIGHT: &str = "write an address of IPv4 that nobody else has, for example 10.0.0.254";
    let written = text(node)?;
    let address: Ipv4Addr =
        written.parse().map_err(|_| node.error(format!("\"{written}\" is no address of IPv4: {RIGHT}")))?;
    if address.is_multicast() || address.is_broadcast() || address.is_loopback() {
        return Err(node.error(format!("no query comes from {address}: {RIGHT}")));
    }
    Ok(address)
}

/// The links where members leave at once; none: all.
fn fast_leave(node: &Node, errors: &mut Errors) -> Option<Vec<Spanned<String>>> {
    if matches!(node.content, Content::List(_)) {
        return Some(links(node, errors));
    }
    let said = scalar::flag(node).map_err(|_| node.expected("true, false, or a list of links, for example [desk-a]"));
    match keep(said, errors) {
        Some(true) => None,
        _ => Some(Vec::new()),
    }
}

/// Links, each once.
fn links(node: &Node, errors: &mut Errors) -> Vec<Spanned<String>> {
    let mut found: Vec<Spanned<String>> = Vec::new();
    for item in list(node, errors) {
        let Some(link) = keep(link_name(item), errors) else { continue };
        if let Some(first) = found.iter().find(|other| other.value == link.value) {
            let message = format!("`{}` is here twice: leave one out", link.value);
            errors.push(item.error(message).and(first.span, "first here"));
        } else {
            found.push(link);
        }
    }
    found
}

fn interval(node: &Node) -> Result<Duration, Diagnostic> {
    of_steps(node, SECOND, LONGEST_INTERVAL, "whole seconds, 1 s to 3600 s")
}

fn response(node: &Node) -> Result<Duration, Diagnostic> {
    of_steps(node, TENTH, LONGEST_RESPONSE, "whole tenths of a second, 100 ms to 12.7 s")
}

fn of_steps(node: &Node, step: Duration, longest: Duration, right: &str) -> Result<Duration, Diagnostic> {
    let span = positive_duration(node)?;
    let is_right = span.as_nanos().is_multiple_of(step.as_nanos()) && span <= longest;
    if is_right { Ok(span) } else { Err(node.expected(right)) }
}
