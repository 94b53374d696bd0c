//! What of a lab can be played in several parts, and what has to be the same for all of them.

use crate::kernels::kernel_of;
use crate::request::RunRequest;
use crate::results_folder::digest_of;
use netloom_guest::processor;
use netloom_image::Hashing;
use netloom_judge::RunError;
use netloom_lab::{Action, Clock, Disturbance, Plan, Stack};
use netloom_units::CpuLevel;
use nix::unistd::Uid;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Returns what has to be the same on all machines for a run to give the same results there, by what it is called in words.
///
/// # Errors
/// If there is no kernel for the kernel nodes.
pub fn facts(request: &RunRequest) -> Result<BTreeMap<String, String>, RunError> {
    let plan = &request.plan;
    let unknown = || "unknown".to_owned();
    let kernel = kernel_of(plan, request.kernel.as_deref())?;
    let digest = |path: &Path| digest_of(path).unwrap_or_else(unknown);
    let kernel = kernel.map_or_else(unknown, |kernel| format!("Linux {} ({})", kernel.version, digest(&kernel.path)));
    let program = std::env::current_exe().map_or_else(|_| unknown(), |path| digest(&path));
    let mut lab = Hashing::new(request.lab_text.as_bytes());
    io::copy(&mut lab, &mut io::sink()).map_err(|error| RunError::Machine(error.to_string()))?;
    let mut facts = BTreeMap::from([
        ("the lab file".to_owned(), lab.finish().0.to_string()),
        ("the seed".into(), plan.seed.get().to_string()),
        ("the program".into(), program),
        ("the kernel of nodes".into(), kernel),
        ("the user".into(), if Uid::effective().is_root() { "root".into() } else { "an ordinary one".into() }),
    ]);
    let kernels = || plan.nodes.iter().filter(|node| node.stack == Stack::Kernel);
    let shows_processor = kernels().any(|node| node.cpu.is_none_or(|cpu| cpu.level.is_none()));
    if shows_processor {
        let level = processor::of_this_machine().map_or("unknown", CpuLevel::name);
        facts.insert("the level of the processor".into(), level.into());
    }
    if kernels().any(|node| node.image.is_none()) {
        let folder = std::env::current_dir().map_or_else(|_| unknown(), |path| path.display().to_string());
        facts.insert("the folder of the command".into(), folder);
    }
    let beside = request.lab_file.parent().unwrap_or(Path::new(""));
    facts.extend(plan.files.iter().map(|name| (format!("the file {}", name.display()), digest(&beside.join(name)))));
    Ok(facts)
}

/// Why a lab cannot be played in parts; none if it can.
pub fn cannot_be_parted(plan: &Plan) -> Option<String> {
    if plan.clock != Clock::Virtual {
        return Some("only virtual time is played in parts by --part: labs in real time are divided by `netloom split` and `netloom run --on`".into());
    }
    let crashes = |action: &Action| {
        let Action::Disturb { how, .. } = action else { return false };
        matches!(how, Disturbance::Crash(_))
    };
    if plan.timeline.iter().any(|event| crashes(&event.action)) {
        return Some("the timeline lets nodes crash, which parts do not do together yet".into());
    }
    let disk = plan.nodes.iter().find(|node| node.stack == Stack::Kernel && node.disk.is_some());
    disk.map(|node| format!("node `{}` has a disk, whose faults parts do not know of one another yet", node.name))
}
