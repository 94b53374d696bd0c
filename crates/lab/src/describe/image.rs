//! Container images as JSON.

use crate::plan::{Argv, ImagePlan, VolumePlan};
use serde_json::{Value, json};

/// The image of a node.
pub(super) fn image(image: &ImagePlan) -> Value {
    json!({
        "line": image.line,
        "source": image.source.to_string(),
        "starts": image.starts,
        "entrypoint": image.entrypoint.as_ref().map(words),
        "command": image.command.as_ref().map(words),
        "user": image.user,
        "volumes": image.volumes.iter().map(volume).collect::<Vec<_>>(),
    })
}

fn words(command: &Argv) -> Value {
    match command {
        Argv::Shell(text) => json!(text),
        Argv::Exec(words) => json!(words),
    }
}

fn volume(volume: &VolumePlan) -> Value {
    json!({
        "line": volume.line,
        "source": volume.source,
        "target": volume.target,
        "read_only": volume.is_read_only,
    })
}
