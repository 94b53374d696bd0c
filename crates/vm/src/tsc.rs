//! How fast the counter of this machine's processors (TSC) runs, and whether machines can have a slower one.
//!
//! Source: `Documentation/virt/kvm/api.rst` of Linux, sections 4.55 and 4.56 (`KVM_SET_TSC_KHZ`, `KVM_GET_TSC_KHZ`). QEMU's option
//! `tsc-freq` asks for it.

use netloom_units::Dilation;
use nix::errno::Errno;
use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `include/uapi/linux/kvm.h`.
const KVM_CREATE_VM: libc::c_ulong = 0xae01;
const KVM_CHECK_EXTENSION: libc::c_ulong = 0xae03;
const KVM_CREATE_VCPU: libc::c_ulong = 0xae41;
const KVM_GET_TSC_KHZ: libc::c_ulong = 0xaea3;
const KVM_CAP_TSC_CONTROL: libc::c_ulong = 60;

/// What a machine's counter has to run at, in kHz of wall time, so that it runs at this machine's speed in slowed time.
///
/// # Errors
/// Why there is no such counter here, in words that follow "since".
pub(crate) fn slowed(dilation: Dilation) -> Result<u64, String> {
    let kvm = OpenOptions::new().read(true).write(true).open("/dev/kvm");
    let kvm = OwnedFd::from(kvm.map_err(|error| format!("/dev/kvm cannot be opened: {error}"))?);
    let told = |what: &str, errno: Errno| format!("KVM does not {what}: {errno}");
    let scales = ask(&kvm, KVM_CHECK_EXTENSION, KVM_CAP_TSC_CONTROL).map_err(|errno| told("answer", errno))?;
    if scales == 0 {
        return Err("this processor has no slower counter for machines (KVM_CAP_TSC_CONTROL)".to_owned());
    }
    let machine = made(&kvm, KVM_CREATE_VM).map_err(|errno| told("make a machine", errno))?;
    let processor = made(&machine, KVM_CREATE_VCPU).map_err(|errno| told("make a processor", errno))?;
    let khz = ask(&processor, KVM_GET_TSC_KHZ, 0).map_err(|errno| told("tell how fast the counter runs", errno))?;
    divided(khz.unsigned_abs().into(), dilation)
        .ok_or_else(|| format!("the counter of a machine would run below 1 kHz at dilation {dilation}"))
}

/// None if nothing is left.
fn divided(khz: u64, dilation: Dilation) -> Option<u64> {
    let khz = u128::from(khz) * u128::from(dilation.denominator()) / u128::from(dilation.numerator());
    u64::try_from(khz).ok().filter(|khz| *khz > 0)
}

fn ask(fd: &OwnedFd, request: libc::c_ulong, argument: libc::c_ulong) -> Result<i32, Errno> {
    // SAFETY: the requests of this file take a number and touch no memory of ours.
    Errno::result(unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) })
}

fn made(fd: &OwnedFd, request: libc::c_ulong) -> Result<OwnedFd, Errno> {
    let number = ask(fd, request, 0)?;
    // SAFETY: the request has made this descriptor, which nobody else knows.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_as_much_slower_as_time() {
        let at = |millionths| divided(2_500_000, Dilation::from_millionths(millionths).unwrap());
        assert_eq!(at(1_000_000), Some(2_500_000));
        assert_eq!(at(10_000_000), Some(250_000));
        assert_eq!(at(2_500_000), Some(1_000_000));
        assert_eq!(divided(9_999, Dilation::from_millionths(10_000_000_000).unwrap()), None);
    }
}
