//! What of a lab can be played in several parts, and what has to be the same for all of them.

use crate::images::Images;
use crate::kernels::kernel_of;
use crate::request::RunRequest;
use crate::results_folder::{digest_of, programs};
use crate::{bare, environment};
use netloom_guest::processor;
use netloom_host::lab::Namespaces;
use netloom_image::{Digest, Hashing};
use netloom_judge::RunError;
use netloom_lab::{Clock, Plan, Stack};
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
    let lab = digest_of_bytes(request.lab_text.as_bytes()).unwrap_or_else(unknown);
    let mut facts = BTreeMap::from([
        ("the lab file".to_owned(), lab),
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
    facts.insert("the namespaces".into(), namespaces_here(plan).into());
    facts.extend(environment::inherited(plan).into_iter().map(|(name, value)| {
        let digest_of = |text: String| digest_of_bytes(text.as_bytes()).unwrap_or_else(unknown);
        (format!("the variable {name}"), value.map_or_else(|| "none".to_owned(), digest_of))
    }));
    // Programs that an image has come with it.
    facts.extend(
        programs(plan, request.root.as_ref())
            .into_iter()
            .map(|own| (format!("the program {}", own.path.display()), own.digest.unwrap_or_else(unknown))),
    );
    if let Some(root) = &request.root {
        // Nodes see it under one path everywhere, and start there.
        facts.insert("the root of --root".into(), digest_of_folder("--root", &root.folder)?);
        facts.insert("the folder in it".into(), root.start.display().to_string());
    }
    let beside = request.lab_file.parent().unwrap_or(Path::new(""));
    facts.extend(plan.files.iter().map(|name| (format!("the file {}", name.display()), digest(&beside.join(name)))));
    Ok(facts)
}

/// Whether nodes are in namespaces here, or in none.
fn namespaces_here(plan: &Plan) -> &'static str {
    match bare::namespaces(plan) {
        Namespaces::Needed | Namespaces::IfAllowed => "where they are allowed",
        Namespaces::Unwanted => "none",
    }
}

fn digest_of_bytes(bytes: &[u8]) -> Option<String> {
    let mut all = Hashing::new(bytes);
    io::copy(&mut all, &mut io::sink()).ok()?;
    Some(all.finish().0.to_string())
}

/// Returns the same of its images, which are known only when they have been found. An image that is a folder counts with all that is in it.
///
/// # Errors
/// If something in such a folder cannot be read.
pub fn image_facts(plan: &Plan, images: &Images) -> Result<Vec<(String, String)>, RunError> {
    let origins = images.origins(plan);
    let mut folders: BTreeMap<&Path, String> = BTreeMap::new();
    let mut facts = Vec::new();
    for (place, node) in plan.nodes.iter().enumerate() {
        let Some((origin, found)) = origins.get(&node.name).zip(images.of(place)) else { continue };
        // The same image may have come here with another manifest, or with none.
        let known = match (origin.id.as_ref(), folders.get(found.root_folder())) {
            (Some(known), _) | (None, Some(known)) => known.clone(),
            (None, None) => {
                let digest = digest_of_folder("image", found.root_folder())?;
                folders.insert(found.root_folder(), digest.clone());
                digest
            }
        };
        facts.push((format!("the image of node `{}`", node.name), known));
    }
    Ok(facts)
}

fn digest_of_folder(what: &str, folder: &Path) -> Result<String, RunError> {
    let failed = |error| RunError::Machine(format!("{what}: comparing it with other parts of the lab: {error}"));
    Digest::of_folder(folder).map(|digest| digest.to_string()).map_err(failed)
}

/// Why a lab cannot be played in parts; none if it can.
pub fn cannot_be_parted(plan: &Plan) -> Option<String> {
    if plan.clock != Clock::Virtual {
        return Some("only virtual time is played in parts by --part: labs in real time are divided by `netloom split` and `netloom run --on`".into());
    }
    None
}
