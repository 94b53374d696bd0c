//! Links, their ends and their directions.

use super::daemons::Area;
use super::end::end;
use super::treatments;
use super::vlans::vlans;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{OrZero, Whole};
use crate::keys::{Addressed, DIRECTION, LINK};
use crate::models;
use crate::names::wrong_link_name;
use crate::scalar::word;
use crate::spec::{BypassSpec, EndSpec, LinkSpec};
use crate::yaml::{Content, Entry, Node};
use netloom_link::PipeConfig;
use netloom_units::{Bytes, Duration};

/// The customary MTU of Ethernet.
const MTU: u32 = 1_500;

/// A tenth of the interval at which network cards usually moderate interrupts: unnoticed by programs, and enough to
/// deliver packets of a fast link in trains.
const COALESCE: Duration = Duration::from_micros(20);

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
    let fields = Fields::open(node, &LINK, errors)?;
    let mtu = mtu(&fields, errors);
    let bare = bare_link(name, &fields, mtu, errors);
    if bare.as_ref().is_some_and(|link| link.shared.is_some()) {
        for own in ["forward", "backward"].into_iter().filter_map(|direction| fields.get(direction)) {
            let message =
                "a shared medium is one for all its ends: write its settings without `forward` and `backward`";
            errors.push(own.error(message));
        }
    }
    let both = models::decode(&fields, errors).applied_to(&PipeConfig::default());
    let shared = fields.get("pipes").map_or_else(Vec::new, |inner| treatments::read(inner, errors));
    let [forward, backward] = ["forward", "backward"].map(|direction| {
        let own = fields.get(direction).and_then(|inner| Fields::open(inner, &DIRECTION, errors));
        let pipe = own.as_ref().map(|own| models::decode(own, errors)).unwrap_or_default().applied_to(&both);
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

fn mtu(fields: &Fields<'_>, errors: &mut Errors) -> u32 {
    fields.form::<Whole<u32, 68, 65_535>>("mtu", errors).unwrap_or(MTU)
}

/// All links as far as addresses depend on them: where the ends are, and how large packets may be.
pub(super) fn bare_links(node: &Node) -> Vec<Option<LinkSpec>> {
    let Content::Map(entries) = &node.content else { return Vec::new() };
    // What is wrong is noted when the links are read in earnest.
    let mut errors = Errors::default();
    let bare = |entry: &Entry| {
        let name = entry.named();
        let fields = Fields::open(&entry.value, &LINK, &mut errors)?;
        let mtu = mtu(&fields, &mut errors);
        bare_link(name, &fields, mtu, &mut errors)
    };
    entries.iter().map(bare).collect()
}

/// A link as if nothing were said about its directions.
fn bare_link(name: Spanned<String>, fields: &Fields<'_>, mtu: u32, errors: &mut Errors) -> Option<LinkSpec> {
    let coalesce = fields.form::<OrZero<Duration>>("coalesce", errors).unwrap_or(COALESCE);
    let area = fields.form::<Area>("area", errors).unwrap_or(0);
    let cost = fields.form::<Whole<u32, 1, 65_535>>("cost", errors).unwrap_or(1);
    let bypass = fields.read("bypass", |value| bypass(value).map(|said| value.spanned(said)), errors);
    let addresses = fields.form::<Addressed>("addresses", errors);
    let vlans = fields.get("vlans").and_then(|value| vlans(value, errors));
    let medium = fields.get("medium").and_then(|value| keep(word(value, &[("shared", value.spanned(()))]), errors));
    let ends = ends(fields.get("ends")?, errors)?;
    let (pipes, treatments) = Default::default();
    Some(LinkSpec {
        name,
        ends,
        shared: medium,
        pipes,
        treatments,
        mtu,
        coalesce,
        cost,
        area,
        bypass,
        addresses,
        vlans,
    })
}

fn bypass(node: &Node) -> Result<BypassSpec, Diagnostic> {
    word(node, &[("true", BypassSpec::Always), ("false", BypassSpec::Never), ("auto", BypassSpec::Possible)])
}

fn ends(node: &Node, errors: &mut Errors) -> Option<Vec<EndSpec>> {
    match &node.content {
        Content::List(items) if items.len() >= 2 => {
            let ends: Vec<Option<EndSpec>> = items.iter().map(|item| end(item, errors)).collect();
            ends.into_iter().collect()
        }
        Content::List(items) => {
            errors.push(node.error(format!(
                "a link has two ends or more, found {}: write for example `ends: [client, r1]`",
                items.len()
            )));
            None
        }
        _ => {
            errors.push(node.expected("a list of two nodes or more, for example `ends: [client, r1]`"));
            None
        }
    }
}
