//! Virtual machines.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, Filled, Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{DiskFormat, NodeKind, VmAccess, VmBegin, VmFirmware, VmPlan};
use crate::scalar::{quantity, text};
use crate::section::{Form, Kind};
use crate::yaml::Node;
use netloom_units::{Bytes, Duration};
use std::path::PathBuf;

forms! {
    pub(crate) struct Append = String, Kind::Scalar, append;
    pub(crate) struct Memory = Bytes, Bytes::KIND, memory;
}

sections! {
    /// A virtual machine, run by QEMU: a Linux kernel with its initial file system and, if it has one, a disk; or a disk that boots by
    /// itself.
    pub(crate) struct Vm = "vm" {
        /// The Linux kernel that it boots, for this machine's processor; a relative path starts at the lab file's folder. Default: what the
        /// disk boots by itself.
        kernel = Filled::KIND, "vm/vmlinuz";
        /// The initial file system that the kernel boots with. Netloom adds its agent to a copy of it.
        initrd = Filled::KIND, "vm/root.cpio.gz";
        /// Further words of the kernel's command line. Default: none.
        append: Append, "root=/dev/vda1 ro";
        /// The disk, which the machine sees as /dev/vda. It is never written: what the machine writes is in this machine's memory, and gone
        /// when the lab ends. Default: none.
        disk = Filled::KIND, "vm/disk.qcow2";
        /// How the disk's bytes lie in its file: qcow2, or raw, byte by byte. Default: qcow2.
        format: Word<DiskFormat>, "raw";
        /// What looks for a system on a disk that boots by itself: bios as in a PC, or uefi. Default: bios.
        firmware: Word<VmFirmware>, "uefi";
        /// How commands get into a system that boots from its disk: agent, which cloud-init or QEMU's guest agent starts there; or none:
        /// any system with a virtio network device, which runs no commands. Default: agent.
        access: Word<VmAccess>, "none";
        /// A file of public keys that may log in by SSH to a system with cloud-init. Default: none.
        ssh_key = Filled::KIND, "id_ed25519.pub";
        /// Its memory, 64 MB to 1000 GB. Default: 512 MiB.
        memory: Memory, "1 GB";
        /// Its processors, 1 to 64. Default: 1.
        cpus: Whole<u32, 1, 64>, "2";
        /// How long it may take from its start until it serves the lab, in lab time. Default: 2 min.
        boot_within: AboveZero<Duration>, "5 min";
        /// Network cards of this machine that it gets whole, by their PCI addresses (VFIO); in real time only. Default: none.
        passthrough = Kind::list(&Kind::Text("^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]$"), 0), "[\"0000:01:00.0\"]";
    }
}

/// What kernels of distributions need to unpack what they boot with.
const LEAST_MEMORY: Bytes = Bytes::new(64_000_000);
/// More than any machine has: the user mistyped the unit.
const MOST_MEMORY: Bytes = Bytes::new(1_000_000_000_000);

/// Keys of nodes that say something else about a machine, and what is to be written instead.
const REFUSED: [(&str, &str); 5] = [
    ("image", "a virtual machine has the file systems that it brings: leave this out"),
    ("stack", "a virtual machine has a kernel of its own in any case: leave this out"),
    ("memory", "the memory of a virtual machine is written in `vm`: `vm: {memory: 1 GB}`"),
    ("cpu", "this is for kernel nodes in virtual time only: leave it out"),
    ("root", "a virtual machine has the file systems that it brings: leave this out"),
];

/// What a node says of its virtual machine; none if it is none, or after an error was noted.
pub(super) fn vm(kind: NodeKind, of_node: &Fields<'_>, errors: &mut Errors) -> Option<Spanned<VmPlan>> {
    let node = of_node.get("vm")?;
    if !kind.runs_programs() {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    if !matches!(kind, NodeKind::Host | NodeKind::Router) {
        let message =
            "only hosts and routers can be virtual machines: leave this out, or write `kind: host` or `kind: router`";
        return errors.reject(node.error(message));
    }
    of_node.refuse(REFUSED, errors);
    let fields = Fields::open(node, &Vm::SECTION, errors)?;
    let keys = Vm::read_keys(&fields, errors)?;
    let disk = path("disk", &fields, errors);
    if let (Some(value), None) = (fields.get("format"), fields.get("disk")) {
        errors
            .push(value.error("this is the format of a disk, and the machine has none: leave it out, or write `disk`"));
    }
    let begin = begin(node, &fields, &keys, errors)?;
    if let VmBegin::Disk { access: VmAccess::None, .. } = begin {
        of_node.refuse(INSIDE.map(|key| (key, NOTHING_INSIDE)), errors);
    }
    let cards = fields.get("passthrough").map(|value| cards(value, errors)).unwrap_or_default();
    let plan = VmPlan {
        line: node.span.line,
        begin,
        disk,
        format: keys.format.unwrap_or_default(),
        memory: keys.memory.unwrap_or(VmPlan::MEMORY),
        cpus: keys.cpus.unwrap_or(1),
        boot_within: keys.boot_within.unwrap_or(VmPlan::BOOT_WITHIN),
        passthrough: cards,
    };
    Some(node.spanned(plan))
}

/// What boots; none after an error was noted.
fn begin(node: &Node, fields: &Fields<'_>, keys: &Vm, errors: &mut Errors) -> Option<VmBegin> {
    let has = |key: &str| fields.get(key).is_some();
    if has("kernel") || has("initrd") {
        return kernel(node, fields, keys, errors);
    }
    if !has("disk") {
        return errors
            .reject(node.error("nothing boots here: write `kernel` with `initrd`, or a `disk` that boots by itself"));
    }
    if let Some(value) = fields.get("append") {
        errors.push(
            value.error("a disk that boots by itself has its kernel's command line: leave it out, or write `kernel`"),
        );
    }
    let (firmware, access) = (keys.firmware.unwrap_or_default(), keys.access.unwrap_or_default());
    let ssh_key = path("ssh_key", fields, errors);
    if let (VmAccess::None, Some(value)) = (access, fields.get("ssh_key")) {
        errors.push(value.error("nothing brings this key into the system: leave it out, or write `access: agent`"));
    }
    Some(VmBegin::Disk { firmware, access, ssh_key })
}

/// A kernel, which needs an initial file system, and the other way round.
fn kernel(node: &Node, fields: &Fields<'_>, keys: &Vm, errors: &mut Errors) -> Option<VmBegin> {
    for (key, other) in [("kernel", "initrd"), ("initrd", "kernel")] {
        if fields.get(key).is_none() {
            errors
                .push(node.error(format!("`{other}` needs `{key}`, too: a kernel boots with an initial file system")));
        }
    }
    let message = "this is for a disk that boots by itself: leave it out, or leave out `kernel` and `initrd`";
    fields.refuse(["firmware", "access", "ssh_key"].map(|key| (key, message)), errors);
    let append = keys.append.clone().unwrap_or_default();
    let (kernel, initrd) = (path("kernel", fields, errors), path("initrd", fields, errors));
    Some(VmBegin::Kernel { kernel: kernel?, initrd: initrd?, append })
}

fn path(key: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<PathBuf> {
    fields.get(key).and_then(|value| keep(errors.path(value), errors))
}

/// What nobody does in a system that the lab does not get into.
const INSIDE: [&str; 20] = [
    "disk",
    "congestion",
    "sysctl",
    "env",
    "inherit",
    "setup",
    "files",
    "collect",
    "measure",
    "expose",
    "rules",
    "multihomed",
    "daemons",
    "frr",
    "bird",
    "firewall",
    "nat",
    "dhcp",
    "dns",
    "routes",
];
const NOTHING_INSIDE: &str = "netloom does nothing inside of this machine (`access: none`): leave this out";

/// Words that the kernel keeps for itself: what follows `--` would go to the agent.
fn append(node: &Node) -> Result<String, Diagnostic> {
    let line = text(node)?;
    if line.split_ascii_whitespace().any(|word| word == "--" || word.starts_with("rdinit=")) {
        return Err(node.error("netloom starts its agent by `rdinit=` and by what follows `--`: leave both out"));
    }
    if line.contains(|letter: char| letter.is_control()) {
        return Err(node.error("the command line of a kernel is one line of visible letters"));
    }
    Ok(line)
}

/// PCI addresses, each once.
fn cards(node: &Node, errors: &mut Errors) -> Vec<String> {
    let mut cards = Vec::new();
    for item in list(node, errors) {
        let Some(card) = keep(card(item), errors) else { continue };
        if cards.contains(&card) {
            errors.push(item.error(format!("{card} is listed twice: leave one out")));
        } else {
            cards.push(card);
        }
    }
    cards
}

/// Domain, bus, device and function, as `lspci -D` shows them.
fn card(node: &Node) -> Result<String, Diagnostic> {
    let said = text(node)?;
    let parts: Vec<&str> = said.split([':', '.']).collect();
    let is_hex = |part: &str, digits: usize| {
        part.len() == digits && part.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'))
    };
    let fits = match parts[..] {
        [domain, bus, device, function] => {
            is_hex(domain, 4)
                && is_hex(bus, 2)
                && is_hex(device, 2)
                && device < "20"
                && matches!(function, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7")
                && said == format!("{domain}:{bus}:{device}.{function}")
        }
        _ => false,
    };
    if fits {
        return Ok(said);
    }
    Err(node.error(format!("`{said}` is no PCI address: write it as `lspci -D` shows it, like 0000:01:00.0")))
}

fn memory(node: &Node) -> Result<Bytes, Diagnostic> {
    let size = quantity(node)?;
    let text = node.text().unwrap_or_default();
    if size < LEAST_MEMORY {
        return Err(node.error(format!("with {text} no machine boots: write {LEAST_MEMORY} or more")));
    }
    if size > MOST_MEMORY {
        return Err(node.error(format!("no machine has {text} for one node: write at most {MOST_MEMORY}")));
    }
    Ok(size)
}
