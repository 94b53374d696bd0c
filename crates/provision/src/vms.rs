//! The virtual machines of a lab: what they need of this machine, and how the plan's become those that run.

use crate::job::Job;
use crate::resource::{Ground, Opening, Resource};
use netloom_guest::disk::Disk as LabDisk;
use netloom_guest::node::{KernelNode, SocketChannel};
use netloom_host::node::{NodeConfig, NodeError};
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Clock, DiskFormat, NodePlan, Plan, VmAccess, VmBegin, VmFirmware, VmPlan};
use netloom_units::Dilation;
use netloom_vm::{
    Access, Begin, Devices, Disk, Firmware, Format, Image, Nic, Place, Prepared, Qemu, Vm, VmError, check_memory,
};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The QEMU of a lab's virtual machines.
#[derive(Default)]
pub struct Machines {
    /// The QEMU that was found; none without virtual machines.
    pub qemu: Option<Qemu>,
}

impl Resource for Machines {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        here(plan, lab_file)
    }

    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::Stacks {
            self.qemu = find(ground.plan, ground.lab_file)?;
        }
        Ok(())
    }
}

/// Describes the QEMU on this machine for `netloom check`; none for a plan without virtual machines.
///
/// # Errors
/// In words, what is wrong on this machine with the virtual machines of a plan, each with file, line and key.
fn here(plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
    let Some(first) = described(plan).next() else { return Ok(None) };
    let mut problems = missing_files(plan, lab_file);
    problems.extend(missing_cards(plan, lab_file));
    match Qemu::find(slowed(plan)) {
        Ok(qemu) if problems.is_empty() => return Ok(Some(words(&qemu) + &of_disks(plan))),
        Ok(_) => {}
        Err(error) => problems.push(at(lab_file, first, None, &error)),
    }
    Err(problems)
}

/// The QEMU that the virtual machines of a plan run on; none for a plan without them. Refuses what cannot be had here.
fn find(plan: &Plan, lab_file: &Path) -> Result<Option<Qemu>, RunError> {
    let Some(first) = described(plan).next() else { return Ok(None) };
    let problems = missing_files(plan, lab_file);
    if !problems.is_empty() {
        return Err(RunError::Reported { code: ExitCode::LabFile, message: problems.join("\n") });
    }
    let cards = missing_cards(plan, lab_file);
    if !cards.is_empty() {
        return Err(RunError::Machine(cards.join("\n")));
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

/// What the machines boot that boot their own disks, and how commands get in: a line for each.
fn of_disks(plan: &Plan) -> String {
    let line = |(node, vm): (&NodePlan, &VmPlan)| {
        let VmBegin::Disk { firmware, access, .. } = &vm.begin else { return None };
        let firmware = firmware_of(*firmware).map_or_else(|error| error.to_string(), |firmware| firmware.name());
        let access = match access {
            VmAccess::Agent => "commands by netloom's agent, which cloud-init or QEMU's guest agent starts",
            VmAccess::None => "no commands, and it configures its interfaces by itself",
        };
        Some(format!("\n  {}: boots its disk by {firmware}; {access}", node.name))
    };
    described(plan).filter_map(line).collect()
}

fn firmware_of(firmware: VmFirmware) -> Result<Firmware, VmError> {
    match firmware {
        VmFirmware::Bios => Ok(Firmware::Bios),
        VmFirmware::Uefi => Firmware::uefi(),
    }
}

/// The public keys of a file as `authorized_keys` has them (sshd(8)); what is wrong with it, in words.
fn ssh_keys(path: Option<&Path>) -> Result<Vec<String>, String> {
    /// Such files have some hundred bytes a key.
    const MOST: u64 = 1 << 20;
    let Some(path) = path else { return Ok(Vec::new()) };
    let refused = |error: std::io::Error| format!("read {}: {error}", path.display());
    let text = netloom_regular::read_text(path, MOST).map_err(|error| match netloom_regular::is_refused(&error) {
        true => format!("{} is no file", path.display()),
        false => refused(error),
    })?;
    if text.contains("PRIVATE KEY") {
        return Err(format!("{} holds a private key: write the file of the public one, .pub", path.display()));
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let keys: Vec<String> = lines.map(str::to_owned).collect();
    let is_key = |line: &String| line.split_ascii_whitespace().any(|word| word.starts_with("AAAA"));
    match keys.iter().find(|line| !is_key(line)) {
        None if keys.is_empty() => Err(format!("{} holds no public key", path.display())),
        None => Ok(keys),
        Some(_) => Err(format!("{} is no file of public keys, as ssh-keygen makes it", path.display())),
    }
}

fn begin_of(vm: &VmPlan) -> Result<Begin, String> {
    Ok(match &vm.begin {
        VmBegin::Kernel { kernel, initrd, append } => {
            Begin::Kernel { kernel: absolute(kernel), initrd: absolute(initrd), append: append.clone() }
        }
        VmBegin::Disk { firmware, access, ssh_key } => {
            let access = match access {
                VmAccess::Agent => Access::Agent { ssh_keys: ssh_keys(ssh_key.as_deref())? },
                VmAccess::None => Access::None,
            };
            Begin::Disk(firmware_of(*firmware).map_err(|error| error.to_string())?, access)
        }
    })
}

/// Why no command runs in a node, if so.
pub fn without_commands(node: &NodePlan) -> Option<String> {
    let (name, kind) = (&node.name, node.kind);
    match (kind.runs_programs(), node.takes_commands()) {
        (_, true) => None,
        (true, false) => Some(format!("netloom does not get into the virtual machine `{name}` (`access: none`)")),
        (false, false) => Some(format!("`{name}` is a {} and runs no programs", kind.title())),
    }
}

fn described(plan: &Plan) -> impl Iterator<Item = (&NodePlan, &VmPlan)> {
    plan.nodes.iter().filter_map(|node| Some((node, node.vm.as_ref()?)))
}

/// The files of virtual machines that cannot be read.
fn missing_files(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let of_vm = |place: (&NodePlan, &VmPlan)| {
        let readable = |key, path: &Path| {
            let opened = netloom_regular::open(path).map_err(|error| match netloom_regular::is_refused(&error) {
                true => std::io::Error::other("it is no file"),
                false => error,
            });
            let what = opened.err()?;
            Some(at(lab_file, place, Some(key), &format_args!("open {}: {what}", path.display())))
        };
        let disk = disk_of(place.1).and_then(|disk| disk.check().err());
        let disk = disk.map(|error| at(lab_file, place, Some("disk"), &error));
        let others = match &place.1.begin {
            VmBegin::Kernel { kernel, initrd, .. } => [readable("kernel", kernel), readable("initrd", initrd)],
            VmBegin::Disk { firmware, ssh_key, .. } => {
                let keys = ssh_keys(ssh_key.as_deref()).err();
                let firmware = firmware_of(*firmware).err();
                [
                    firmware.map(|error| at(lab_file, place, Some("firmware"), &error)),
                    keys.map(|what| at(lab_file, place, Some("ssh_key"), &what)),
                ]
            }
        };
        others.into_iter().chain([disk]).flatten().collect::<Vec<_>>()
    };
    described(plan).flat_map(of_vm).collect()
}

/// The network cards that machines cannot have.
fn missing_cards(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let of_vm = |place: (&NodePlan, &VmPlan)| {
        let (cards, memory_mib) = (&place.1.passthrough, place.1.memory.get() >> 20);
        let memory = if cards.is_empty() { Ok(()) } else { check_memory(memory_mib) };
        let checked = cards.iter().map(|card| Devices::default().check(card)).chain([memory]);
        checked.filter_map(|check| Some(at(lab_file, place, Some("passthrough"), &check.err()?))).collect::<Vec<_>>()
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

/// Starts the virtual machine of the node at this place, which has crashed so often, and whose agent's frames come over `end`. `lab_disk`: the one beside that of its image.
pub(crate) fn start(
    prepared: &Prepared,
    job: &Job,
    (number, crashes, config): (usize, u64, &NodeConfig),
    (folder, lab_disk): (&Path, Option<&LabDisk>),
    end: OwnedFd,
) -> Result<KernelNode, NodeError> {
    let node = &job.plan.nodes[number];
    let described = node.vm.as_ref().expect("only virtual machines are started here");
    let interfaces = node.interfaces.iter().enumerate();
    let nics =
        interfaces.map(|(place, interface)| Nic { socket: format!("../{place}").into(), mac: Some(interface.mac) });
    let begin = begin_of(described).map_err(|what| NodeError::Kernel { node: node.name.clone(), what })?;
    // Nobody serves the agent's device in a machine that has no agent.
    let own = node.takes_commands().then(|| Nic { socket: "../c".into(), mac: None });
    let vm = Vm {
        name: node.name.clone(),
        memory_mib: described.memory.get() >> 20,
        processors: described.cpus,
        image: Image { begin, disk: disk_of(described) },
        cards: described.passthrough.clone(),
        devices: own.into_iter().chain(nics).collect(),
    };
    let place = Place {
        folder: folder.to_owned(),
        console: job.folder.path().join(match crashes {
            0 => format!("logs/console-{}.log", node.name),
            more => format!("logs/console-{}-{more}.log", node.name),
        }),
        processors: config.processors.clone(),
        cgroup: config.cgroup.clone(),
    };
    netloom_vm::start(prepared, (&vm, lab_disk), &place, Box::new(SocketChannel::new(end)))
}
