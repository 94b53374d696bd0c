//! Virtual machines as JSON.

use crate::plan::{VmBegin, VmPlan};
use serde_json::{Value, json};
use std::path::Path;

/// What a virtual machine is. What belongs to the other way to boot is null.
pub(super) fn vm(vm: &VmPlan) -> Value {
    let shown = |path: &Path| path.display().to_string();
    let mut about = json!({
        "kernel": null, "initrd": null, "append": null, "firmware": null, "access": null, "ssh_key": null,
        "disk": vm.disk.as_ref().map(|disk| json!({ "file": shown(disk), "format": vm.format.name() })),
        "memory_bytes": vm.memory.get(),
        "cpus": vm.cpus,
        "boot_within_ns": vm.boot_within.as_nanos(),
        "passthrough": vm.passthrough,
    });
    match &vm.begin {
        VmBegin::Kernel { kernel, initrd, append } => {
            about["kernel"] = shown(kernel).into();
            about["initrd"] = shown(initrd).into();
            about["append"] = append.as_str().into();
        }
        VmBegin::Disk { firmware, access, ssh_key } => {
            about["firmware"] = firmware.name().into();
            about["access"] = access.name().into();
            about["ssh_key"] = ssh_key.as_deref().map(shown).into();
        }
    }
    about
}
