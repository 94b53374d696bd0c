//! Hunts on a cluster of Ray: Python joins the cluster and starts this program again, which hunts as always and hands each run to Python.

use crate::args::HuntArgs;
use crate::commands::cluster::without_cluster;
use crate::commands::{Failure, python};
use netloom_hunt::Target;
use serde_json::json;

/// Becomes Python, which plays the runs on the cluster at `on`; comes back only if that fails.
pub(super) fn play(args: &HuntArgs, on: &str, target: &Target) -> Failure {
    let order = json!({
        "file": args.file,
        "text": args.as_played.as_ref().unwrap_or(&args.file),
        "on": on,
        "kernel": args.kernel,
        "files": target.lab.plan.files,
        "jobs": args.jobs,
        "quiet": args.quiet || args.json,
        "hunt": without_cluster(std::env::args().skip(1)),
    });
    python::become_module("netloom._ray_hunt", &[order.to_string().into()], "hunts on Ray need")
}
