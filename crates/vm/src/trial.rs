//! Whether this machine's processor executes what a virtual machine does (KVM), or QEMU has to translate it (TCG).
//!
//! That `/dev/kvm` is there says little: machines in a cloud have it and cannot run with it. So QEMU runs a machine whose firmware is
//! three instructions, which end QEMU with an exit code that nothing else gives.

use crate::error::VmError;
use crate::tsc;
use netloom_host::sealed::bind_to_us;
use netloom_units::Dilation;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::{Gid, Group};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long the trial may take. It takes a tenth of a second; a processor that does not really run never ends.
const WITHIN: Duration = Duration::from_secs(5);

/// Who executes a virtual machine's instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceleration {
    /// This machine's processor.
    Kvm,
    /// This machine's processor, whose counter (TSC) runs slower for machines, as slowed time wants it. KVM's own clocks and timers,
    /// which cannot be slowed, are left out: QEMU has all others.
    SlowedKvm {
        /// How fast the counter of machines runs, in kHz of wall time.
        tsc_khz: u64,
    },
    /// QEMU translates them, for the reason that is said here.
    Tcg(String),
}

impl Acceleration {
    /// As QEMU names it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Kvm | Self::SlowedKvm { .. } => "kvm",
            Self::Tcg(_) => "tcg",
        }
    }

    /// The processor that machines have: that of this machine, or all that QEMU can translate.
    pub(crate) fn processor(&self) -> String {
        match self {
            Self::Kvm => "host".to_owned(),
            // Without its signature, a kernel takes no clock from KVM.
            Self::SlowedKvm { tsc_khz } => format!("host,kvm=off,tsc-freq={}", u128::from(*tsc_khz) * 1000),
            Self::Tcg(_) => "max".to_owned(),
        }
    }

    /// Further options of the machine's board.
    pub(crate) fn board(&self) -> &'static str {
        match self {
            // The timers of interrupt controllers that KVM has are those of this machine's kernel.
            Self::SlowedKvm { .. } => ",kernel-irqchip=off",
            Self::Kvm | Self::Tcg(_) => "",
        }
    }

    /// Whether machines count time by QEMU's timer (HPET).
    pub(crate) fn counts_by_timer(&self) -> bool {
        *self != Self::Kvm
    }

    /// The option of QEMU.
    pub(crate) fn option(&self) -> &'static str {
        match self {
            Self::Kvm | Self::SlowedKvm { .. } => "kvm",
            Self::Tcg(_) => "tcg,thread=multi",
        }
    }
}

impl fmt::Display for Acceleration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kvm => f.write_str("by this machine's processor (KVM)"),
            Self::SlowedKvm { tsc_khz } => {
                write!(f, "by this machine's processor (KVM), with a counter of {tsc_khz} kHz")
            }
            Self::Tcg(why) => write!(f, "translated (TCG), since {why}"),
        }
    }
}

/// What works here: KVM, or else TCG. In dilated time KVM must slow the counter of machines, too.
pub(crate) fn acceleration(program: &Path, dilation: Option<Dilation>) -> Result<Acceleration, VmError> {
    let kvm = kvm(program).and_then(|()| match dilation {
        None => Ok(Acceleration::Kvm),
        Some(dilation) => slowed_kvm(program, dilation),
    });
    let tcg = match kvm {
        Ok(kvm) => return Ok(kvm),
        Err(why) => Acceleration::Tcg(why),
    };
    match attempt(program, &tcg) {
        Ok(()) => Ok(tcg),
        Err(why) => Err(VmError::Wrong(format!("{} runs no machine here: {why}", program.display()))),
    }
}

/// Why KVM does not work, if so.
fn kvm(program: &Path) -> Result<(), String> {
    match OpenOptions::new().read(true).write(true).open("/dev/kvm") {
        Ok(_) => attempt(program, &Acceleration::Kvm).map_err(|why| format!("KVM does not work here: {why}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("there is no /dev/kvm: this processor cannot, its firmware forbids it, or this is a virtual machine"
                .to_owned())
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(forbidden(Path::new("/dev/kvm"))),
        Err(error) => Err(format!("/dev/kvm cannot be opened: {error}")),
    }
}

fn slowed_kvm(program: &Path, dilation: Dilation) -> Result<Acceleration, String> {
    let kvm = Acceleration::SlowedKvm { tsc_khz: tsc::slowed(dilation)? };
    attempt(program, &kvm).map_err(|why| format!("KVM cannot slow machines here: {why}"))?;
    Ok(kvm)
}

/// Why this user may not open a device, and who changes that.
fn forbidden(device: &Path) -> String {
    const GROUP: u32 = 0o060;
    let shown = device.display();
    let Ok(about) = std::fs::metadata(device) else { return format!("this user may not open {shown}") };
    let named = Group::from_gid(Gid::from_raw(about.gid())).ok().flatten();
    let group = named.map_or_else(|| about.gid().to_string(), |group| group.name);
    if about.mode() & GROUP == GROUP {
        return format!(
            "this user may not open {shown}, which is for the group {group}: an administrator adds the user to it (`usermod -aG \
             {group} USER`), who then logs in anew"
        );
    }
    let mode = about.mode() & 0o777;
    format!(
        "this user may not open {shown}, which has the mode {mode:03o} and is not for its group, {group}: an administrator has to allow it"
    )
}

/// The port of the device that ends QEMU, and what the machine writes there.
const PORT: u8 = 0xf4;
const WORD: u8 = 0x2a;
/// What QEMU makes of it (hw/misc/debugexit.c).
const PASSED: i32 = (WORD as i32) << 1 | 1;

/// A firmware of 64 KiB ends at 4 GiB, and a processor begins 16 bytes before that: `mov al, WORD; out PORT, al; hlt`.
fn firmware() -> Vec<u8> {
    const HALT: u8 = 0xf4;
    let mut bytes = vec![HALT; 0x1_0000];
    bytes[0xfff0..0xfff4].copy_from_slice(&[0xb0, WORD, 0xe6, PORT]);
    bytes
}

/// Runs a machine to its end; why that failed.
fn attempt(program: &Path, acceleration: &Acceleration) -> Result<(), String> {
    let told = |what: &str, error: &io::Error| format!("{what}: {error}");
    let mut file = memory_file().map_err(|error| told("make a file in memory", &error))?;
    file.write_all(&firmware()).map_err(|error| told("write a file in memory", &error))?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&file));
    let exit = format!("isa-debug-exit,iobase={PORT:#x},iosize=4");
    let mut command = Command::new(program);
    command
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-vga", "none", "-m", "16"])
        .args(["-machine", &format!("pc{}", acceleration.board()), "-accel", acceleration.option()])
        .args(["-cpu", &acceleration.processor(), "-device", &exit, "-bios", &path])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    bind_to_us(&mut command);
    let mut child = command.spawn().map_err(|error| told("start it", &error))?;
    let until = Instant::now() + WITHIN;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("a machine that should have ended at once ran for {} s", WITHIN.as_secs()));
            }
            Err(error) => return Err(told("wait for it", &error)),
        }
    };
    if status.code() == Some(PASSED) { Ok(()) } else { Err(words(&mut child, status)) }
}

/// A file in memory, without a name.
fn memory_file() -> io::Result<File> {
    Ok(memfd_create(c"firmware", MFdFlags::MFD_CLOEXEC)?.into())
}

/// What QEMU said, or how it ended.
fn words(child: &mut std::process::Child, status: ExitStatus) -> String {
    let mut text = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        // What cannot be read is left out: its end says enough.
        let _ = io::Read::read_to_string(&mut stderr, &mut text);
    }
    let first = text.lines().map(str::trim).find(|line| line.contains("rror") || line.contains("failed"));
    first.or_else(|| text.lines().next()).map_or_else(|| format!("QEMU ended ({status})"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_firmware_begins_where_a_processor_does() {
        let firmware = firmware();
        assert_eq!(firmware.len(), 1 << 16);
        assert_eq!(firmware[firmware.len() - 16..firmware.len() - 11], [0xb0, 0x2a, 0xe6, 0xf4, 0xf4]);
        assert_eq!(PASSED, 85);
    }

    #[test]
    fn who_may_open_a_device_is_told() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            forbidden(file.path())
        };
        assert!(with(0o660).contains("an administrator adds the user to it (`usermod -aG "));
        assert!(with(0o600).contains("which has the mode 600 and is not for its group"));
        assert!(forbidden(Path::new("/absent")).ends_with("may not open /absent"));
    }

    #[test]
    fn a_program_that_is_no_qemu_runs_no_machine() {
        let error = acceleration(Path::new("/bin/false"), None).unwrap_err().to_string();
        assert!(error.starts_with("/bin/false runs no machine here: QEMU ended"), "{error}");
    }
}
