//! Whether virtual machines can have this machine's processor to themselves: tried, not concluded from a file that exists.

use nix::errno::Errno;
use nix::unistd::Group;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Where the kernel offers it.
const DEVICE: &str = "/dev/kvm";
// Linux, include/uapi/linux/kvm.h: `_IO(0xae, 0)` and `_IO(0xae, 1)`.
const GET_API_VERSION: libc::Ioctl = 0xae00;
const CREATE_VM: libc::Ioctl = 0xae01;
/// The only version there will be; programs should refuse to run with another (Linux, Documentation/virt/kvm/api.rst).
const API_VERSION: i32 = 12;

/// What became of the trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kvm {
    /// A virtual machine was made, and is gone again.
    Works,
    /// There is no such device.
    None,
    /// There is one, and it does not serve.
    Fails {
        /// What was attempted, and the kernel's answer.
        why: String,
        /// What to change.
        change: String,
    },
}

/// Whose the device is, and who may use it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Permissions {
    mode: u32,
    /// The group's name, or its number if it has none.
    group: String,
}

/// Makes a virtual machine and lets it go.
pub(super) fn attempt() -> Kvm {
    attempt_with(Path::new(DEVICE))
}

fn attempt_with(device: &Path) -> Kvm {
    let name = device.display();
    let opened = match File::options().read(true).write(true).open(device) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Kvm::None,
        Err(error) => {
            let (why, change) = refused(&name.to_string(), &error, permissions(device).as_ref());
            return Kvm::Fails { why, change };
        }
    };
    // SAFETY: the descriptor is open, and the request takes no argument.
    match unsafe { libc::ioctl(opened.as_raw_fd(), GET_API_VERSION, 0) } {
        API_VERSION => {}
        -1 => return failed(&name.to_string(), "asking it for its version", &io::Error::last_os_error()),
        other => {
            let why = format!("{name} is of version {other}, and programs want {API_VERSION}");
            return Kvm::Fails { why, change: "use another kernel".into() };
        }
    }
    // SAFETY: as above; zero is the machine's default kind of virtual machine.
    let machine = unsafe { libc::ioctl(opened.as_raw_fd(), CREATE_VM, 0) };
    if machine == -1 {
        return failed(&name.to_string(), "making a virtual machine", &io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given us this descriptor; closing it ends the virtual machine.
    drop(unsafe { OwnedFd::from_raw_fd(machine) });
    Kvm::Works
}

fn permissions(device: &Path) -> Option<Permissions> {
    let found = device.metadata().ok()?;
    let named = Group::from_gid(found.gid().into()).ok().flatten().map(|group| group.name);
    Some(Permissions { mode: found.mode() & 0o777, group: named.unwrap_or_else(|| found.gid().to_string()) })
}

/// Why the device could not be opened, and what to change. Pure.
fn refused(device: &str, error: &io::Error, permissions: Option<&Permissions>) -> (String, String) {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let why = format!("{device} is there, but opening it: {}", errno.desc());
    match (errno, permissions) {
        (Errno::EACCES, Some(Permissions { mode, group })) => {
            let (is_for_group, is_of_root) = (mode & 0o060 == 0o060, group == "root");
            let change = if is_for_group && !is_of_root {
                format!("sudo usermod -aG {group} $USER    # and log in again")
            } else {
                format!(
                    "sudo chgrp kvm {device} && sudo chmod 660 {device} && sudo usermod -aG kvm $USER    # and log in again"
                )
            };
            (format!("{why}; it is for {}", whom(*mode, group)), change)
        }
        (Errno::EPERM, _) => (why, format!("start the container with --device {device}")),
        (Errno::ENODEV | Errno::ENXIO, _) => (
            why,
            "sudo modprobe kvm_intel || sudo modprobe kvm_amd    # if virtualization is on in the firmware".into(),
        ),
        _ => (why, format!("see what `dmesg | grep -i kvm` says about {device}")),
    }
}

fn whom(mode: u32, group: &str) -> String {
    if mode & 0o060 == 0o060 { format!("root and the group {group}") } else { "root alone".into() }
}

fn failed(device: &str, what: &str, error: &io::Error) -> Kvm {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let change = match errno {
        Errno::EBUSY => "end the other hypervisor that has the processor, for example VirtualBox".to_owned(),
        Errno::ENOTTY => format!("ls -l {device}    # it should be a character device, 10, 232"),
        _ => "see what `dmesg | grep -i kvm` says".to_owned(),
    };
    Kvm::Fails { why: format!("{device} opens, but {what}: {}", errno.desc()), change }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(errno: Errno, mode: u32, group: &str) -> (String, String) {
        let permissions = Permissions { mode, group: group.into() };
        refused("/dev/kvm", &io::Error::from(errno), Some(&permissions))
    }

    #[test]
    fn a_device_that_is_not_there_is_none() {
        assert_eq!(attempt_with(Path::new("/dev/there-is-no-such-device")), Kvm::None);
    }

    #[test]
    fn a_device_that_is_no_kvm_fails_with_the_kernels_answer() {
        let Kvm::Fails { why, change } = attempt_with(Path::new("/dev/null")) else { panic!("it is no KVM") };
        assert!(why.starts_with("/dev/null opens, but asking it for its version: "), "{why}");
        assert!(change.contains("character device"), "{change}");
    }

    #[test]
    fn users_who_may_not_open_it_are_told_the_group() {
        let (why, change) = told(Errno::EACCES, 0o660, "kvm");
        assert!(why.ends_with("Permission denied; it is for root and the group kvm"), "{why}");
        assert!(change.starts_with("sudo usermod -aG kvm $USER"), "{change}");
        let (_, other) = told(Errno::EACCES, 0o660, "virtualizers");
        assert!(other.starts_with("sudo usermod -aG virtualizers $USER"), "{other}");
    }

    #[test]
    fn a_device_without_a_useful_group_is_given_one() {
        for (mode, group) in [(0o600, "root"), (0o600, "kvm"), (0o660, "root")] {
            let (why, change) = told(Errno::EACCES, mode, group);
            assert!(why.contains("it is for root"), "{why}");
            assert!(change.starts_with("sudo chgrp kvm /dev/kvm && sudo chmod 660 /dev/kvm"), "{change}");
        }
    }

    #[test]
    fn each_answer_of_the_kernel_has_its_own_advice() {
        assert!(told(Errno::EPERM, 0o666, "kvm").1.contains("--device /dev/kvm"));
        assert!(told(Errno::ENODEV, 0o666, "kvm").1.contains("modprobe"));
        let Kvm::Fails { why, change } = failed("/dev/kvm", "making a virtual machine", &Errno::EBUSY.into()) else {
            panic!("it is busy")
        };
        assert_eq!(why, "/dev/kvm opens, but making a virtual machine: Device or resource busy");
        assert!(change.contains("other hypervisor"), "{change}");
    }
}
