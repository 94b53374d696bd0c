//! `netloom collect`

use super::{Outcome, python};
use crate::args::CollectArgs;
use serde_json::json;

pub(super) fn collect(args: &CollectArgs) -> Outcome {
    // The program shows the report from wherever it is called.
    let folder = std::path::absolute(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let order = json!({ "folder": folder, "on": args.on, "then": if args.json { &["--json"][..] } else { &[] } });
    Err(python::become_module("netloom._ray_collect", &[order.to_string().into()], "machines of Ray need"))
}
