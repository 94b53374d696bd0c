//! The command line of a virtual machine.

use crate::disk::Disk;
use crate::error::VmError;
use crate::qemu::Qemu;
use crate::trial::Acceleration;
use netloom_host::guest::frames::STATION;
use netloom_host::guest::vm::{FOLDER, LOADER, PROGRAM, STAYS, SWITCHES};
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
    /// What it boots.
    pub image: Image,
    /// The control device and the interfaces, in order.
    pub devices: Vec<Nic>,
}

/// What a virtual machine boots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// A Linux kernel.
    pub kernel: PathBuf,
    /// Its initial file system.
    pub initrd: PathBuf,
    /// Further words of the kernel's command line.
    pub append: String,
    /// Its disk, which is only read: what the machine writes is gone when it ends.
    pub disk: Option<Disk>,
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

impl Image {
    /// The command line of the kernel.
    pub(crate) fn command_line(&self, acceleration: &Acceleration) -> Result<String, VmError> {
        let clock = if acceleration.counts_by_timer() { BY_TIMER } else { "" };
        let names_root = self.append.split_ascii_whitespace().any(|word| word.starts_with("root="));
        let root = if names_root { SWITCHES } else { STAYS };
        let line = format!(
            "{} {clock}rdinit={FOLDER}/{LOADER} {} -- --library-path {FOLDER} {FOLDER}/{PROGRAM} vm-agent {root}",
            COMMON.join(" "),
            self.append
        );
        if line.len() > LONGEST_COMMAND_LINE {
            let room = self.append.len().saturating_sub(line.len() - LONGEST_COMMAND_LINE);
            return Err(VmError::Wrong(format!(
                "`append` is too long for a kernel's command line: {room} bytes are left"
            )));
        }
        Ok(line)
    }
}

impl Vm {
    /// The words behind QEMU's name. Relative paths count from a folder of the process's own; `initrd` has the agent in it.
    pub(crate) fn arguments(&self, qemu: &Qemu, initrd: &Path, monitor: &Path) -> Result<Vec<OsString>, VmError> {
        let mut all = Words::default();
        all.add("-name", joined(&["guest=".as_ref(), &escaped(OsStr::new(&self.name))]));
        all.flags(&["-nodefaults", "-no-user-config", "-no-reboot"]);
        all.add("-display", "none");
        all.add("-vga", "none");
        // It starts no programs and keeps no privileges, whatever a machine makes of it.
        all.add("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny");
        all.add("-machine", format!("q35,memory-backend=ram{}", qemu.acceleration.board()));
        all.add("-accel", qemu.acceleration.option());
        all.add("-cpu", qemu.acceleration.processor());
        all.add("-smp", self.processors.to_string());
        all.add("-m", format!("{}M", self.memory_mib));
        // Shared: the packet engine reads and writes frames where they are.
        all.add("-object", format!("memory-backend-memfd,id=ram,size={}M,share=on", self.memory_mib));
        all.add("-kernel", &self.image.kernel);
        all.add("-initrd", initrd);
        all.add("-append", self.image.command_line(&qemu.acceleration)?);
        all.add("-chardev", "stdio,id=console,signal=off");
        all.add("-serial", "chardev:console");
        all.add("-chardev", joined(&["socket,id=monitor,path=".as_ref(), &escaped(monitor.as_os_str())]));
        all.add("-mon", "chardev=monitor,mode=control");
        all.add("-device", "virtio-rng-pci");
        if let Some(disk) = &self.image.disk {
            all.add("-drive", drive(disk));
            all.add("-device", "virtio-blk-pci,drive=disk");
        }
        for (number, nic) in self.devices.iter().enumerate() {
            all.nic(number, nic, &qemu.acceleration);
        }
        Ok(all.0)
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
                 tx_queue_size={QUEUE}{interrupts}"
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
mod tests {
    use super::*;
    use crate::disk::Format;

    fn image() -> Image {
        Image { kernel: "/k".into(), initrd: "/i".into(), append: "quiet".into(), disk: None }
    }

    #[test]
    fn the_kernel_begins_with_the_agent() {
        let line = image().command_line(&Acceleration::Kvm).unwrap();
        assert!(
            line.contains(" rdinit=/netloom/ld quiet -- --library-path /netloom /netloom/netloom vm-agent stays"),
            "{line}"
        );
        let elsewhere = Image { append: "ro root=/dev/vda1".into(), ..image() };
        assert!(elsewhere.command_line(&Acceleration::Kvm).unwrap().ends_with(" switches"));
        let long =
            Image { append: "x".repeat(3000), ..image() }.command_line(&Acceleration::Kvm).unwrap_err().to_string();
        assert!(long.starts_with("`append` is too long for a kernel's command line: 1"), "{long}");
    }

    #[test]
    fn a_machine_that_is_slowed_has_no_clock_of_kvm() {
        let slowed = Acceleration::SlowedKvm { tsc_khz: 250_000 };
        assert!(image().command_line(&slowed).unwrap().contains(" clocksource=hpet tsc=unstable "));
        assert_eq!(slowed.processor(), "host,kvm=off,tsc-freq=250000000");
        assert_eq!(slowed.board(), ",kernel-irqchip=off");
        assert!(!image().command_line(&Acceleration::Kvm).unwrap().contains("hpet"));
    }

    #[test]
    fn commas_in_paths_stay_in_them() {
        let disk = Some(Disk { path: "/a,b.img".into(), format: Format::Qcow2 });
        let vm = Vm {
            name: "v".into(),
            memory_mib: 256,
            processors: 2,
            image: Image { disk, ..image() },
            devices: vec![Nic { socket: "../c".into(), mac: None }, Nic { socket: "../0".into(), mac: Some([2; 6]) }],
        };
        let (program, acceleration) = ("qemu".into(), Acceleration::Kvm);
        let qemu = Qemu { program, version: "7.2".into(), acceleration };
        let words = vm.arguments(&qemu, Path::new("../initrd"), Path::new("../q")).unwrap();
        let all = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        for part in [
            "-drive file=/a,,b.img,format=qcow2,if=none,id=disk,snapshot=on",
            "-chardev socket,id=c0,path=../c -netdev vhost-user,id=n0,chardev=c0",
            "netdev=n0,mac=0e:6e:6c:00:00:01,",
            "netdev=n1,mac=02:02:02:02:02:02,",
            "-m 256M -object memory-backend-memfd,id=ram,size=256M,share=on",
        ] {
            assert!(all.contains(part), "{part} in {all}");
        }
    }
}
