//! The VLANs of a link.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::forms;
use crate::keyed::{Keyed, sections};
use crate::scalar::{integer, text};
use crate::section::Kind;
use crate::spec::VlansSpec;
use crate::vlan_map::DEFAULT;
use crate::yaml::{Content, Node};

/// The number of a VLAN.
const VLAN: Kind = Kind::Integer { least: 1, most: LAST };

forms! {
    /// The VLANs that a link carries: one without tags, or several.
    pub(crate) struct CarriedVlans = Spanned<VlansSpec>, Kind::OneOf(&[VLAN, Vlans::KIND]), noting vlans;
    pub(crate) struct Native = Option<u16>, Kind::OneOf(&[VLAN, Kind::Word(&["none"])]), native;
}

sections! {
    /// A trunk: a link that carries several VLANs, whose frames bear tags.
    struct Vlans = "vlans" {
        /// The VLANs whose frames bear a tag here, or all that the lab file names.
        trunk = Kind::OneOf(&[Kind::Word(&["all"]), Kind::list(&VLAN, 0)]), required "[10, 20]";
        /// The VLAN of frames without a tag, or none: they are dropped. Default: 1.
        native: Native, "99";
    }
}

/// The last VLAN: 4095 is reserved (IEEE 802.1Q-2022, table 9-2).
const LAST: u64 = 4_094;

fn vlans(node: &Node, errors: &mut Errors) -> Option<Spanned<VlansSpec>> {
    if !matches!(node.content, Content::Map(_)) {
        let wrong = |_| {
            const RIGHT: &str = "the VLAN of this link, 1 to 4094, or for example {trunk: [10, 20], native: 1}";
            node.text().map_or_else(
                || node.expected(RIGHT),
                |text| node.error(format!("\"{text}\" is no VLAN: write {RIGHT}")),
            )
        };
        let untagged = keep(vlan(node).map_err(wrong), errors)?;
        return Some(node.spanned(VlansSpec { untagged: Some(untagged), tagged: Some(Vec::new()) }));
    }
    let fields = Fields::open(node, &Vlans::SECTION, errors)?;
    let untagged = Vlans::read_keys(&fields, errors)?.native.unwrap_or(Some(DEFAULT));
    let tagged = trunk(fields.get("trunk")?, errors);
    Some(node.spanned(VlansSpec { untagged, tagged }))
}

fn vlan(node: &Node) -> Result<u16, Diagnostic> {
    integer(node, 1, LAST).map(|number| u16::try_from(number).unwrap_or(u16::MAX))
}

fn native(node: &Node) -> Result<Option<u16>, Diagnostic> {
    if text(node).is_ok_and(|text| text == "none") {
        return Ok(None);
    }
    vlan(node).map(Some).map_err(|_| node.expected("a VLAN, 1 to 4094, or `none`"))
}

/// VLANs, each once; none: all.
fn trunk(node: &Node, errors: &mut Errors) -> Option<Vec<u16>> {
    let Content::List(items) = &node.content else {
        if !text(node).is_ok_and(|text| text == "all") {
            errors.push(node.expected("a list of VLANs, for example [10, 20], or `all`"));
        }
        return None;
    };
    let mut seen: Vec<(u16, &Node)> = Vec::new();
    for item in items {
        let Some(number) = keep(vlan(item), errors) else { continue };
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == number) {
            let message = format!("VLAN {number} is here twice: leave one out");
            errors.push(item.error(message).and(first.span, "first here"));
            continue;
        }
        seen.push((number, item));
    }
    let mut vlans: Vec<u16> = seen.into_iter().map(|(number, _)| number).collect();
    vlans.sort_unstable();
    Some(vlans)
}
