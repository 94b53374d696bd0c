//! Containers that run already, as JSON.

use crate::plan::{ContainerEngine, ContainerPlan};
use serde_json::{Value, json};

/// The container that a node is.
pub(super) fn container(container: &ContainerPlan) -> Value {
    json!({
        "line": container.line,
        "name": container.name,
        "engine": container.engine.map(ContainerEngine::name),
    })
}
