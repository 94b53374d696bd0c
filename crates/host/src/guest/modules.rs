//! Modules of a distribution's kernel, which lie on the machine beside it. Kernels that netloom builds need none.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::sys::utsname::uname;

/// Where Debian's and Ubuntu's package user-mode-linux has them, by release.
const FOLDER: &str = "/usr/lib/uml/modules";

/// What a node needs, and what its programs may ask for by a system call that loads no module by itself: the agent's device
/// and the interfaces, the file system, IPv6, packet sockets, congestion controls.
const WANTED: &[&str] = &[
    "virtio_net",
    "overlay",
    "ipv6",
    "af_packet",
    "tcp_bbr",
    "tcp_bic",
    "tcp_cubic",
    "tcp_dctcp",
    "tcp_htcp",
    "tcp_hybla",
    "tcp_illinois",
    "tcp_scalable",
    "tcp_vegas",
    "tcp_westwood",
];

/// Loads those of [`WANTED`] that this kernel has as modules. If one is missing or refused, whoever needs it reports that
/// later.
pub(super) fn load() {
    let Ok(release) = uname().map(|name| name.release().to_owned()) else { return };
    let folder = Path::new(FOLDER).join(release);
    let Ok(dependencies) = std::fs::read_to_string(folder.join("modules.dep")) else { return };
    let mut loaded = BTreeSet::new();
    for module in in_order(&dependencies, WANTED) {
        if loaded.insert(module.clone()) {
            load_one(&folder.join(&module));
        }
    }
}

/// The files to load for these modules, each behind those that it needs (modules.dep(5): what a module needs stands behind
/// it, the last to be loaded first).
fn in_order(dependencies: &str, wanted: &[&str]) -> Vec<PathBuf> {
    let mut order = Vec::new();
    for module in wanted {
        let file = format!("{module}.ko");
        let line = dependencies.lines().find_map(|line| {
            let (path, needs) = line.split_once(':')?;
            (Path::new(path).file_name()?.to_str()? == file).then_some((path, needs))
        });
        let Some((path, needs)) = line else { continue };
        order.extend(needs.split_ascii_whitespace().rev().chain([path]).map(PathBuf::from));
    }
    order
}

fn load_one(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    match finit_module(&file, c"", ModuleInitFlags::empty()) {
        Ok(()) | Err(Errno::EEXIST) => (),
        Err(error) => eprintln!("netloom: load {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_needs_is_loaded_before_it() {
        let dependencies = "kernel/net/core/failover.ko:\n\
                            kernel/fs/overlayfs/overlay.ko:\n\
                            kernel/drivers/net/net_failover.ko: kernel/net/core/failover.ko\n\
                            kernel/drivers/net/virtio_net.ko: kernel/drivers/net/net_failover.ko kernel/net/core/failover.ko\n";
        let order = in_order(dependencies, &["virtio_net", "overlay", "ipv6"]);
        let names: Vec<_> = order.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
        assert_eq!(names, ["failover", "net_failover", "virtio_net", "overlay"]);
    }
}
