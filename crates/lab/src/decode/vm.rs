//! Virtual machines.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::VM;
use crate::plan::{DiskFormat, NodeKind, VmPlan};
use crate::scalar::{integer, positive_duration, quantity, text, word};
use crate::yaml::Node;
use netloom_units::Bytes;

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
    let kernel = fields.get("kernel").and_then(|value| keep(errors.path(value), errors));
    let initrd = fields.get("initrd").and_then(|value| keep(errors.path(value), errors));
    let disk = fields.get("disk").and_then(|value| keep(errors.path(value), errors));
    let formats = [DiskFormat::Qcow2, DiskFormat::Raw].map(|format| (format.name(), format));
    let format = fields.read("format", |value| word(value, &formats), errors);
    if let (Some(value), None) = (fields.get("format"), fields.get("disk")) {
        errors
            .push(value.error("this is the format of a disk, and the machine has none: leave it out, or write `disk`"));
    }
    let append = fields.read("append", append, errors).unwrap_or_default();
    let memory = fields.read("memory", memory, errors).unwrap_or(VmPlan::MEMORY);
    let cpus = |value: &Node| integer(value, 1, 64).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let cpus = fields.read("cpus", cpus, errors).unwrap_or(1);
    let boot_within = fields.read("boot_within", positive_duration, errors).unwrap_or(VmPlan::BOOT_WITHIN);
    let plan = VmPlan {
        line: node.span.line,
        kernel: kernel?,
        initrd: initrd?,
        append,
        disk,
        format: format.unwrap_or_default(),
        memory,
        cpus,
        boot_within,
    };
    Some(node.spanned(plan))
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
