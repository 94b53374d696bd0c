//! What leads out of a lab or into it: external interfaces, tunnels, the way out, ports of this machine.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{AboveZero, Filled, List, Placed, Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::PORT;
use crate::plan::{ExposePlan, ExternalMode, FarInterface, KeyPlan, NodeKind, Stack, TunnelPlan};
use crate::scalar::{filled, integer, word};
use crate::section::Kind;
use crate::yaml::{Content, Entry, Node};
use netloom_units::Duration;

forms! {
    /// The name of an interface of this machine.
    pub(crate) struct InterfaceName = String, Kind::Text("^[!-.0-9;-~]{1,15}$"), interface_name;
}

sections! {
    /// The settings of an external interface.
    pub(crate) struct ExternalKeys = "" {
        /// The interface of this machine whose wire an external node is, as `ip link` shows it.
        interface: Placed<InterfaceName>, "eth1";
        /// Who has the interface of an external node while the lab is up: with share the machine goes on using it, with pass the lab has it
        /// alone, and it comes back as it was. Default: share.
        mode: Placed<Word<ExternalMode>>, "pass";
        /// The VLAN of that interface that an external node is: its frames bear the tag there, and none in the lab. Default: all frames
        /// that no other node takes.
        vlan: Placed<Whole<u16, 1, 4_094>>, "100";
        /// Whether frames enter the lab that are neither for the other end of the link nor for several. Default: true if a switch, a hub or
        /// another external node is there, else false.
        promiscuous: Placed<bool>, "true";
        /// Whether an external node may take an interface that is the machine's only way out. Default: false.
        force: bool, "true";
    }
}

/// What only external interfaces have.
#[derive(Debug)]
pub(crate) struct ExternalSpec {
    pub(crate) interface: Spanned<String>,
    pub(crate) mode: Option<Spanned<ExternalMode>>,
    pub(crate) vlan: Option<Spanned<u16>>,
    /// Whether frames for others than the other end of its link enter the lab, where that is said.
    pub(crate) promiscuous: Option<Spanned<bool>>,
    pub(crate) force: bool,
}

/// The longest name that an interface has (`IFNAMSIZ`), in bytes.
const LONGEST_INTERFACE: usize = 15;

/// The settings of an external interface among the keys of a node; none of other kinds, or if it does not say which it is.
pub(super) fn external(kind: NodeKind, node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<ExternalSpec> {
    if kind != NodeKind::External {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    if fields.get("interface").is_none() {
        errors.push(node.lacks("interface", "eth1"));
    }
    let ExternalKeys { interface, mode, vlan, promiscuous, force } = ExternalKeys::read_keys(fields, errors)?;
    Some(ExternalSpec { interface: interface?, mode, vlan, promiscuous, force: force.unwrap_or_default() })
}

/// What the kernel takes as the name of an interface (`dev_valid_name`).
fn interface_name(node: &Node) -> Result<String, Diagnostic> {
    let name = filled(node)?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b':');
    if name.len() <= LONGEST_INTERFACE && is_plain && name != "." && name != ".." {
        return Ok(name);
    }
    Err(node.error(format!("\"{name}\" is no interface's name: write one that `ip link` shows, for example eth1")))
}

forms! {
    /// The address or name of a machine.
    pub(crate) struct Machine = String, Kind::Text("^[A-Za-z0-9.:_%-]{1,253}$"), machine;
    /// The key of a tunnel.
    pub(crate) struct Key = KeyPlan, Kind::OneOf(&[Kind::Text("^[0-9A-Fa-f]{64}$"), KeyFile::KIND]), noting tunnel_key;
}

sections! {
    /// The settings of a tunnel.
    pub(crate) struct TunnelKeys = "" {
        /// The address or name of the machine to whose lab a tunnel leads; a tunnel there leads here.
        remote: Placed<Machine>, "192.0.2.7";
        /// The port of UDP of a tunnel, the same at both ends. Default: 29789.
        port: Placed<Whole<u16, 1, 65_535>>, "29790";
        /// The number of a tunnel, the same at both ends. Default: 1.
        vni: Whole<u32, 1, 16_777_215>, "7";
        /// For how long a tunnel waits for its far end while the lab comes up; then that is an error. Default: 60 s.
        wait: AboveZero<Duration>, "10 s";
        /// The key of a tunnel, the same at both ends, as 64 hexadecimal digits, or {file: ...} with a file that has them: its datagrams are
        /// authenticated and encrypted. Default: none, and they are not.
        key: Key, "{file: far.key}";
        /// What is behind a tunnel: interfaces of nodes that are `elsewhere`, all those in the same subnets. They are neighbours as those
        /// of a link inside the lab. Default: it is not known, and neighbours are learned.
        beyond: List<FarEndSpec>, "[{node: db, interface: eth0}]";
    }

    /// The file that the key of a tunnel is in.
    pub(crate) struct KeyFile = "tunnel_key" {
        /// A file with the key as 64 hexadecimal digits, which only its owner may read. It is not kept with the results.
        file: Filled, required "far.key";
    }
}

/// The settings of a tunnel.
#[derive(Debug)]
pub(crate) struct TunnelSpec {
    pub(crate) remote: Spanned<String>,
    pub(crate) port: Option<Spanned<u16>>,
    pub(crate) vni: Option<u32>,
    pub(crate) wait: Option<Duration>,
    pub(crate) key: Option<KeyPlan>,
    /// The interfaces behind the tunnel, by names.
    pub(crate) far_ends: Option<Vec<FarEndSpec>>,
    /// The same, once the names are known; none: it is not said.
    pub(crate) beyond: Option<Vec<FarInterface>>,
}

/// An interface behind a tunnel.
#[derive(Debug)]
pub(crate) struct FarEndSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) interface: Spanned<String>,
}

impl From<TunnelSpec> for TunnelPlan {
    fn from(spec: TunnelSpec) -> Self {
        Self {
            line: spec.remote.span.line,
            remote: spec.remote.value,
            port: spec.port.map_or(Self::PORT, |port| port.value),
            vni: spec.vni.unwrap_or(Self::VNI),
            wait: spec.wait.unwrap_or(Self::WAIT),
            key: spec.key,
            beyond: spec.beyond.iter().flatten().filter_map(|own| own.mac).collect(),
        }
    }
}

/// The longest name of a machine (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;

/// The settings of a tunnel among the keys of a node; none of other kinds, or if it does not say where it leads.
pub(super) fn tunnel(kind: NodeKind, node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<TunnelSpec> {
    if kind != NodeKind::Tunnel {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    if fields.get("remote").is_none() {
        errors.push(node.lacks("remote", "192.0.2.7"));
    }
    let TunnelKeys { remote, port, vni, wait, key, beyond } = TunnelKeys::read_keys(fields, errors)?;
    Some(TunnelSpec { remote: remote?, port, vni, wait, key, far_ends: beyond, beyond: None })
}

fn tunnel_key(node: &Node, errors: &mut Errors) -> Option<KeyPlan> {
    match &node.content {
        Content::Text { text, .. } => {
            let key = KeyPlan::parse(text).map(KeyPlan::Bytes);
            if key.is_none() {
                let count = text.chars().count();
                errors.push(node.error(format!(
                    "this text of {count} characters is no key of 64 hexadecimal digits: {}; a key in a file is `key: {{file: far.key}}`",
                    KeyPlan::MADE_BY
                )));
            }
            key
        }
        Content::Map(_) => KeyFile::open(node, errors).map(|own| KeyPlan::File(own.file.into())),
        _ => errors.reject(node.expected("64 hexadecimal digits, or {file: ...}")),
    }
}

fn machine(node: &Node) -> Result<String, Diagnostic> {
    let name = filled(node)?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte));
    if name.len() <= LONGEST_NAME && is_plain {
        return Ok(name);
    }
    Err(node.error(format!(
        "\"{name}\" is no machine's address or name: write for example 192.0.2.7, 2001:db8::7 or lab2.example.org; the port is a key \
         of its own"
    )))
}

/// The keys that make no sense there, and why.
const REFUSED: [(&str, &str); 8] = [
    ("nat", "it translates already, for all that leaves by it: leave this out"),
    ("firewall", "its rules are those that translate addresses: give the firewall to a router behind it"),
    ("dhcp", "it answers for names, and cannot serve beside that: let another node serve"),
    (
        "dns",
        "it leads questions for names to the servers that this machine asks: let another node serve, or leave this out",
    ),
    ("addresses", "it has the addresses of its links, and one towards this machine: leave this out"),
    ("routes", "what it gets goes to the lab's subnets or out: leave this out"),
    ("rules", "what it gets goes to the lab's subnets or out: give the rules to a router behind it"),
    ("multihomed", "what it gets goes to the lab's subnets or out: leave this out"),
];

/// Where a node says that it is the way out. What it cannot have is noted.
pub(super) fn internet(kind: NodeKind, fields: &Fields<'_>, errors: &mut Errors) -> Option<Spanned<()>> {
    let place = fields.get("kind").filter(|_| kind == NodeKind::Internet)?;
    fields.refuse(REFUSED.map(|(key, why)| (key, format!("a node of `kind: internet` has no `{key}`: {why}"))), errors);
    let is_kernel = |value: &&Node| word(value, &[("kernel", Stack::Kernel)]).is_ok();
    errors.extend(fields.get("stack").filter(is_kernel).map(|value| {
        value.error(
            "the way out leads from a namespace of this machine's kernel, and not from a kernel of the node's own: leave this out, \
             or write `stack: namespace`",
        )
    }));
    Some(place.spanned(()))
}

forms! {
    /// Ports of this machine, each with the port of the node to which it leads.
    pub(crate) struct Exposed = Vec<Spanned<ExposePlan>>,
        Kind::Map { names: PORT, values: &Kind::Integer { least: 1, most: 65_535 } }, noting expose;
}

fn expose(node: &Node, errors: &mut Errors) -> Option<Vec<Spanned<ExposePlan>>> {
    let entries = map(node, "a map from ports of this machine to ports of the node, like `{8080: 80}`", errors)?;
    Some(entries.iter().filter_map(|entry| keep(exposed_port(entry), errors)).collect())
}

fn exposed_port(entry: &Entry) -> Result<Spanned<ExposePlan>, Diagnostic> {
    let name = &entry.name;
    let (number, udp) = name.strip_suffix("/udp").map_or((name.as_str(), false), |number| (number, true));
    let parsed = number.parse().ok().filter(|port: &u16| *port > 0 && port.to_string() == *number);
    let Some(port) = parsed else {
        let what = format!(
            "\"{name}\" is not a port of this machine: write a number from 1 to 65535, and /udp behind it for UDP"
        );
        return Err(Diagnostic::new(entry.span, &entry.value.key, what));
    };
    let to = u16::try_from(integer(&entry.value, 1, 65_535)?).unwrap_or(u16::MAX);
    let value = ExposePlan { line: entry.span.line, port, udp, to };
    Ok(Spanned { value, span: entry.span, key: entry.value.key.clone() })
}
