//! A container that runs already, as a node.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Word, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{ContainerEngine, ContainerPlan, NodeKind};
use crate::scalar::text;
use crate::section::Kind;
use crate::yaml::{Content, Node};

forms! {
    /// The name of a container, or the beginning of its identifier.
    pub(crate) struct ContainerName = String, Kind::Text("^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$"), name;
}

sections! {
    /// A container that runs already, of docker or podman.
    pub(crate) struct Container = "container" {
        /// Its name, or the beginning of its identifier.
        name: ContainerName, required "web";
        /// Whose container it is. Default: whichever of docker and podman has it.
        engine: Word<ContainerEngine>, "podman";
    }
}

/// Longer names have no container.
const LONGEST: usize = 255;

/// Keys of nodes that would change more of a container than its network, or what its engine decides.
const REFUSED: [(&str, &str); 21] = [
    ("image", "a container has its image already: leave one of the two out"),
    ("vm", "a node is a container or a virtual machine: leave one of the two out"),
    ("stack", "a container has the network stack of this machine's kernel: leave this out"),
    ("memory", "its engine says how much memory a container has: leave this out"),
    ("cpus", "its engine says what a container may use, for example `docker update --cpus`: leave this out"),
    ("cpu", "this is for kernel nodes in virtual time only: leave it out"),
    ("pin", "its engine says where a container runs, for example `docker update --cpuset-cpus`: leave this out"),
    (
        "capabilities",
        "its engine says what a container may do, and its programs in a lab may not act on the whole machine: leave this out",
    ),
    ("root", FILES),
    ("files", FILES),
    ("daemons", FILES),
    ("frr", FILES),
    ("bird", FILES),
    ("as", FILES),
    ("firewall", RULES),
    ("nat", RULES),
    ("rules", RULES),
    ("multihomed", RULES),
    ("dhcp", FILES),
    ("dns", FILES),
    ("addresses", FILES),
];

const FILES: &str = "netloom changes no files of a container that runs already: leave this out, or write `image` for a node of the lab's own";
const RULES: &str = "such rules would stay in the container when the lab ends: leave this out, or write `image` for a node of the lab's own";

/// The container that a node is; none if it is none, or after an error was noted.
pub(super) fn container(kind: NodeKind, of_node: &Fields<'_>, errors: &mut Errors) -> Option<Spanned<ContainerPlan>> {
    let node = of_node.get("container")?;
    if !kind.runs_programs() {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    if !matches!(kind, NodeKind::Host | NodeKind::Router) {
        let message =
            "only hosts and routers can be containers: leave this out, or write `kind: host` or `kind: router`";
        return errors.reject(node.error(message));
    }
    of_node.refuse(REFUSED, errors);
    let (name, engine) = match node.content {
        Content::Map(_) => {
            let Container { name, engine } = Container::open(node, errors)?;
            (name, engine)
        }
        _ => (keep(name(node), errors)?, None),
    };
    Some(node.spanned(ContainerPlan { line: node.span.line, name, engine }))
}

/// As engines take names: one that begins with `-` would be an option of theirs.
fn name(node: &Node) -> Result<String, Diagnostic> {
    let name = text(node)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    if name.len() <= LONGEST && name.bytes().all(plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(name);
    }
    Err(node.error(format!(
        "\"{name}\" is not the name of a container: write letters, digits, `_`, `.` and `-`, as `docker ps` or `podman ps` shows it"
    )))
}
