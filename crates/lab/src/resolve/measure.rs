//! What a node gets so that its programs write down what is to be collected.

use crate::plan::{FileContents, FilePlan, MeasurePlan};
use crate::spec::NodeSpec;
use std::path::PathBuf;

/// The variable by which many TLS libraries are told to write down their keys, and the file in which they do here
/// (draft-ietf-tls-keylogfile).
const TLS_KEYS: (&str, &str, &str) = ("SSLKEYLOGFILE", "/run/tls-keys", "/keys.log");
/// The variable by which QUIC libraries are told where to write qlog files (draft-ietf-quic-qlog-main-schema).
const QLOG: (&str, &str, &str) = ("QLOGDIR", "/run/qlog", "");
/// Programs of all users write there, and none removes what others wrote.
const MODE: u32 = 0o1777;

/// Sets the variables, unless the node's `env` has them; makes the folders, and has them collected.
pub(super) fn furnish(node: &mut NodeSpec, measure: MeasurePlan) {
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
