//! Commands that follow from keys of nodes: those that put the rules of firewalls into their kernels, and the programs of images.

use crate::diagnostics::Spanned;
use crate::plan::{Argv, NodeKey};
use crate::spec::{ActionSpec, EntrySpec, ImageSpec, NodeSpec, RulesProgram, RulesSource, RulesSpec, RunSpec, Spec};

/// What a node does before its own setup.
pub(super) fn setups(node: &mut NodeSpec) -> Vec<EntrySpec> {
    let rules = std::mem::take(&mut node.firewall);
    rules.into_iter().map(|rules| setup(node, NodeKey::Firewall, rules)).collect()
}

/// A command that puts rules into the node's kernel, called after the key from which they follow.
fn setup(node: &NodeSpec, key: NodeKey, rules: RulesSpec) -> EntrySpec {
    let RulesSpec { place, program, source } = rules;
    let six = if program == RulesProgram::Ip6tables { "6" } else { "" };
    let value = format!("{}{six}-{}", key.name(), node.name.value);
    let name = Spanned { value, span: place.span, key: place.key };
    let run = RunSpec {
        on: node.name.clone(),
        name: Some(name),
        command: command(program, source),
        setup: true,
        of_node: true,
        key: Some(key),
        ..RunSpec::default()
    };
    EntrySpec { line: place.span.line, at: None, action: ActionSpec::Run(Box::new(run)) }
}

fn command(program: RulesProgram, source: RulesSource) -> Argv {
    let words: &[&str] = match program {
        RulesProgram::Nft => &["nft", "-f"],
        RulesProgram::Iptables => &["iptables-restore"],
        RulesProgram::Ip6tables => &["ip6tables-restore"],
    };
    match source {
        RulesSource::File(path) => {
            let path = path.to_string_lossy().into_owned();
            Argv::Exec(words.iter().map(|word| (*word).to_owned()).chain([path]).collect())
        }
        RulesSource::Text(text) => {
            // Whatever is in the rules, this line is not.
            let mut end = "END".to_owned();
            while text.lines().any(|line| line == end) {
                end.push('_');
            }
            let file = if program == RulesProgram::Nft { " -" } else { "" };
            Argv::Shell(format!("{}{file} <<'{end}'\n{text}\n{end}\n", words.join(" ")))
        }
    }
}

/// The programs of all nodes with images: services that start before time zero. What they are is known when the image has been looked into.
pub(super) fn image_programs(spec: &Spec) -> Vec<EntrySpec> {
    let machines = spec.nodes.iter().filter(|node| node.kind.runs_programs());
    let starting = machines.filter_map(|node| Some((node, node.image.as_ref()?)));
    starting.filter(|(_, image)| image.plan.value.starts).map(|(node, image)| image_program(node, image)).collect()
}

fn image_program(node: &NodeSpec, image: &ImageSpec) -> EntrySpec {
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

#[cfg(test)]
mod tests {
    use crate::plan::{Action, Argv, NodeKey};

    /// The commands that come before all others, with the keys from which they follow.
    fn setups(text: &str) -> Vec<(String, Option<NodeKey>, Argv)> {
        let plan = crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let runs = plan.timeline.into_iter().filter_map(|event| match event.action {
            Action::Run(run) => Some((run.name, run.key, run.command)),
            _ => None,
        });
        runs.collect()
    }

    #[test]
    fn rules_come_before_the_nodes_own_setup_with_the_line_numbers_of_the_lab_file() {
        let text =
            "nodes:\n  a:\n    setup: [\"true\"]\n    firewall: |\n      table inet x {\n      }\n      END\n  b: {}\n";
        let setups = setups(&format!("{text}links: {{l: {{ends: [a, b]}}}}\n"));
        let wanted = "nft -f - <<'END_'\n\n\n\n\ntable inet x {\n}\nEND\n\nEND_\n";
        assert_eq!(setups[0], ("firewall-a".to_owned(), Some(NodeKey::Firewall), Argv::Shell(wanted.to_owned())));
        assert_eq!(setups[1].1, None);
    }

    #[test]
    fn iptables_has_a_command_for_each_family() {
        let rules = "{iptables: \"*filter\\nCOMMIT\\n\", ip6tables: \"*raw\\nCOMMIT\\n\"}";
        let setups = setups(&format!("nodes: {{a: {{firewall: {rules}}}, b: }}\nlinks: {{l: {{ends: [a, b]}}}}\n"));
        let shown: Vec<String> = setups.iter().map(|(name, _, command)| format!("{name} {command}")).collect();
        let wanted = [
            "firewall-a iptables-restore <<'END'\n*filter\nCOMMIT\n\nEND",
            "firewall6-a ip6tables-restore <<'END'\n*raw\nCOMMIT\n\nEND",
        ];
        assert_eq!(shown, wanted);
    }
}
