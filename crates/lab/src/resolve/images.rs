//! The programs of images: services of the timeline that start before time zero. What they are is known when the image has been looked into.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, NodeKey};
use crate::spec::{ActionSpec, EntrySpec, ImageSpec, NodeSpec, RunSpec, Spec};

/// The programs of all nodes with images.
pub(super) fn entries(spec: &Spec) -> Vec<EntrySpec> {
    let machines = spec.nodes.iter().filter(|node| node.kind.runs_programs());
    let starting = machines.filter_map(|node| Some((node, node.image.as_ref()?)));
    starting.filter(|(_, image)| image.plan.value.starts).map(|(node, image)| entry(node, image)).collect()
}

fn entry(node: &NodeSpec, image: &ImageSpec) -> EntrySpec {
    let run = RunSpec {
        on: node.name.clone(),
        name: Some(Spanned {
            value: format!("image-{}", node.name.value),
            span: image.plan.span,
            key: image.plan.key.clone(),
        }),
        command: Argv::Exec(Vec::new()),
        ready: image.ready.clone(),
        service: true,
        key: Some(NodeKey::Image),
        ..RunSpec::default()
    };
    EntrySpec { line: image.plan.span.line, at: None, action: ActionSpec::Run(Box::new(run)) }
}
