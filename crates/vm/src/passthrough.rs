//! Network cards of this machine that a virtual machine gets whole (VFIO).
//!
//! Source: `Documentation/driver-api/vfio.rst` of Linux. What belongs to one group of the IOMMU reaches the memory of one machine, so
//! that the whole group has to be free for it.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use nix::unistd::Uid;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The driver that holds devices for machines.
const DRIVER: &str = "vfio-pci";
/// Bridges lead to what is behind them, and may keep their driver.
const BRIDGE_DRIVER: &str = "pcieport";
/// The class of network controllers (PCI Code and ID Assignment Specification): the upper of three bytes.
const NETWORK: u32 = 0x02;
/// What QEMU maps for devices beside a machine's memory, at most.
const BESIDE_MEMORY_MIB: u64 = 64;

/// Where Linux shows devices and drivers: /sys and /dev, or what a test puts in their place.
#[derive(Debug)]
pub struct Devices {
    sys: PathBuf,
    dev: PathBuf,
}

impl Default for Devices {
    fn default() -> Self {
        Self { sys: "/sys".into(), dev: "/dev".into() }
    }
}

impl Devices {
    /// Checks that a machine can have the network card at this address, like 0000:01:00.0.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn check(&self, address: &str) -> Result<(), String> {
        let device = self.device(address);
        if !device.exists() {
            return Err(format!("there is no PCI device {address} (`lspci -D` shows those that there are)"));
        }
        let class = fs::read_to_string(device.join("class")).unwrap_or_default();
        let number = u32::from_str_radix(class.trim().trim_start_matches("0x"), 16).unwrap_or_default();
        if number >> 16 != NETWORK {
            return Err(format!("the PCI device {address} is no network card (class {})", class.trim()));
        }
        let Some(group) = last_part(&device.join("iommu_group")) else {
            return Err(format!(
                "the PCI device {address} belongs to no group of an IOMMU: turn the IOMMU on in this machine's firmware (VT-d, AMD-Vi) \
                 and, on Intel, by `intel_iommu=on` in its kernel's command line"
            ));
        };
        self.is_held(address)?;
        self.group_is_free(address, &group)?;
        self.may_open(&group)
    }

    fn device(&self, address: &str) -> PathBuf {
        self.sys.join("bus/pci/devices").join(address)
    }

    fn is_held(&self, address: &str) -> Result<(), String> {
        let driver = last_part(&self.device(address).join("driver"));
        if driver.as_deref() == Some(DRIVER) {
            return Ok(());
        }
        let holder = driver.map_or_else(|| "has no driver".to_owned(), |driver| format!("is used by {driver}"));
        Err(format!(
            "the PCI device {address} {holder}, and a machine needs {DRIVER} there. As root, and with the network that it serves in mind: \
             `modprobe {DRIVER}; driverctl set-override {address} {DRIVER}`"
        ))
    }

    /// Devices of a group reach each other's memory.
    fn group_is_free(&self, address: &str, group: &str) -> Result<(), String> {
        let folder = self.device(address).join("iommu_group/devices");
        let entries = fs::read_dir(&folder).map_err(|error| format!("read {}: {error}", folder.display()))?;
        let mut all: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect();
        all.sort();
        for other in all {
            let driver = last_part(&self.device(&other).join("driver"));
            if let Some(driver) = driver.filter(|driver| ![DRIVER, BRIDGE_DRIVER].contains(&driver.as_str())) {
                return Err(format!(
                    "the PCI device {address} shares group {group} of the IOMMU with {other}, which is used by {driver}: a machine gets \
                     all of a group or nothing, so bind {other} to {DRIVER}, too, or put the card into another slot"
                ));
            }
        }
        Ok(())
    }

    fn may_open(&self, group: &str) -> Result<(), String> {
        let file = self.dev.join("vfio").join(group);
        let opened = OpenOptions::new().read(true).write(true).open(&file);
        let words = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                format!("this user may not open {}: as root, `chown USER {0}`, or a rule of udev", file.display())
            }
            // Somebody has it, as one machine only may.
            io::ErrorKind::ResourceBusy => format!("{} is in use by another machine", file.display()),
            _ => format!("open {}: {error}", file.display()),
        };
        opened.map(drop).map_err(words)
    }
}

/// Checks that a machine of so much memory may keep all of it where it is, as a card needs that writes to it.
///
/// # Errors
/// Why not, and what to do.
pub fn check_memory(memory_mib: u64) -> Result<(), String> {
    let (limit, _) = getrlimit(Resource::RLIMIT_MEMLOCK).map_err(|errno| format!("ask for the limits: {errno}"))?;
    if Uid::effective().is_root() { Ok(()) } else { fits(limit, memory_mib) }
}

fn fits(limit: u64, memory_mib: u64) -> Result<(), String> {
    let needed = (memory_mib + BESIDE_MEMORY_MIB) << 20;
    if limit == RLIM_INFINITY || limit >= needed {
        return Ok(());
    }
    Err(format!(
        "a card writes to the machine's memory, all of which has to stay where it is: {} KiB, and this user may lock {}: raise \
         `memlock` in /etc/security/limits.conf, or `ulimit -l` as root",
        needed >> 10,
        limit >> 10
    ))
}

/// The name of what a link leads to.
fn last_part(link: &Path) -> Option<String> {
    Some(fs::read_link(link).ok()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const CARD: &str = "0000:01:00.0";

    /// A machine with a card that is ready, a bridge and another function in its group.
    fn machine() -> (tempfile::TempDir, Devices) {
        let folder = tempfile::tempdir().unwrap();
        let devices = Devices { sys: folder.path().join("sys"), dev: folder.path().join("dev") };
        let group = devices.sys.join("kernel/iommu_groups/7");
        fs::create_dir_all(group.join("devices")).unwrap();
        fs::create_dir_all(devices.dev.join("vfio")).unwrap();
        fs::write(devices.dev.join("vfio/7"), "").unwrap();
        for (address, class, driver) in [
            (CARD, "0x020000", Some(DRIVER)),
            ("0000:00:01.0", "0x060400", Some(BRIDGE_DRIVER)),
            ("0000:01:00.1", "0x020000", None),
        ] {
            let device = devices.device(address);
            fs::create_dir_all(&device).unwrap();
            fs::write(device.join("class"), format!("{class}\n")).unwrap();
            symlink(&group, device.join("iommu_group")).unwrap();
            symlink(&device, group.join("devices").join(address)).unwrap();
            if let Some(driver) = driver {
                bind(&devices, address, driver);
            }
        }
        (folder, devices)
    }

    fn bind(devices: &Devices, address: &str, driver: &str) {
        let link = devices.device(address).join("driver");
        let _ = fs::remove_file(&link);
        symlink(devices.sys.join("bus/pci/drivers").join(driver), link).unwrap();
    }

    fn refusal(devices: &Devices) -> String {
        devices.check(CARD).unwrap_err()
    }

    #[test]
    fn a_card_whose_group_is_free_can_be_had() {
        let (_folder, devices) = machine();
        assert_eq!(devices.check(CARD), Ok(()));
    }

    #[test]
    fn what_is_no_free_network_card_is_told() {
        let (_folder, devices) = machine();
        assert!(devices.check("0000:09:00.0").unwrap_err().starts_with("there is no PCI device 0000:09:00.0"));
        assert!(devices.check("0000:00:01.0").unwrap_err().contains("is no network card (class 0x060400)"));
        bind(&devices, "0000:01:00.1", "e1000e");
        let shared = refusal(&devices);
        assert!(shared.contains("shares group 7 of the IOMMU with 0000:01:00.1, which is used by e1000e"), "{shared}");
        bind(&devices, CARD, "e1000e");
        assert!(
            refusal(&devices)
                .starts_with("the PCI device 0000:01:00.0 is used by e1000e, and a machine needs vfio-pci there.")
        );
        fs::remove_file(devices.device(CARD).join("driver")).unwrap();
        assert!(
            refusal(&devices)
                .starts_with("the PCI device 0000:01:00.0 has no driver, and a machine needs vfio-pci there.")
        );
        fs::remove_file(devices.device(CARD).join("iommu_group")).unwrap();
        assert!(refusal(&devices).contains("intel_iommu=on"));
    }

    #[test]
    fn a_group_that_cannot_be_opened_is_told() {
        let (_folder, devices) = machine();
        fs::remove_file(devices.dev.join("vfio/7")).unwrap();
        assert!(refusal(&devices).contains("No such file"), "{}", refusal(&devices));
    }

    #[test]
    fn all_memory_of_the_machine_has_to_stay_where_it_is() {
        assert_eq!(fits(RLIM_INFINITY, 512), Ok(()));
        assert_eq!(fits(576 << 20, 512), Ok(()));
        let refused = fits(8 << 20, 512).unwrap_err();
        assert!(refused.contains("589824 KiB, and this user may lock 8192"), "{refused}");
    }
}
