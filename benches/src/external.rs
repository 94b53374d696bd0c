//! A lab at a network card, beside the same link between two nodes. One end of a plain veth pair stands for the card.

use crate::lab::Lab;
use crate::plain::{self, SERVER, VETH};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;

/// Of what the same link carries between two nodes.
const OF_NODES: f64 = 0.97;
/// The node of the lab at the card, in the network of the pair.
const INSIDE: &str = "10.78.0.3/24";

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let nodes = Lab::up(settings, "nodes", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    nodes.shell("b", transfer::START_SERVER)?;
    let seconds = if settings.quick { 1 } else { 3 };
    let (mut direct, mut between, mut shared, mut passed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(5) {
        between.push(gbit(&nodes.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
        shared.push(gbit(&at_card(settings, "share", &transfer::pinned_tcp(SERVER, seconds))?)?);
        passed.push(gbit(&at_card(settings, "pass", &transfer::pinned_tcp(SERVER, seconds))?)?);
        direct.push(gbit(&plain::shell(settings, &transfer::pinned_tcp(SERVER, seconds))?)?);
    }
    let remark = format!("{VETH} {} Gbit/s", number(median(&direct)?));
    let row = |mode: &str, ours: Vec<f64>| {
        let row = Row::number(format!("one stream, mode {mode}"), "Gbit/s", ours)?;
        Ok::<Row, String>(
            row.against("two nodes", between.clone()).goal(Goal::AtLeast(OF_NODES)).remark(remark.clone()),
        )
    };
    Ok(vec![row("share", shared)?, row("pass", passed)?])
}

/// Runs a shell command in a node whose link leads to one end of a plain veth pair.
fn at_card(settings: &Settings, mode: &str, script: &str) -> Result<String, String> {
    let netloom = settings.netloom.display();
    let lab = format!(
        "nodes: {{inside: {{}}, wire: {{kind: external, interface: eth0, mode: {mode}}}}}\n\
         links: {{line: {{ends: [{{node: inside, address: {INSIDE}}}, wire]}}}}\n"
    );
    plain::shell(
        settings,
        &format!(
            "cd /run; cat > bench.yaml << 'END'\n{lab}END\ncat > script << 'END'\n{script}\nEND\n\
             {netloom} up bench.yaml --results results >&2 || exit; {netloom} exec bench inside -- sh /run/script; code=$?; \
             {netloom} down bench > /run/told 2>&1 || true; exit $code"
        ),
    )
}
