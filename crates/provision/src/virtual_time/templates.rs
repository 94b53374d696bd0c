//! The templates of a lab: kernels that boot once for all nodes of a kind, which are copies of them.

use crate::kernels::Kernels;
use netloom_guest::node::{Boot, Channel, KernelNode, Late, Template};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// If this variable is `each`, each kernel boots by itself. What nodes compute is the same: a test compares.
const VARIABLE: &str = "NETLOOM_BOOT";

/// See the module.
pub(super) struct Templates {
    by_kind: BTreeMap<Vec<OsString>, Result<Template, String>>,
}

impl Templates {
    /// Boots a template for each kind of which there are several kernels, all at the same time, and waits until they make copies.
    pub(super) fn start<'a>(kernels: &Kernels, boots: impl Iterator<Item = &'a Boot>, wall_clock_ns: u64) -> Self {
        let mut kinds: BTreeMap<_, Vec<&Boot>> = BTreeMap::new();
        if std::env::var_os(VARIABLE).is_none_or(|value| value != "each") {
            let late = boots.filter(|boot| is_copied(boot));
            // One that needs too long a command line says so when it boots.
            late.filter_map(|boot| Some((boot.kind().ok()?, boot))).for_each(|(kind, boot)| {
                kinds.entry(kind).or_default().push(boot);
            });
        }
        kinds.retain(|_, alike| alike.len() > 1);
        let numbered = kinds.into_iter().enumerate();
        let started = numbered.map(|(number, (kind, alike))| (kind, start(kernels, number, alike[0], wall_clock_ns)));
        let mut by_kind: BTreeMap<_, _> = started.collect();
        for template in by_kind.values_mut() {
            if let Err(why) = template.as_ref().map_err(String::clone).and_then(Template::await_ready) {
                *template = Err(why);
            }
        }
        Self { by_kind }
    }

    /// Makes a kernel as a copy. `Err`: it has to boot by itself, and why, if it was to be a copy.
    pub(super) fn copy(
        &self,
        boot: &Boot,
        channel: Box<dyn Channel>,
        late: &Late<'_>,
    ) -> Result<KernelNode, Option<String>> {
        let kind = Some(boot).filter(|boot| is_copied(boot)).and_then(|boot| boot.kind().ok()).ok_or(None)?;
        let template = self.by_kind.get(&kind).ok_or(None)?;
        let copy = |ready| KernelNode::copy(ready, boot, channel, late);
        template.as_ref().map_err(String::clone).and_then(copy).map_err(Some)
    }
}

/// Whether a kernel may be a copy. One with a disk boots by itself: its process inherits the files of the disk.
fn is_copied(boot: &Boot) -> bool {
    boot.late && boot.disk.is_none()
}

/// Boots a template, in folders beside those of the nodes: with the memory, the arguments and the place of this kernel.
fn start(kernels: &Kernels, number: usize, boot: &Boot, wall_clock_ns: u64) -> Result<Template, String> {
    // The folder of a node is `k/NUMBER/own`.
    let base = boot.folder.ancestors().nth(2).ok_or("a kernel's folder is in none")?.join(format!("t{number}"));
    let folder: PathBuf = base.join("own");
    std::fs::create_dir_all(&folder).map_err(|error| format!("make {}: {error}", folder.display()))?;
    let template = Boot {
        name: format!("template {number}"),
        kernel: boot.kernel.clone(),
        init: boot.init.clone(),
        memory_mib: boot.memory_mib,
        folder,
        console: base.join("console"),
        devices: boot.devices.clone(),
        processor: None,
        polls: boot.polls.clone(),
        cgroup: None,
        disk: None,
        arguments: boot.arguments.clone(),
        late: true,
        bare: boot.bare.clone(),
    };
    kernels.start_template(&template, wall_clock_ns)
}
