//! What is measured inside nodes, and of links.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{MEASURE, NODE_MEASURE};
use crate::plan::{MeasurePlan, SamplePlan};
use crate::scalar::{flag, positive_duration};
use crate::yaml::Node;
use netloom_units::Duration;

/// What the lab says: of nodes, and how often links are sampled. None after an error was noted.
pub(super) fn measure(node: &Node, errors: &mut Errors) -> Option<(MeasurePlan, Option<SamplePlan>)> {
    let fields = Fields::open(node, &MEASURE, errors)?;
    let sampling = fields.read("pipes", step, errors).map(|step| SamplePlan { step });
    Some((of_node(&fields, errors), sampling))
}

/// What a node says. None after an error was noted.
pub(super) fn node_measure(node: &Node, errors: &mut Errors) -> Option<MeasurePlan> {
    let fields = Fields::open(node, &NODE_MEASURE, errors)?;
    Some(of_node(&fields, errors))
}

fn of_node(fields: &Fields<'_>, errors: &mut Errors) -> MeasurePlan {
    MeasurePlan {
        tcp: fields.read("tcp", interval, errors),
        node: fields.read("node", interval, errors),
        tls_keys: fields.read("tls_keys", flag, errors).unwrap_or_default(),
        qlog: fields.read("qlog", flag, errors).unwrap_or_default(),
    }
}

fn interval(node: &Node) -> Result<Duration, Diagnostic> {
    let interval = positive_duration(node)?;
    if interval < MeasurePlan::LEAST {
        let least = MeasurePlan::LEAST;
        return Err(
            node.error(format!("samples every {interval} would keep the node from its work: write {least} or more"))
        );
    }
    Ok(interval)
}

fn step(node: &Node) -> Result<Duration, Diagnostic> {
    let step = positive_duration(node)?;
    let [least, most] = [SamplePlan::LEAST, SamplePlan::MOST];
    if !(least..=most).contains(&step) {
        return Err(node.error(format!("links are sampled every {least} to every {most}, not every {step}")));
    }
    Ok(step)
}
