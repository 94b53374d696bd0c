//! Pictures of labs: their nodes and links, drawn from the plan alone. The same plan gives the same picture.

mod labels;
mod layout;
mod metres;
mod scene;
mod svg;
mod symbols;

use crate::Folder;
use crate::WriteError;
use netloom_lab::{LinkPlan, NodeKind, NodePlan, Plan};
use std::fmt::Write;

/// Labs with more nodes are drawn when that is asked for, and not by every run: it would take longer than to make the lab.
const MOST_UNASKED: usize = 200;
/// The picture in a results folder.
pub(crate) const FILE: &str = "lab.svg";

pub(crate) use metres::FILE as MAP_FILE;
pub use metres::{AirMap, Belonging, map, map_at};

/// Writes the pictures of a lab into its results folder, if it is not too large.
///
/// # Errors
/// When it cannot be written.
pub fn write_picture(folder: &Folder, plan: &Plan) -> Result<(), WriteError> {
    if plan.nodes.len() > MOST_UNASKED {
        return Ok(());
    }
    folder.write(FILE, picture(plan))?;
    map(plan).map_or(Ok(()), |map| folder.write(metres::FILE, map))
}

/// Draws a lab, and returns the text of the SVG file.
pub fn picture(plan: &Plan) -> String {
    let scene = scene::Scene::of(plan);
    svg::svg(&scene, &plan.name)
}

/// Returns the positions of the nodes in the picture, as `layout` of a lab file.
pub fn layout_text(plan: &Plan) -> String {
    let scene = scene::Scene::of(plan);
    let mut text = String::from("layout:\n");
    for (node, [x, y]) in plan.nodes.iter().zip(scene.positions()) {
        let _ = writeln!(text, "  {}: [{x:.2}, {y:.2}]", node.name);
    }
    text
}

/// Returns the positions of a lab's nodes, in their order: to the right, and down, in lengths of a link.
pub fn places(plan: &Plan) -> Vec<[f64; 2]> {
    scene::places(plan)
}

/// Returns positions for nodes of which only the names and the pairs that are joined are known.
///
/// # Panics
/// If a pair names a node that is none.
pub fn places_of(names: &[&str], links: &[(usize, usize)]) -> Vec<[f64; 2]> {
    layout::Network { names, links, fixed: &vec![None; names.len()] }.places()
}

/// Returns a node's kind as a word for programs: `lan` for a switch that the lab file has as a link with more than two
/// ends.
pub fn kind(node: &NodePlan) -> &'static str {
    match node.kind {
        NodeKind::Switch if node.is_lan => "lan",
        kind => kind.name(),
    }
}

/// Returns a short description of a link's pipes: one line, or one for each direction and one for what both have, if
/// they differ.
pub fn words(link: &LinkPlan) -> Vec<String> {
    scene::words(link)
}

#[cfg(test)]
mod tests;
