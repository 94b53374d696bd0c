//! The nodes of the plan, as far as they follow from what is written of each.

use crate::plan::{
    ExternalPlan, FileContents, FilePlan, GroupPlan, MeasurePlan, NamePlan, NodePlan, RoutePlan, Stack, SwitchPlan,
};
use crate::spec::NodeSpec;
use std::path::PathBuf;
use std::sync::Arc;

/// The variable by which many TLS libraries are told to write down their keys, and the file in which they do here
/// (draft-ietf-tls-keylogfile).
const TLS_KEYS: (&str, &str, &str) = ("SSLKEYLOGFILE", "/run/tls-keys", "/keys.log");
/// The variable by which QUIC libraries are told where to write qlog files (draft-ietf-quic-qlog-main-schema).
const QLOG: (&str, &str, &str) = ("QLOGDIR", "/run/qlog", "");
/// Programs of all users write there, and none removes what others wrote.
const MODE: u32 = 0o1777;

/// The nodes, still without interfaces.
pub(super) fn plans(
    nodes: Vec<NodeSpec>,
    (inherit, measure): (&[String], MeasurePlan),
    stacks: &[Stack],
    devices: impl Iterator<Item = (Option<SwitchPlan>, Option<ExternalPlan>)>,
    ways: impl Iterator<Item = (Vec<RoutePlan>, Arc<[NamePlan]>)>,
) -> impl Iterator<Item = NodePlan> {
    nodes.into_iter().zip(stacks).zip(devices).zip(ways).map(move |(((mut node, stack), device), (routes, names))| {
        let measured = node.measured(measure);
        furnish(&mut node, measured);
        NodePlan {
            measure: measured,
            name: node.name.value,
            kind: node.kind,
            stack: *stack,
            vm: node.vm.map(|vm| vm.value),
            memory: node.memory.map(|memory| memory.value),
            cpus: node.cpus.map(|cpus| cpus.value),
            cpu: node.cpu.map(|cpu| cpu.value),
            pin: node.pin,
            machine: None,
            bound_by: None,
            clock: node.clock.map(|clock| clock.value).unwrap_or_default(),
            disk: node.disk.map(|disk| disk.value),
            cores: node.cores.map(|cores| cores.value),
            capabilities: node.capabilities,
            sysctls: node.sysctls,
            env: node.env,
            inherit: inherited(inherit, node.inherit),
            overlay: stack.is_own()
                || node.overlay.is_some_and(|root| root.value)
                || !node.files.is_empty()
                || node.image.is_some(),
            image: node.image.map(|image| image.plan.value),
            container: node.container.map(|container| container.value),
            whole_frames: node.whole_frames,
            files: node.files,
            collect: node.collect,
            expose: node.expose.into_iter().map(|exposed| exposed.value).collect(),
            daemons: Vec::new(),
            switch: device.0,
            external: device.1,
            tunnel: node.tunnel.map(Into::into),
            is_lan: node.is_lan,
            position: None,
            interfaces: Vec::new(),
            routes,
            ecmp: false,
            groups: Vec::new(),
            rules: Vec::new(),
            tables: Vec::new(),
            names,
            hidden: Arc::default(),
        }
    })
}

/// Gives nodes their place in a picture, whether they have several ways to one destination, and their parts in trees.
pub(super) fn complete(
    nodes: &mut [NodePlan],
    known: impl Iterator<Item = ((Option<[f64; 2]>, bool), Vec<GroupPlan>)>,
) {
    for (node, ((position, ecmp), groups)) in nodes.iter_mut().zip(known) {
        (node.position, node.ecmp, node.groups) = (position, ecmp, groups);
    }
}

/// What the whole lab inherits, and what a node does beside.
fn inherited(shared: &[String], own: Vec<String>) -> Vec<String> {
    let more = own.into_iter().filter(|name| !shared.contains(name));
    shared.iter().cloned().chain(more).collect()
}

/// Sets the variables, unless the node's `env` has them; makes the folders, and has them collected.
fn furnish(node: &mut NodeSpec, measure: MeasurePlan) {
    // A container that is joined keeps its files.
    if node.container.is_some() {
        return;
    }
    for (is_wanted, (variable, folder, file)) in [(measure.tls_keys, TLS_KEYS), (measure.qlog, QLOG)] {
        if !is_wanted || node.env.iter().any(|(name, _)| name == variable) {
            continue;
        }
        node.env.push((variable.into(), format!("{folder}{file}")));
        node.collect.push(folder.into());
        node.files.push(FilePlan {
            line: node.name.span.line,
            target: PathBuf::from(folder),
            contents: FileContents::Empty,
            keep: false,
            mode: Some(MODE),
            owner: None,
        });
    }
}
