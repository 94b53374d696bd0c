//! The table of containers.

use super::{Key, Kind, Section};

/// The name of a container, or the beginning of its identifier.
pub(crate) const CONTAINER_NAME: Kind = Kind::Text("^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$");

/// A container that runs already.
pub(crate) const CONTAINER: Section = Section {
    name: "container",
    doc: "A container that runs already, of docker or podman.",
    groups: &[&[
        Key::new("name", CONTAINER_NAME, "web", "Its name, or the beginning of its identifier.").required(),
        Key::new(
            "engine",
            Kind::Word(&["docker", "podman"]),
            "podman",
            "Whose container it is. Default: whichever of docker and podman has it.",
        ),
    ]],
};
