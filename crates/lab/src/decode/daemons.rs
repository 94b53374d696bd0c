//! The routing daemons of routers.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, Filled, Text, Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{Daemon, FileContents, FilePlan, NodeKind};
use crate::scalar::{text, word};
use crate::section::{Form, Kind};
use crate::spec::RoutingSpec;
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::net::Ipv4Addr;
use std::path::Path;

/// The autonomous system of a router.
type Number = Whole<u32, 1, { u32::MAX as u64 - 1 }>;

forms! {
    /// The OSPF area of a link.
    pub(crate) struct Area = u32, Kind::OneOf(&[Kind::Integer { least: 0, most: u32::MAX as u64 }, Kind::Text("^[0-9]+([.][0-9]+){3}$")]), area;
    /// Routing protocols, each once.
    pub(crate) struct Daemons = Vec<Daemon>, Kind::list(&Word::<Daemon>::KIND, 1), noting daemons;
    /// The configuration of a routing daemon.
    pub(crate) struct Configuration = FileContents, Kind::OneOf(&[Filled::KIND, DaemonFile::KIND]), noting configuration;
}

sections! {
    /// The routing daemons of a router.
    pub(crate) struct DaemonKeys = "" {
        /// The routing protocols that a router speaks: ospf, ospf6, rip, ripng, bgp, isis, pim, ldp and bfd; static leaves the other routes
        /// to FRR, too. FRR runs them, configured as the lab file describes the network.
        daemons: Daemons, "[ospf, bfd]";
        /// The autonomous system that a router with `bgp` belongs to, 1 to 4294967294.
        r#as: Number, "65001";
        /// The configuration of FRR in place of the one that follows from the lab file: a path, or {text: ...}.
        frr: Configuration, "{text: router ospf}";
        /// Runs BIRD in place of FRR, with this configuration: a path, or {text: ...}.
        bird: Configuration, "{text: 'protocol device {}'}";
    }

    /// The configuration of a router's daemons.
    pub(crate) struct DaemonFile = "configuration" {
        /// The configuration itself.
        text: Text, required "router ospf";
    }

    /// What time zero waits for, and how long.
    pub(crate) struct Converged = "convergence" {
        /// Time zero waits until every router has the routes that its daemons bring; after this time the run fails.
        converged: AboveZero<Duration>, required "30 s";
    }
}

/// What FRR has and BIRD has not.
const ONLY_FRR: [Daemon; 4] = [Daemon::Isis, Daemon::Pim, Daemon::Ldp, Daemon::Static];

/// OSPF's own timers need 40 s to find a neighbour on a LAN, and RIP's 30 s for each router on the way.
const CONVERGES_WITHIN: Duration = Duration::from_secs(60);

/// What a node says of its routing daemons.
pub(super) fn routing(fields: &Fields<'_>, kind: NodeKind, errors: &mut Errors) -> RoutingSpec {
    let names = || DaemonKeys::SECTION.keys().map(|key| key.name);
    if kind != NodeKind::Router {
        let what = kind.titled();
        let why = |key| format!("only routers have `{key}`, and this is {what}: write `kind: router`, or leave it out");
        fields.refuse(names().map(|key| (key, why(key))), errors);
        return RoutingSpec::default();
    }
    let Some(place) = fields.get("daemons") else {
        let why = |key| {
            format!("`{key}` needs `daemons`, which says what the router speaks: write for example `daemons: [ospf]`")
        };
        fields.refuse(names().map(|key| (key, why(key))), errors);
        return RoutingSpec::default();
    };
    let keys = DaemonKeys::read_keys(fields, errors);
    let Some(DaemonKeys { daemons, r#as: number, frr, bird }) = keys else { return RoutingSpec::default() };
    if let (Some(_), Some(value)) = (&frr, fields.get("bird")) {
        errors.push(value.error("FRR and BIRD would overwrite each other's routes: leave out `frr` or `bird`"));
    }
    let is_bird = fields.get("bird").is_some();
    let configuration = if is_bird { bird } else { frr };
    let daemons = daemons.unwrap_or_default();
    let spec = RoutingSpec { daemons, place: place.spanned(()), number, configuration, is_bird };
    if spec.is_bird {
        let missing = spec.daemons.iter().filter(|daemon| ONLY_FRR.contains(daemon));
        errors.extend(missing.map(|daemon| place.error(format!("BIRD has no `{daemon}`: leave it out, or use FRR"))));
    }
    if spec.daemons.contains(&Daemon::Bgp) && fields.get("as").is_none() && spec.configuration.is_none() {
        errors.push(
            place.error("`bgp` needs the number of the router's autonomous system: write for example `as: 65001`"),
        );
    }
    spec
}

fn daemons(node: &Node, errors: &mut Errors) -> Option<Vec<Daemon>> {
    let items = list(node, errors);
    if items.is_empty() && matches!(node.content, Content::List(_)) {
        errors.push(node.error("no daemon is listed: name one, or leave `daemons` out"));
    }
    let mut found: Vec<Daemon> = Vec::new();
    for item in items {
        let Some(daemon) = Word::<Daemon>::read(item, errors) else { continue };
        if found.contains(&daemon) {
            errors.push(item.error(format!("`{daemon}` is listed twice: leave one out")));
        } else {
            found.push(daemon);
        }
    }
    found.sort_unstable();
    Some(found)
}

/// A file with a configuration, or the configuration itself.
fn configuration(node: &Node, errors: &mut Errors) -> Option<FileContents> {
    match &node.content {
        Content::Text { .. } => {
            let (path, is_folder) = keep(errors.source(node), errors)?;
            if is_folder {
                errors.push(node.error(format!("{} is a folder: name the file of the configuration", path.display())));
            }
            Some(FileContents::Copy(path))
        }
        Content::Map(_) => DaemonFile::open(node, errors).map(|file| FileContents::Text(file.text)),
        _ => errors.reject(node.expected("the path of a configuration file, or {text: ...}")),
    }
}

/// An OSPF area.
fn area(node: &Node) -> Result<u32, Diagnostic> {
    let written = text(node)?;
    let dotted = || written.parse::<Ipv4Addr>().ok().map(u32::from);
    written.parse().ok().or_else(dotted).ok_or_else(|| {
        node.error(format!("\"{written}\" is not an OSPF area: write a number like 1, or four like 0.0.0.1"))
    })
}

/// What is wrong with files that the daemons' own would hide.
pub(super) fn hidden(spec: &RoutingSpec, files: &[FilePlan], place: Option<&Node>) -> Option<Diagnostic> {
    let (own, key) =
        if spec.is_bird { (&["/etc/bird", "/run/bird"], "bird") } else { (&["/etc/frr", "/run/frr"], "frr") };
    let file = files.iter().find(|file| own.iter().any(|own| file.target.starts_with(own)))?;
    let target = Path::new(&file.target).display();
    let message = format!("{target} belongs to `daemons`: give your own configuration with `{key}: FILE`");
    place.filter(|_| !spec.daemons.is_empty()).map(|place| place.error(message))
}

/// How long time zero waits for routes.
pub(super) fn converged(node: &Node, errors: &mut Errors) -> Option<Spanned<Duration>> {
    if let Content::Map(_) = &node.content {
        return Converged::open(node, errors).map(|within| node.spanned(within.converged));
    }
    keep(word(node, &[("converged", CONVERGES_WITHIN)]), errors).map(|within| node.spanned(within))
}
