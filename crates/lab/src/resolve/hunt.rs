//! A hunt: which nodes and links its faults are about, and whether its properties name what there is.

use super::hunt_faults;
use super::hunt_ground::Ground;
use super::patterns::matches;
use crate::decode::hunt::HuntSpec;
use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::hunt_property;
use crate::plan::{Action, Event, HuntPlan, Modality, PropertyPlan, PropertyTest};
use crate::spec::TestSpec;

/// Whether a name is like a pattern, in which `*` stands for any letters.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    matches(pattern, name)
}

/// The texts of a hunt's properties that are expectations.
pub(super) fn expectations(hunt: &HuntSpec) -> impl Iterator<Item = &Spanned<String>> {
    hunt.properties().filter_map(|(_, test)| match test {
        TestSpec::Text(text) if matches!(hunt_property::read(&text.value), Ok(None)) => Some(text),
        _ => None,
    })
}

/// The plan of a hunt. It means something only if no errors were found.
pub(super) fn resolve(hunt: &HuntSpec, ground: &Ground<'_>, errors: &mut Errors) -> HuntPlan {
    let nodes = match &hunt.nodes {
        Some(names) => ground.nodes_of(names, errors),
        None => ground.usual_nodes(),
    };
    let quiet = hunt.quiet.as_ref().map_or(HuntPlan::QUIET, |quiet| quiet.value);
    if let Some(duration) = ground.spec.duration.filter(|duration| quiet >= *duration) {
        let message = format!(
            "with {quiet} without faults at the end, a run of {duration} has no time for any: write a shorter `quiet`, or a longer `duration` of \
             the lab"
        );
        errors.push(hunt.quiet.as_ref().map_or_else(|| hunt.place.error(&message), |place| place.error(&message)));
    }
    if nodes.is_empty() && !ground.left_out.nodes {
        errors.push(hunt.place.error("no node of this lab runs programs: a hunt has nothing to disturb"));
    }
    let faults = hunt_faults::resolve(hunt, ground, &nodes, errors);
    let properties = hunt.properties().filter_map(|property| ground.property(property, errors)).collect();
    if let Some(file) = &hunt.assertions {
        errors.extend(ground.collects(&file.value).map(|why| file.error(why)));
    }
    let assertions = hunt.assertions.as_ref().map(|file| file.value.clone());
    HuntPlan {
        runs: hunt.runs,
        lasts: hunt.r#for,
        tolerate: hunt.tolerate,
        nodes,
        quiet,
        faults,
        properties,
        assertions,
    }
}

impl Ground<'_> {
    fn property(&self, (modality, said): (Modality, &TestSpec), errors: &mut Errors) -> Option<PropertyPlan> {
        let (text, test) = match said {
            TestSpec::Command(command, text) => (text, PropertyTest::Command(command.clone())),
            TestSpec::Text(text) => match hunt_property::read(&text.value) {
                Ok(test) => (text, test.unwrap_or(PropertyTest::Expectation)),
                Err(why) => {
                    return errors.reject(text.error(why));
                }
            },
        };
        if let PropertyTest::Log { whose, .. } | PropertyTest::Exit { whose, .. } = &test
            && !self.is_known(whose)
        {
            errors.push(text.error(format!("no command, and no node with commands, is called like `{whose}`")));
        }
        if let Some(file) = test.history() {
            errors.extend(self.collects(file).map(|why| text.error(why)));
        }
        let line = text.span.line;
        Some(PropertyPlan { line, modality, text: text.value.trim().to_owned(), test })
    }

    /// Why there is no such file after a run, if so.
    fn collects(&self, file: &str) -> Option<String> {
        let saves = |event: &Event| matches!(&event.action, Action::Run(run) if run.save.is_some());
        let has_gaps = self.left_out.nodes || self.left_out.commands;
        let is_collected = self.spec.nodes.iter().any(|node| !node.collect.is_empty());
        if has_gaps || is_collected || self.timeline.iter().any(saves) {
            return None;
        }
        Some(format!(
            "no node collects files, so there is no `{file}` after a run: write for example `collect: [/srv/{file}]` for the node that has it"
        ))
    }

    /// Whether a command, or a node that has one, has a name like this.
    fn is_known(&self, whose: &str) -> bool {
        let is_meant = |event: &Event| match &event.action {
            Action::Run(run) => {
                let node = self.spec.nodes.get(run.node).is_some_and(|node| matches(whose, &node.name.value));
                node || matches(whose, &run.name)
            }
            _ => false,
        };
        // Nodes without commands may be those of an example, and what could not be read may have any name.
        let has_gaps = self.left_out.commands || self.left_out.nodes;
        has_gaps || self.timeline.iter().any(is_meant) || self.nodes.names().any(|node| matches(whose, node))
    }
}
