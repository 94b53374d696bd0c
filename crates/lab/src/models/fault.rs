//! `packet` and `do`: which packets of a link a fault treats, and how.

use super::filter::Sharing;
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{AboveZero, OneOrMore, Whole, Word, forms, one_or_more, word_form};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::scalar::{integer, quantity, word};
use crate::section::{Form, Kind, Quantity};
use crate::words::{Words, words};
use crate::yaml::{Content, Node};
use netloom_link::{After, DnsCode, DnsFault, FaultAction, Filter, PacketFault, ResetEnds, TcpKind};
use netloom_units::{Bytes, Duration, Probability};

/// The greatest ordinal of a packet.
const MOST: u64 = 1 << 48;
/// The numbers of bytes begin behind the addresses of IPv4: a header of IP whose checksum fails is no packet.
const FIRST_BYTE: u64 = 20;
/// The greatest number of a byte.
const LAST_BYTE: u64 = 65_535;

words!(TcpKind { "syn" = Self::Syn, "data" = Self::Data, "ack" = Self::Ack, "fin" = Self::Fin, "rst" = Self::Rst });
words!(DnsFault {
    "servfail" = Self::Answer(DnsCode::ServerFailure),
    "nxdomain" = Self::Answer(DnsCode::NoName),
    "refused" = Self::Answer(DnsCode::Refused),
    "empty" = Self::Answer(DnsCode::Empty),
    "reverse" = Self::Reverse,
    "stale" = Self::Stale,
});
words!(FaultAction {
    "drop" = Self::Drop,
    "duplicate" = Self::Duplicate,
    "corrupt" = Self::Corrupt(None),
    "mark" = Self::Mark,
    "unmark" = Self::Unmark,
    "reset" = Self::Reset(ResetEnds::Both),
});
words!(ResetEnds { "both" = Self::Both, "sender" = Self::Sender, "receiver" = Self::Receiver });

word_form! {
    /// Whose packets are counted together.
    pub(crate) struct Of = bool { "flow" = true, "all" = false }
}

forms! {
    /// A name that DNS is asked for.
    pub(crate) struct Question = Box<str>, Kind::Text("^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,252}$"), question;
    /// The part of a connection that is spared.
    pub(crate) struct Spared = After, Kind::OneOf(&[Kind::Word(&["handshake"]), Kind::Quantity(Quantity::Size)]), spared;
    /// How many packets are treated; none: all.
    pub(crate) struct HowMany = Option<u64>, Kind::OneOf(&[Kind::Integer { least: 1, most: MOST }, Kind::Word(&["all"])]), how_many;
}

sections! {
    /// Which packets that enter a link are treated. All conditions count from when the entry happens.
    pub(crate) struct Choice = "packet" {
        /// The filter of the packets. Default: all packets.
        r#match: Sharing, "{protocol: tcp, to_port: 5432}";
        /// Only TCP segments of this kind, or of one of several: they open a connection (syn), have payload (data), only acknowledge (ack),
        /// close (fin) or reset (rst).
        tcp: OneOrMore<Word<TcpKind>>, "data";
        /// Only datagrams with a message of DNS about this name, or about one below it.
        question: Question, "db.lab";
        /// Only packets that are longer than this, from the IP header on.
        longer: Bytes, "1000 B";
        /// Only TCP segments behind the handshake of their connection, or behind so much payload in this direction.
        after: Spared, "handshake";
        /// Whether the packets of each flow are counted for themselves (flow), or all together. Default: all.
        of: Of, "flow";
        /// The ordinal of the first packet that is treated, among those that are like that. Default: 1.
        nth: Whole<u64, 1, MOST>, "3";
        /// How many are treated from then on, of each flow with `of: flow`; or all. Default: 1.
        count: HowMany, "all";
        /// The probability with which each of these is treated. Default: 100 %.
        probability: Probability, "30 %";
    }

    /// The treatment of a packet with a setting of its own: exactly one of these.
    pub(crate) struct Treat = "packet_treatment" {
        /// The packet is held for this time before it enters the link.
        hold: AboveZero<Duration>, "200 ms";
        /// All bits of the byte of this number are flipped, counted from 0 at the IP header: 20 or more.
        corrupt: Whole<u32, FIRST_BYTE, LAST_BYTE>, "40";
        /// The TCP segment is dropped, and resets go to these ends of its connection.
        reset: Word<ResetEnds>, "sender";
        /// The query of DNS is answered with an error (servfail, nxdomain, refused) or without a record (empty); or the response has its
        /// addresses in the opposite order (reverse), or says what the first one to the same question said (stale).
        dns: Word<DnsFault>, "servfail";
    }
}

/// The values of `do`.
pub(crate) const ACTION: Kind = Kind::OneOf(&[Word::<FaultAction>::KIND, Treat::KIND]);

/// The values of `reset`.
pub(crate) const CONNECTIONS: Kind = Kind::OneOf(&[Kind::True, Kind::Section(&Filter::SECTION)]);

/// The fault of an entry; `id`: the number by which events tell of it.
pub(crate) fn fault(
    choice: &Node,
    action: &Node,
    lasts: Option<Duration>,
    id: u32,
    errors: &mut Errors,
) -> Option<PacketFault> {
    let before = errors.len();
    let fields = Fields::open(choice, &Choice::SECTION, errors)?;
    let chosen = Choice::read_keys(&fields, errors)?;
    let action_at = action;
    let action = treatment(action, errors)?;
    if errors.len() > before {
        return None;
    }
    let filter = chosen.r#match.unwrap_or_default();
    let is_tcp = filter.protocol.as_ref().is_none_or(|protocols| protocols.contains(&6));
    let about_tcp =
        [fields.get("tcp"), fields.get("after"), matches!(action, FaultAction::Reset(_)).then_some(action_at)];
    if let (Some(place), false) = (about_tcp.into_iter().flatten().next(), is_tcp) {
        return errors.reject(place.error("this is about TCP, and `match` lets no TCP through: change its `protocol`"));
    }
    let is_dns = matches!(action, FaultAction::Dns(_)) || chosen.question.is_some();
    let is_udp = filter.protocol.as_ref().is_none_or(|protocols| protocols.contains(&17));
    let tcp_alone = fields.get("tcp").or(fields.get("after")).or((!is_udp).then_some(choice));
    if let (true, Some(place)) = (is_dns, tcp_alone) {
        return errors.reject(place.error("messages of DNS are looked at in datagrams of UDP alone: leave this out"));
    }
    Some(PacketFault {
        id,
        filter,
        kinds: chosen.tcp.unwrap_or_default(),
        question: chosen.question,
        longer: chosen.longer,
        after: chosen.after.unwrap_or_default(),
        is_by_flow: chosen.of.unwrap_or(false),
        nth: chosen.nth.unwrap_or(1),
        count: chosen.count.unwrap_or(Some(1)),
        probability: chosen.probability.unwrap_or(Probability::ONE),
        lasts,
        action,
    })
}

/// The fault that ends all connections that match.
pub(crate) fn end_of_connections(node: &Node, id: u32, errors: &mut Errors) -> Option<PacketFault> {
    let filter = match node.plain() {
        Some("true") => Filter::default(),
        _ => Sharing::read(node, errors)?,
    };
    if filter.protocol.as_ref().is_some_and(|protocols| !protocols.contains(&6)) {
        return errors.reject(node.error("only TCP connections can be reset: change the `protocol`"));
    }
    Some(PacketFault {
        id,
        filter,
        kinds: Vec::new(),
        question: None,
        longer: None,
        after: After::Nothing,
        is_by_flow: false,
        nth: 1,
        count: Some(1),
        probability: Probability::ONE,
        lasts: None,
        action: FaultAction::EndConnections,
    })
}

fn treatment(node: &Node, errors: &mut Errors) -> Option<FaultAction> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(word(node, FaultAction::WORDS), errors);
    }
    let before = errors.len();
    let Treat { hold, corrupt, reset, dns } = Treat::open(node, errors)?;
    let said = [
        hold.map(FaultAction::Hold),
        corrupt.map(|byte| FaultAction::Corrupt(Some(byte))),
        reset.map(FaultAction::Reset),
        dns.map(FaultAction::Dns),
    ];
    let mut said = said.into_iter().flatten();
    match (said.next(), said.next()) {
        (Some(only), None) => Some(only),
        _ => {
            if errors.len() == before {
                errors.push(node.error("a packet is treated in one way: write one of hold, corrupt, reset and dns"));
            }
            None
        }
    }
}

fn spared(node: &Node) -> Result<After, Diagnostic> {
    match node.text() {
        Some("handshake") => Ok(After::Handshake),
        Some(text) if text.starts_with(char::is_alphabetic) => Err(node.expected("handshake or a size like 64 kB")),
        _ => quantity(node).map(After::Payload),
    }
}

fn question(node: &Node) -> Result<Box<str>, Diagnostic> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.starts_with(is_letter)
            && label.chars().all(|c| is_letter(c) || c == '-')
    };
    let text = node.text().filter(|text| text.len() <= 253 && text.trim_end_matches('.').split('.').all(is_label));
    text.map(Box::from).ok_or_else(|| node.expected("a name like db.lab"))
}

fn how_many(node: &Node) -> Result<Option<u64>, Diagnostic> {
    if node.text() == Some("all") { Ok(None) } else { integer(node, 1, MOST).map(Some) }
}

/// A fault as keys and values of a lab file.
pub(crate) fn written(fault: &PacketFault) -> Vec<(&'static str, String)> {
    let filter = if fault.filter == Filter::default() { String::new() } else { fault.filter.write_map() };
    if fault.action == FaultAction::EndConnections {
        return vec![("reset", if filter.is_empty() { "true".into() } else { filter })];
    }
    let after = match fault.after {
        After::Nothing => None,
        After::Handshake => Some("handshake".to_owned()),
        After::Payload(size) => Some(size.to_string()),
    };
    let tcp = (!fault.kinds.is_empty()).then(|| one_or_more(fault.kinds.iter().map(|kind| kind.word().to_owned())));
    let count = match fault.count {
        Some(1) => None,
        Some(count) => Some(count.to_string()),
        None => Some("all".to_owned()),
    };
    let keys = [
        ("match", Some(filter).filter(|filter| !filter.is_empty())),
        ("tcp", tcp),
        ("question", fault.question.as_ref().map(ToString::to_string)),
        ("longer", fault.longer.map(|size| size.to_string())),
        ("after", after),
        ("of", fault.is_by_flow.then(|| "flow".to_owned())),
        ("nth", (fault.nth > 1).then(|| fault.nth.to_string())),
        ("count", count),
        ("probability", (fault.probability < Probability::ONE).then(|| fault.probability.to_string())),
    ];
    let keys: Vec<String> =
        keys.into_iter().filter_map(|(key, value)| value.map(|value| format!("{key}: {value}"))).collect();
    let mut all = vec![("packet", format!("{{{}}}", keys.join(", "))), ("do", fault.action.to_string())];
    all.extend(fault.lasts.map(|span| ("for", span.to_string())));
    all
}
