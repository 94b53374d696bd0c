//! The virtual machines of a lab: what they need of this machine, and how the plan's become those that run.

use crate::job::Job;
use netloom_guest::node::{KernelNode, SocketChannel};
use netloom_host::node::{NodeConfig, NodeError};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Clock, DiskFormat, NodePlan, Plan, VmPlan};
use netloom_units::Dilation;
use netloom_vm::{Disk, Format, Image, Nic, Place, Prepared, Qemu, Vm};
use std::fmt;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What `netloom check` says of the QEMU here; none for a plan without virtual machines.
///
/// # Errors
/// In words, what is wrong on this machine with the virtual machines of a plan, each with file, line and key.
pub fn vms_here(plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
    let Some(first) = described(plan).next() else { return Ok(None) };
    let mut problems = missing_files(plan, lab_file);
    match Qemu::find(slowed(plan)) {
        Ok(qemu) if problems.is_empty() => return Ok(Some(words(&qemu))),
        Ok(_) => {}
        Err(error) => problems.push(at(lab_file, first, None, &error)),
    }
    Err(problems)
}

/// The QEMU that the virtual machines of a plan run on; none for a plan without them. Refuses what cannot be had here.
pub(crate) fn find(plan: &Plan, lab_file: &Path) -> Result<Option<Qemu>, RunError> {
    let Some(first) = described(plan).next() else { return Ok(None) };
    let problems = missing_files(plan, lab_file);
    if !problems.is_empty() {
        return Err(RunError::Reported { code: ExitCode::LabFile, message: problems.join("\n") });
    }
    Qemu::find(slowed(plan)).map(Some).map_err(|error| RunError::Machine(at(lab_file, first, None, &error)))
}

/// How much the time of a plan's machines is slowed; none in real time.
fn slowed(plan: &Plan) -> Option<Dilation> {
    plan.clock.dilation().filter(|_| plan.clock != Clock::Real)
}

/// A QEMU in words.
pub(crate) fn words(qemu: &Qemu) -> String {
    format!("QEMU {}, instructions executed {}", qemu.version, qemu.acceleration)
}

fn described(plan: &Plan) -> impl Iterator<Item = (&NodePlan, &VmPlan)> {
    plan.nodes.iter().filter_map(|node| Some((node, node.vm.as_ref()?)))
}

/// The files of virtual machines that cannot be read.
fn missing_files(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let of_vm = |place: (&NodePlan, &VmPlan)| {
        let readable = |key, path: &Path| {
            let opened = File::open(path).and_then(|file| {
                let is_file = file.metadata()?.is_file();
                is_file.then_some(()).ok_or_else(|| std::io::Error::other("it is no file"))
            });
            let what = opened.err()?;
            Some(at(lab_file, place, Some(key), &format_args!("open {}: {what}", path.display())))
        };
        let disk = disk_of(place.1).and_then(|disk| disk.check().err());
        let disk = disk.map(|error| at(lab_file, place, Some("disk"), &error));
        [readable("kernel", &place.1.kernel), readable("initrd", &place.1.initrd), disk]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    described(plan).flat_map(of_vm).collect()
}

fn at(lab_file: &Path, (node, vm): (&NodePlan, &VmPlan), key: Option<&str>, what: &dyn fmt::Display) -> String {
    let key = key.map_or_else(String::new, |key| format!(".{key}"));
    format!("{}:{}: nodes.{}.vm{key}: {what}", lab_file.display(), vm.line, node.name)
}

fn disk_of(vm: &VmPlan) -> Option<Disk> {
    let format = match vm.format {
        DiskFormat::Qcow2 => Format::Qcow2,
        DiskFormat::Raw => Format::Raw,
    };
    Some(Disk { path: absolute(vm.disk.as_ref()?), format })
}

/// A virtual machine runs in a folder of its own.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Starts the virtual machine of the node at this place, whose agent's frames come over `end`.
pub(crate) fn start(
    prepared: &Prepared,
    job: &Job,
    number: usize,
    config: &NodeConfig,
    folder: &Path,
    end: OwnedFd,
) -> Result<KernelNode, NodeError> {
    let node = &job.plan.nodes[number];
    let described = node.vm.as_ref().expect("only virtual machines are started here");
    let interfaces = node.interfaces.iter().enumerate();
    let nics =
        interfaces.map(|(place, interface)| Nic { socket: format!("../{place}").into(), mac: Some(interface.mac) });
    let vm = Vm {
        name: node.name.clone(),
        memory_mib: described.memory.get() >> 20,
        processors: described.cpus,
        image: Image {
            kernel: absolute(&described.kernel),
            initrd: absolute(&described.initrd),
            append: described.append.clone(),
            disk: disk_of(described),
        },
        devices: std::iter::once(Nic { socket: "../c".into(), mac: None }).chain(nics).collect(),
    };
    let place = Place {
        folder: folder.to_owned(),
        console: job.folder.path().join(format!("logs/console-{}.log", node.name)),
        processors: config.processors.clone(),
        cgroup: config.cgroup.clone(),
    };
    netloom_vm::start(prepared, &vm, &place, Box::new(SocketChannel::new(end)))
}
