//! Virtual machines.

use super::list;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::VM;
use crate::plan::{DiskFormat, NodeKind, VmAccess, VmBegin, VmFirmware, VmPlan};
use crate::scalar::{integer, positive_duration, quantity, text, word};
use crate::yaml::Node;
use netloom_units::Bytes;
use std::path::PathBuf;

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
        errors.push(node.error(message));
        return None;
    }
    for (key, why) in REFUSED {
        errors.extend(of_node.get(key).map(|value| value.error(why)));
    }
    let fields = Fields::open(node, &VM, errors)?;
    let disk = fields.get("disk").and_then(|value| keep(errors.path(value), errors));
    let formats = [DiskFormat::Qcow2, DiskFormat::Raw].map(|format| (format.name(), format));
    let format = fields.read("format", |value| word(value, &formats), errors);
    if let (Some(value), None) = (fields.get("format"), fields.get("disk")) {
        errors
            .push(value.error("this is the format of a disk, and the machine has none: leave it out, or write `disk`"));
    }
    let memory = fields.read("memory", memory, errors).unwrap_or(VmPlan::MEMORY);
    let cpus = |value: &Node| integer(value, 1, 64).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let cpus = fields.read("cpus", cpus, errors).unwrap_or(1);
    let boot_within = fields.read("boot_within", positive_duration, errors).unwrap_or(VmPlan::BOOT_WITHIN);
    let begin = begin(node, &fields, errors)?;
    if let VmBegin::Disk { access: VmAccess::None, .. } = begin {
        errors.extend(unknown_inside(of_node));
    }
    let cards = fields.get("passthrough").map(|value| cards(value, errors)).unwrap_or_default();
    let plan = VmPlan {
        line: node.span.line,
        begin,
        disk,
        format: format.unwrap_or_default(),
        memory,
        cpus,
        boot_within,
        passthrough: cards,
    };
    Some(node.spanned(plan))
}

/// What boots; none after an error was noted.
fn begin(node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<VmBegin> {
    let has = |key: &str| fields.get(key).is_some();
    if has("kernel") || has("initrd") {
        return kernel(node, fields, errors);
    }
    if !has("disk") {
        errors.push(node.error("nothing boots here: write `kernel` with `initrd`, or a `disk` that boots by itself"));
        return None;
    }
    if let Some(value) = fields.get("append") {
        errors.push(
            value.error("a disk that boots by itself has its kernel's command line: leave it out, or write `kernel`"),
        );
    }
    let firmwares = [VmFirmware::Bios, VmFirmware::Uefi].map(|firmware| (firmware.name(), firmware));
    let firmware = fields.read("firmware", |value| word(value, &firmwares), errors).unwrap_or_default();
    let accesses = [VmAccess::Agent, VmAccess::None].map(|access| (access.name(), access));
    let access = fields.read("access", |value| word(value, &accesses), errors).unwrap_or_default();
    let ssh_key = path("ssh_key", fields, errors);
    if let (VmAccess::None, Some(value)) = (access, fields.get("ssh_key")) {
        errors.push(value.error("nothing brings this key into the system: leave it out, or write `access: agent`"));
    }
    Some(VmBegin::Disk { firmware, access, ssh_key })
}

/// A kernel, which needs an initial file system, and the other way round.
fn kernel(node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<VmBegin> {
    for (key, other) in [("kernel", "initrd"), ("initrd", "kernel")] {
        if fields.get(key).is_none() {
            errors
                .push(node.error(format!("`{other}` needs `{key}`, too: a kernel boots with an initial file system")));
        }
    }
    for key in ["firmware", "access", "ssh_key"] {
        let message = "this is for a disk that boots by itself: leave it out, or leave out `kernel` and `initrd`";
        errors.extend(fields.get(key).map(|value| value.error(message)));
    }
    let append = fields.read("append", append, errors).unwrap_or_default();
    let (kernel, initrd) = (path("kernel", fields, errors), path("initrd", fields, errors));
    Some(VmBegin::Kernel { kernel: kernel?, initrd: initrd?, append })
}

fn path(key: &str, fields: &Fields<'_>, errors: &mut Errors) -> Option<PathBuf> {
    fields.get(key).and_then(|value| keep(errors.path(value), errors))
}

/// Errors about what nobody does in a system that the lab does not get into.
fn unknown_inside(of_node: &Fields<'_>) -> Vec<Diagnostic> {
    const INSIDE: [&str; 19] = [
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
    let error = |key: &&str| {
        let message = "netloom does nothing inside of this machine (`access: none`): leave this out";
        of_node.get(key).map(|value| value.error(message))
    };
    INSIDE.iter().filter_map(error).collect()
}

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
