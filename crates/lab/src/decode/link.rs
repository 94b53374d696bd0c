//! Links, their ends and their directions.

use super::treatments;
use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keyed::Keyed;
use crate::keys::{DIRECTION, LinkKeys, LinkSettings};
use crate::names::wrong_link_name;
use crate::profiles::Base;
use crate::spec::{LinkSpec, MediumSpec};
use crate::yaml::{Content, Entry, Node};
use netloom_units::{Bytes, Duration};

/// The customary MTU of Ethernet.
const MTU: u32 = 1_500;

/// A tenth of the interval at which network cards usually moderate interrupts: unnoticed by programs, and enough to
/// deliver packets of a fast link in trains.
const COALESCE: Duration = Duration::from_micros(20);

/// The keys that a radio medium does not have.
const OF_WIRES: [&str; 13] = [
    "rate", "delay", "queue", "reorder", "overhead", "schedule", "cross", "netem", "dummynet", "tbf", "pipes",
    "coalesce", "profile",
];

/// The largest MSDU (IEEE 802.11-2020, 9.2.4.7.1) without its header of LLC and SNAP.
const LONGEST_ON_AIR: u32 = 2_304 - 8;

/// The largest packet of PDCP (TS 38.323, 4.3.1).
const LONGEST_IN_CELL: u32 = 9_000;

fn is_radio(link: &LinkSpec) -> bool {
    link.shared.as_ref().is_some_and(|medium| medium.value.is_radio())
}

/// All links that can be read; `left_out` says whether others could not.
pub(super) fn links(node: &Node, errors: &mut Errors, left_out: &mut bool) -> Vec<LinkSpec> {
    let Content::Map(entries) = &node.content else {
        if node.content != Content::Empty {
            errors.push(node.expected("the links: a map like `{access: {ends: [client, r1], delay: 1 ms}}`"));
            *left_out = true;
        }
        return Vec::new();
    };
    let mut links = Vec::new();
    for entry in entries {
        let name = entry.named();
        if let Some(wrong) = wrong_link_name(&name.value, "link") {
            errors.push(name.error(wrong));
        }
        match link(name, &entry.value, errors) {
            Some(link) => links.push(link),
            None => *left_out = true,
        }
    }
    links
}

fn link(name: Spanned<String>, node: &Node, errors: &mut Errors) -> Option<LinkSpec> {
    let fields = Fields::open(node, &LinkKeys::SECTION, errors)?;
    let settings = LinkSettings::read_keys(&fields, errors)?;
    let mtu = settings.mtu.unwrap_or(MTU);
    let bare = bare_link(name, &fields, settings, errors);
    if bare.as_ref().is_some_and(|link| link.shared.is_some()) {
        for own in ["forward", "backward"].into_iter().filter_map(|direction| fields.get(direction)) {
            let message =
                "a shared medium is one for all its ends: write its settings without `forward` and `backward`";
            errors.push(own.error(message));
        }
    }
    if bare.as_ref().is_some_and(|link| link.shared.is_some() && !is_radio(link)) {
        let why = "a profile has an uplink and a downlink, and a shared medium has one pipe for all: write its keys";
        fields.refuse([("profile", why)], errors);
    }
    if bare.as_ref().is_some_and(is_radio) {
        let why = "a radio medium has nothing of this: its `medium` says how long what takes";
        fields.refuse(OF_WIRES.map(|key| (key, why)), errors);
        let is_cell = bare
            .as_ref()
            .and_then(|link| link.shared.as_ref())
            .is_some_and(|medium| matches!(medium.value, MediumSpec::Cell(_)));
        let (frames, longest) = if is_cell { ("cells", LONGEST_IN_CELL) } else { ("frames of 802.11", LONGEST_ON_AIR) };
        if mtu > longest {
            let said = fields.get("mtu").unwrap_or(node);
            errors.push(said.error(format!("{frames} have packets of {longest} B at most")));
        }
    }
    let base = Base::read(&fields, errors);
    let both = base.change(&fields, errors);
    let shared = fields.get("pipes").map_or_else(Vec::new, |inner| treatments::read(inner, errors));
    let [forward, backward] = [(0, "forward"), (1, "backward")].map(|(way, direction)| {
        let own = fields.get(direction).and_then(|inner| Fields::open(inner, &DIRECTION, errors));
        let change = own.as_ref().map(|own| base.change(own, errors)).unwrap_or_default();
        let pipe = base.with(way, &both, &change);
        let given = own.as_ref().and_then(|own| own.get("pipes")).map(|inner| treatments::read(inner, errors));
        let further = given.as_ref().unwrap_or(&shared);
        if let Err(wrong) = pipe.check(Bytes::new(u64::from(mtu))) {
            let said = own.as_ref().and_then(|own| own.get(wrong.key)).or_else(|| fields.get(wrong.key));
            errors.push(said.unwrap_or(node).error(wrong.message));
        } else {
            treatments::check(further, &pipe, mtu, errors);
        }
        (treatments::settle(further, &pipe), pipe)
    });
    Some(LinkSpec { pipes: [forward.1, backward.1], treatments: [forward.0, backward.0], ..bare? })
}

/// All links as far as addresses depend on them: where the ends are, and how large packets may be.
pub(super) fn bare_links(node: &Node) -> Vec<Option<LinkSpec>> {
    // What is wrong is noted when the links are read in earnest.
    let mut errors = Errors::default();
    let bare = |entry: &Entry| {
        let name = entry.named();
        let fields = Fields::open(&entry.value, &LinkKeys::SECTION, &mut errors)?;
        let settings = LinkSettings::read_keys(&fields, &mut errors)?;
        bare_link(name, &fields, settings, &mut errors)
    };
    node.entries().iter().map(bare).collect()
}

/// A link as if nothing were said about its directions.
fn bare_link(
    name: Spanned<String>,
    fields: &Fields<'_>,
    settings: LinkSettings,
    errors: &mut Errors,
) -> Option<LinkSpec> {
    let ends = LinkKeys::read_keys(fields, errors)?.ends;
    let (pipes, treatments) = Default::default();
    Some(LinkSpec {
        name,
        ends,
        shared: settings.medium,
        pipes,
        treatments,
        mtu: settings.mtu.unwrap_or(MTU),
        coalesce: settings.coalesce.unwrap_or(COALESCE),
        cost: settings.cost.unwrap_or(1),
        area: settings.area.unwrap_or(0),
        bypass: settings.bypass,
        addresses: settings.addresses,
        vlans: settings.vlans,
    })
}
