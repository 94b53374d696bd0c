//! What is measured inside nodes.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::MEASURE;
use crate::plan::MeasurePlan;
use crate::scalar::{flag, positive_duration};
use crate::yaml::Node;
use netloom_units::Duration;

/// None after an error was noted.
pub(super) fn measure(node: &Node, errors: &mut Errors) -> Option<MeasurePlan> {
    let fields = Fields::open(node, &MEASURE, errors)?;
    Some(MeasurePlan {
        tcp: fields.read("tcp", interval, errors),
        tls_keys: fields.read("tls_keys", flag, errors).unwrap_or_default(),
        qlog: fields.read("qlog", flag, errors).unwrap_or_default(),
    })
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
