//! The beginning of a results folder: where it comes from, and of what. The plan follows, which is long in a large lab.

use crate::environment::{CONSTANT, inherited};
use crate::kernels::kernel_of;
use crate::preflight::programs_here;
use crate::shards::Sharing;
use crate::{MachineRoot, RunRequest, machine_files};
use netloom_guest::kernel::Kernel;
use netloom_guest::processor;
use netloom_image::Hashing;
use netloom_judge::RunError;
use netloom_lab::{Clock, KeyPlan, NodePlan, Plan};
use netloom_regular::{PRIVATE, Remembered};
use netloom_results::{
    Folder, ImageOrigin, NamedFile, NodeKernel, Origin, ProgramOrigin, Provenance, QemuOrigin, WriteError,
};
use netloom_units::CpuLevel;
use netloom_vm::{Acceleration, Qemu};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What has this many bytes takes longer to read than to look up.
const LARGE: u64 = 1 << 20;

/// Provenance comes first, then the lab file word for word and the files that it names. The
/// `clock` is the one that is really used, and `kernel` is what kernel nodes run on, `qemu` what virtual machines do; `mode` is the command that was given.
pub fn results_folder(
    request: &RunRequest,
    mode: &'static str,
    clock: Clock,
    kernel: Option<Kernel>,
    (qemu, images): (Option<&Qemu>, BTreeMap<String, ImageOrigin>),
) -> Result<Folder, WriteError> {
    let started = SystemTime::now();
    let RunRequest { plan, lab_file, lab_text, results, .. } = request;
    let folder = Folder::create(results, request.own_name(), started)?;
    let files = NamedFile::find(lab_file.parent().unwrap_or(Path::new("")), &plan.files)?;
    let mut origin = origin_here(request, mode, clock, kernel);
    origin.qemu = qemu.map(qemu_origin);
    origin.images = images;
    origin.files.clone_from(&files);
    origin.started = started;
    folder.write_json("provenance.json", &Provenance::gather(&origin))?;
    folder.write("lab.yaml", lab_text)?;
    folder.keep(lab_file, lab_text, &files)?;
    if plan.nodes.iter().any(has_key_as_text) {
        let copy = Path::new("files").join(lab_file.file_name().unwrap_or_default());
        let copies = [Path::new("lab.yaml"), &copy].map(|name| folder.path().join(name));
        for path in copies.iter().filter(|path| path.is_file()) {
            fs::set_permissions(path, Permissions::from_mode(PRIVATE)).map_err(WriteError::file(path))?;
        }
    }
    folder.write("hosts", plan.hosts(&[]))?;
    Ok(folder)
}

/// Whether the lab file has the key of a tunnel: nobody else is to read it.
fn has_key_as_text(node: &NodePlan) -> bool {
    node.tunnel.as_ref().is_some_and(|tunnel| matches!(tunnel.key, Some(KeyPlan::Bytes(_))))
}

/// Gathers the provenance of a run that would begin now, without its images, its virtual machines and its files.
///
/// # Errors
/// If there is no kernel for its kernel nodes.
pub fn provenance_here(request: &RunRequest) -> Result<Provenance, RunError> {
    let kernel = kernel_of(&request.plan, request.kernel.as_deref())?;
    Ok(Provenance::gather(&origin_here(request, "run", request.plan.clock, kernel)))
}

fn origin_here(request: &RunRequest, mode: &'static str, clock: Clock, kernel: Option<Kernel>) -> Origin {
    let RunRequest { plan, lab_file, command_line, .. } = request;
    Origin {
        mode,
        lab: plan.name.clone(),
        lab_file: absolute(lab_file),
        seed: plan.seed.get(),
        clock,
        on_spin: plan.on_spin,
        environment: &CONSTANT,
        inherited: inherited(plan),
        processor_level: processor::of_this_machine().map(CpuLevel::name),
        node_kernel: kernel.map(node_kernel),
        qemu: None,
        images: BTreeMap::new(),
        programs: programs(plan, request.root.as_ref()),
        precision: plan.precision.name(),
        shards: (clock != Clock::Virtual).then(|| Sharing::here(plan).count()),
        command_line: command_line.clone(),
        files: Vec::new(),
        started: SystemTime::now(),
    }
}

fn qemu_origin(qemu: &Qemu) -> QemuOrigin {
    let why = match &qemu.acceleration {
        Acceleration::Kvm | Acceleration::SlowedKvm { .. } => None,
        Acceleration::Tcg(why) => Some(why.clone()),
    };
    QemuOrigin {
        path: qemu.program.clone(),
        version: qemu.version.clone(),
        accelerator: qemu.acceleration.name(),
        without_kvm: why,
        digest: digest_of(&qemu.program),
    }
}

fn node_kernel(kernel: Kernel) -> NodeKernel {
    let Kernel { path, version, own_build, config_hash, day, .. } = kernel;
    let digest = digest_of(&path);
    NodeKernel { path, version, own_build, config_hash, built: day.map(|day| day.to_string()), digest }
}

/// The programs of this machine that nodes run, as far as the lab file says which.
pub(crate) fn programs(plan: &Plan, root: Option<&MachineRoot>) -> Vec<ProgramOrigin> {
    let found: BTreeSet<(String, PathBuf)> = programs_here(plan, root).collect();
    let digest = |path: &Path| root.map_or_else(|| digest_of(path), |root| machine_files::digest(root, path));
    let origin = |(name, path): (String, PathBuf)| ProgramOrigin { name, digest: digest(&path), path };
    found.into_iter().map(origin).collect()
}

/// Returns the digest of a file, None if it cannot be read. Those of large files are remembered.
pub(crate) fn digest_of(path: &Path) -> Option<String> {
    let find = || {
        let mut file = Hashing::new(netloom_regular::open(path)?);
        io::copy(&mut file, &mut io::sink())?;
        Ok::<_, io::Error>(file.finish().0.to_string())
    };
    let is_large = fs::metadata(path).is_ok_and(|about| about.len() >= LARGE);
    if is_large { Remembered::named("digests").of(path, find).ok() } else { find().ok() }
}

/// Returns the absolute path of a file, without links; the same path if there is no such file.
pub fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
