//! The tables of a node's files.

use super::{Key, Kind, Section, USER_NAME};

/// A user, by name or number.
pub(crate) const USER: Kind =
    Kind::OneOf(&[Kind::Text(USER_NAME), Kind::Integer { least: 0, most: u32::MAX as u64 - 1 }]);

/// What is put at a path.
pub(crate) const FILES: Kind = Kind::Map {
    names: "^/+[^/]",
    values: &Kind::OneOf(&[Kind::Word(&["empty"]), Kind::Text("\\S"), Kind::Section(&FILE)]),
};

/// Patterns for absolute paths.
pub(crate) const COLLECT: Kind = Kind::List { items: &Kind::Text("^/+[^/]"), least: 0, most: None };

/// A file or folder of a node.
pub(crate) const FILE: Section = Section {
    name: "file",
    doc: "A file or a folder of a node; an empty folder if neither `from` nor `text` is given.",
    groups: &[&[
        Key::new(
            "from",
            Kind::Text("\\S"),
            "/etc/hosts",
            "The file or folder of this machine of which it is a copy on write; a relative path starts at the lab file's folder.",
        ),
        Key::new("text", Kind::Scalar, "hello", "The contents of the file."),
        Key::new(
            "keep",
            Kind::Flag,
            "true",
            "Whether the contents of the folder are kept for the next run. Default: false.",
        ),
        Key::new(
            "mode",
            Kind::OneOf(&[Kind::Text("^[0-7]{3,4}$"), Kind::Integer { least: 100, most: 7777 }]),
            "\"0750\"",
            "The permissions of the file, or of the folder itself, in octal. Default: those of the source, else 0644 and 0755.",
        ),
        Key::new(
            "owner",
            USER,
            "postgres",
            "The owner of the file, or of the folder and all that is in it. Default: that of the source, else root.",
        ),
    ]],
};
