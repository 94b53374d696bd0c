//! The command line of a virtual machine.

use crate::disk::Disk;
use crate::error::VmError;
use crate::firmware::Firmware;
use crate::guest_agent;
use crate::qemu::Qemu;
use crate::trial::Acceleration;
use netloom_host::guest::DISK_SERIAL;
use netloom_host::guest::frames::STATION;
use netloom_host::guest::vm::{self, FOLDER, LOADER, PROGRAM, STAYS, SWITCHES};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The longest command line that a kernel of this processor takes (`COMMAND_LINE_SIZE` of arch/x86, less the final zero).
const LONGEST_COMMAND_LINE: usize = 2047;

/// Entries of a port's queues, as many as vhost-user allows: a train of 64 KiB may take 43 of them.
const QUEUE: u32 = 1024;

/// A virtual machine to be started.
#[derive(Clone, Debug)]
pub struct Vm {
    /// The node's name.
    pub name: String,
    /// Its memory, in MiB.
    pub memory_mib: u64,
    /// Its processors.
    pub processors: u32,
    /// The image that it boots.
    pub image: Image,
    /// The control device and the interfaces, in order.
    pub devices: Vec<Nic>,
    /// The network cards of this machine that it gets whole, by their PCI addresses.
    pub cards: Vec<String>,
}

/// The image that a virtual machine boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// How it begins.
    pub begin: Begin,
    /// Its disk, which is only read: what the machine writes is gone when it ends.
    pub disk: Option<Disk>,
}

/// How a virtual machine begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    /// With this kernel.
    Kernel {
        /// A Linux kernel.
        kernel: PathBuf,
        /// Its initial file system.
        initrd: PathBuf,
        /// Further words of the kernel's command line.
        append: String,
    },
    /// With what its disk has, which this firmware looks for.
    Disk(Firmware, Access),
}

/// How the lab gets into a system that boots from its own disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// By the agent, which cloud-init or QEMU's guest agent starts there. The keys may log in by SSH.
    Agent {
        /// Public keys, as `authorized_keys` has them.
        ssh_keys: Vec<String>,
    },
    /// Not at all.
    None,
}

/// What is made for a machine, as it finds it from its own folder.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The initial file system with the agent.
    pub(crate) initrd: PathBuf,
    /// The disk for cloud-init.
    pub(crate) seed: PathBuf,
    /// The disk with the agent, which all machines of a lab have.
    pub(crate) agent: PathBuf,
    /// The sockets of its monitor and of its guest agent.
    pub(crate) monitor: PathBuf,
    pub(crate) guest_agent: PathBuf,
    /// The socket of the disk that the lab gives it; none without one.
    pub(crate) disk: Option<PathBuf>,
}

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nic {
    /// The socket of its port (vhost-user).
    pub socket: PathBuf,
    /// Its hardware address; none for the agent's own device.
    pub mac: Option<[u8; 6]>,
}

/// What every kernel gets to read.
const COMMON: [&str; 6] = [
    // The log of the results.
    "console=ttyS0",
    // The names that the kernel gives, until the agent gives those of the lab file.
    "net.ifnames=0",
    // A kernel that panics resets the machine, which ends it.
    "panic=-1",
    // What QEMU offers is as good as there is.
    "random.trust_cpu=on",
    // A packet that was sent waits in the pipe's queue, not in the node, as behind a veth pair.
    "virtio_net.napi_tx=0",
    // A machine whose processor is shared or translated may see its first timers late.
    "no_timer_check",
];

/// What a kernel whose processor is translated gets to read, too: on a busy machine it mistakes the frequency of the processor's own
/// counter, by a factor of three once, and its clock would run as much too fast. QEMU's timer (HPET) is exact, in dilated time, too.
const BY_TIMER: &str = "clocksource=hpet tsc=unstable ";

/// The command line of a kernel.
fn command_line(append: &str, acceleration: &Acceleration) -> Result<String, VmError> {
    let clock = if acceleration.counts_by_timer() { BY_TIMER } else { "" };
    let names_root = append.split_ascii_whitespace().any(|word| word.starts_with("root="));
    let root = if names_root { SWITCHES } else { STAYS };
    let line = format!(
        "{} {clock}rdinit={FOLDER}/{LOADER} {} -- --library-path {FOLDER} {FOLDER}/{PROGRAM} vm-agent {root}",
        COMMON.join(" "),
        append
    );
    if line.len() > LONGEST_COMMAND_LINE {
        let room = append.len().saturating_sub(line.len() - LONGEST_COMMAND_LINE);
        return Err(VmError::Wrong(format!("`append` is too long for a kernel's command line: {room} bytes are left")));
    }
    Ok(line)
}

/// The machine sees errors of the disk, and is offered only requests that the disk knows.
const REPORTS: &str = "werror=report,rerror=report,discard=off,write-zeroes=off";

impl Vm {
    /// The words behind QEMU's name. Relative paths count from a folder of the process's own. `is_slowed`: all clocks of QEMU are.
    pub(crate) fn arguments(&self, qemu: &Qemu, made: &Made, is_slowed: bool) -> Result<Vec<OsString>, VmError> {
        let mut all = Words::default();
        all.add("-name", joined(&["guest=".as_ref(), &escaped(OsStr::new(&self.name))]));
        all.flags(&["-nodefaults", "-no-user-config", "-no-reboot"]);
        all.add("-display", "none");
        all.add("-vga", "none");
        // It starts no programs and keeps no privileges, whatever a machine makes of it.
        all.add("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny");
        all.add("-machine", format!("q35,memory-backend=ram{}", qemu.acceleration.board()));
        all.add("-accel", qemu.acceleration.option());
        all.add("-cpu", self.processor(&qemu.acceleration, is_slowed));
        all.add("-smp", self.processors.to_string());
        all.add("-m", format!("{}M", self.memory_mib));
        // Shared: the packet engine reads and writes frames where they are.
        all.add("-object", format!("memory-backend-memfd,id=ram,size={}M,share=on", self.memory_mib));
        match &self.image.begin {
            Begin::Kernel { kernel, append, .. } => {
                all.add("-kernel", kernel);
                all.add("-initrd", &made.initrd);
                all.add("-append", command_line(append, &qemu.acceleration)?);
            }
            Begin::Disk(firmware, _) => all.firmware(firmware),
        }
        all.add("-chardev", "stdio,id=console,signal=off");
        all.add("-serial", "chardev:console");
        all.add("-chardev", joined(&["socket,id=monitor,path=".as_ref(), &escaped(made.monitor.as_os_str())]));
        all.add("-mon", "chardev=monitor,mode=control");
        all.add("-device", "virtio-rng-pci");
        if let Some(disk) = &self.image.disk {
            all.add("-drive", drive(disk));
            // A kernel that is given comes first by itself.
            let first = if matches!(self.image.begin, Begin::Disk(..)) { ",bootindex=0" } else { "" };
            all.add("-device", format!("virtio-blk-pci,drive=disk{first}"));
        }
        if let Begin::Disk(_, Access::Agent { .. }) = &self.image.begin {
            all.read_only("seed", &made.seed, "netloom-seed");
            all.read_only("agent", &made.agent, vm::DISK);
            let socket = joined(&["socket,id=guest-agent,path=".as_ref(), &escaped(made.guest_agent.as_os_str())]);
            all.add("-chardev", socket);
            all.add("-device", "virtio-serial-pci");
            let (port, device) = (guest_agent::PORT, guest_agent::DEVICE);
            all.add("-device", format!("virtserialport,chardev=guest-agent,name={port},id={device}"));
        }
        made.disk.iter().for_each(|socket| all.served(socket));
        for (number, nic) in self.devices.iter().enumerate() {
            all.nic(number, nic, &qemu.acceleration);
        }
        for card in &self.cards {
            all.add("-device", format!("vfio-pci,host={card}"));
        }
        Ok(all.0)
    }

    /// A system that boots its own disk chooses its clock itself. What QEMU translates counts this machine's time in its counter (TSC),
    /// which nobody slows, so in slowed time there is none: whatever clock the system finds is one of QEMU's.
    fn processor(&self, acceleration: &Acceleration, is_slowed: bool) -> String {
        let own = matches!((&self.image.begin, acceleration), (Begin::Disk(..), Acceleration::Tcg(_)));
        format!("{}{}", acceleration.processor(), if own && is_slowed { ",-tsc" } else { "" })
    }
}

/// What is written goes to a file without a name in the process's own folder. A machine that finds no room there stops, which its
/// monitor tells, instead of seeing a broken disk.
fn drive(disk: &Disk) -> OsString {
    let end = format!(",format={},if=none,id=disk,snapshot=on,cache=unsafe,werror=stop", disk.format.name());
    joined(&["file=".as_ref(), &escaped(disk.path.as_os_str()), end.as_ref()])
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, option: &str, value: impl Into<OsString>) {
        self.0.extend([option.into(), value.into()]);
    }

    fn flags(&mut self, options: &[&str]) {
        self.0.extend(options.iter().map(OsString::from));
    }

    fn firmware(&mut self, firmware: &Firmware) {
        let Firmware::Uefi { code, variables } = firmware else { return };
        let flash = |path: &Path, rest: &str| {
            joined(&["if=pflash,format=raw,file=".as_ref(), &escaped(path.as_os_str()), rest.as_ref()])
        };
        self.add("-drive", flash(code, ",unit=0,readonly=on"));
        self.add("-drive", flash(variables, ",unit=1,snapshot=on"));
    }

    /// A disk that the machine knows by its serial number.
    fn read_only(&mut self, id: &str, path: &Path, serial: &str) {
        let file = escaped(path.as_os_str());
        let rest = format!(",format=raw,if=none,id={id},readonly=on");
        self.add("-drive", joined(&["file=".as_ref(), &file, rest.as_ref()]));
        self.add("-device", format!("virtio-blk-pci,drive={id},serial={serial}"));
    }

    /// The disk of the lab, none of which is in a cache of QEMU's. The machine itself sees what fails.
    fn served(&mut self, socket: &Path) {
        let path = escaped(socket.as_os_str());
        self.add("-blockdev", joined(&["driver=nbd,node-name=lab,server.type=unix,server.path=".as_ref(), &path]));
        self.add("-device", format!("virtio-blk-pci,drive=lab,serial={DISK_SERIAL},{REPORTS}"));
    }

    fn nic(&mut self, number: usize, nic: &Nic, acceleration: &Acceleration) {
        let socket = format!("socket,id=c{number},path=");
        self.add("-chardev", joined(&[socket.as_ref(), &escaped(nic.socket.as_os_str())]));
        self.add("-netdev", format!("vhost-user,id=n{number},chardev=c{number}"));
        let mac = nic.mac.unwrap_or(STATION).map(|byte| format!("{byte:02x}")).join(":");
        // QEMU 7.2.22 dies of a null pointer when a machine that it translates uses interrupts by message (MSI-X) of such a device.
        let interrupts = if acceleration.name() == "kvm" { "" } else { ",vectors=0" };
        // Without the firmware's driver, which would boot from the lab's network.
        self.add(
            "-device",
            format!(
                "virtio-net-pci,netdev=n{number},mac={mac},romfile=,disable-legacy=on,rx_queue_size={QUEUE},\
                 tx_queue_size={QUEUE},speed=10000,duplex=full{interrupts}"
            ),
        );
    }
}

fn joined(parts: &[&OsStr]) -> OsString {
    parts.iter().copied().collect()
}

/// In values of QEMU's options, a comma is written twice.
fn escaped(value: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = value.as_bytes().iter().flat_map(|byte| if *byte == b',' { vec![b',', b','] } else { vec![*byte] });
    OsString::from_vec(bytes.collect())
}

#[cfg(test)]
mod tests;
