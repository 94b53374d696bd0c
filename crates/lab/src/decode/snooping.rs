//! How a switch looks at groups of multicast.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{Count, LinkName, Maybe, Whole, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::LINK_REFERENCE;
use crate::plan::{QuerierSettings, SnoopingSettings};
use crate::scalar::{self, positive_duration, text};
use crate::section::{Form, Kind};
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::net::Ipv4Addr;

forms! {
    /// How a switch looks at groups of multicast, or not at all.
    pub(crate) struct GroupSnooping = SnoopingSpec, Kind::OneOf(&[Kind::Flag, SnoopingSettings::KIND]), noting snooping;
    /// The settings of a querier, or none.
    struct Querier = Option<QuerierSettings>, Kind::OneOf(&[Kind::Flag, QuerierSettings::KIND]), noting |node: &Node, errors: &mut Errors| {
        Some(querier(node, errors))
    };
    pub(crate) struct Interval = Duration, Duration::KIND, interval;
    pub(crate) struct Response = Duration, Duration::KIND, response;
    pub(crate) struct QueryAddress = Ipv4Addr, Kind::Text("^[0-9.]+$"), address;
}

/// How a switch looks at groups of multicast.
#[derive(Debug)]
pub(crate) struct SnoopingSpec {
    pub(crate) settings: SnoopingSettings,
    /// The links at whose ports a leaving member is taken to be the last; none: at all.
    pub(crate) fast_leave: Option<Vec<Spanned<String>>>,
    /// The links that are taken to lead to a router.
    pub(crate) routers: Vec<Spanned<String>>,
}

/// Links, by their names.
const LINKS: Kind = Kind::list(&LINK_REFERENCE, 0);

sections! {
    /// How a switch looks at groups of multicast (RFC 4541).
    read SnoopingSettings = "snooping" {
        /// Whether the switch asks hosts which groups they want, where nobody with a lower address does; or how. Where nobody asks,
        /// multicast goes everywhere. Default: true.
        querier: Querier, "{address: 10.0.0.254}";
        /// How often hosts are asked: whole seconds, 1 s to 3600 s. Default: 125 s.
        interval: Interval, "30 s";
        /// How long hosts may take to answer: whole tenths of a second, 100 ms to 12.7 s, and less than `interval`. Default: 10 s.
        response: Response, "5 s";
        /// How often messages that may be lost are repeated, 1 to 7. A membership counts for `robustness` times `interval`, and `response`. Default: 2.
        robustness: Whole<u8, 1, 7>, "3";
        /// How long hosts may take to say that they stay when another has left: whole tenths of a second, 100 ms to 12.7 s. It is asked
        /// `robustness` times. Default: 1 s.
        last_member: Response, "500 ms";
        /// Whether a host that leaves a group is taken to be the last behind its port, at all ports or at those of these links. Default:
        /// false.
        fast_leave = Kind::OneOf(&[Kind::Flag, LINKS]), "[uplink]";
        /// The links that are taken to lead to a multicast router, and so carry all multicast. Routers that are heard and transit routers
        /// need no entry.
        routers = LINKS, "[uplink]";
        /// How many groups the switch knows at most, 1 to 65536; what is for others goes everywhere. Default: 4096.
        groups: Count<1, 65_536>, "256";
    }

    /// How a switch asks hosts which groups they want.
    read QuerierSettings = "querier" {
        /// The address of IPv4 that its queries come from. The lowest one on a LAN is elected, and 0.0.0.0 by nobody. Default: one of
        /// 169.254.0.0/16 that is made of its hardware address, as that of IPv6 is of fe80::/10.
        address: Maybe<QueryAddress>, "10.0.0.254" else None;
        /// The version of IGMP in which it asks, 2 or 3. Default: 3.
        igmp: Whole<u8, 2, 3>, "2";
        /// The version of MLD in which it asks, 1 or 2. Default: 2.
        mld: Whole<u8, 1, 2>, "1";
    }
}

const TENTH: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);
/// What a query of IGMP can say exactly: 127 tenths of a second (RFC 3376, section 4.1.1).
const LONGEST_RESPONSE: Duration = Duration::from_millis(12_700);
const LONGEST_INTERVAL: Duration = Duration::from_secs(3_600);

fn snooping(node: &Node, errors: &mut Errors) -> Option<SnoopingSpec> {
    const RIGHT: &str = "true, false, or for example {fast_leave: true, querier: {address: 10.0.0.254}}";
    if !matches!(node.content, Content::Map(_)) {
        let is_on = keep(scalar::flag(node).map_err(|_| node.expected(RIGHT)), errors)?;
        return is_on.then(|| SnoopingSpec {
            settings: SnoopingSettings::default(),
            fast_leave: Some(Vec::new()),
            routers: Vec::new(),
        });
    }
    let fields = Fields::open(node, &SnoopingSettings::SECTION, errors)?;
    let settings = SnoopingSettings::read_keys(&fields, errors)?;
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
    QuerierSettings::open(node, errors)
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
        let Some(link) = LinkName::read(item, errors) else { continue };
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
