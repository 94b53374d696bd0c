//! Containers that files of other tools describe: the image of a node, and how its program is started.

use crate::source::Place;
use crate::value::{Map, Origin, Value, put};

/// What lab files read as something else than a name, if it stands before the first colon.
const KINDS: [&str; 9] = [
    "oci",
    "docker-archive",
    "rootfs",
    "sha256",
    "docker",
    "docker-daemon",
    "containers-storage",
    "dir",
    "oci-archive",
];

/// Where a container's volumes cannot be: nodes have these folders from their kernel.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Gives a node the image of this name, if it is not empty.
pub(crate) fn put_image(settings: &mut Map, name: &str, place: Place) {
    let name = name.trim();
    if name.is_empty() {
        return;
    }
    let first = name.split(':').next().unwrap_or_default();
    let written = match name.split_once('@') {
        Some((_, digest)) => digest.to_owned(),
        None if KINDS.contains(&first) => format!("docker.io/library/{name}"),
        None => name.to_owned(),
    };
    put(settings, "image", Value::text(written).because(Origin::at(place)));
}

/// Puts the words of a command under a key, as a shell would divide them; nothing if there are none.
pub(crate) fn put_words(settings: &mut Map, key: &str, command: &str, place: Place) {
    let words = words(command);
    if !words.is_empty() {
        put(settings, key, Value::list(words.into_iter().map(Value::text)).because(Origin::at(place)));
    }
}

/// A volume as lab files have it, of `SOURCE:TARGET` or `SOURCE:TARGET:OPTIONS`; none if a node cannot have it.
pub(crate) fn volume(text: &str) -> Option<String> {
    let mut parts = text.split(':');
    let (from, to, options) = (parts.next()?, parts.next()?, parts.next().unwrap_or_default());
    let is_window = WINDOWS.iter().any(|window| to == *window || to.starts_with(&format!("{window}/")));
    let is_plain = !from.is_empty() && to.starts_with('/') && to.len() > 1 && parts.next().is_none();
    let is_read_only = options.split(',').any(|option| option == "ro");
    (is_plain && !is_window).then(|| format!("{from}:{to}{}", if is_read_only { ":ro" } else { "" }))
}

/// The words of a command: divided by spaces outside of quotation marks (POSIX shell, "Quoting"), and nothing else.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c @ ('"' | '\'')) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_divided_as_by_a_shell() {
        assert_eq!(words(r#"sh -c 'a "b"'  "c d"e \"f '' "#), ["sh", "-c", "a \"b\"", "c de", "\"f", ""]);
        assert_eq!(words("  "), [""; 0]);
        assert_eq!(words("'open"), ["open"]);
    }

    #[test]
    fn volumes_are_those_that_nodes_can_have() {
        assert_eq!(volume("a:/b").as_deref(), Some("a:/b"));
        assert_eq!(volume("/lib/modules:/lib/modules:ro,z").as_deref(), Some("/lib/modules:/lib/modules:ro"));
        for wrong in ["a", "/dev/kvm:/dev/kvm", "a:b", ":/b", "a:/", "a:/b:ro:x"] {
            assert_eq!(volume(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn images_have_names_that_lab_files_read() {
        let written = |name: &str| {
            let mut settings = Map::new();
            put_image(&mut settings, name, Place::default());
            settings.pop().map(|(_, value)| value.content)
        };
        let text = |text: &str| Some(crate::value::Content::Text(text.to_owned()));
        assert_eq!(written("quay.io/a/b:1"), text("quay.io/a/b:1"));
        assert_eq!(written("rootfs:1"), text("docker.io/library/rootfs:1"));
        assert_eq!(written("a:1@sha256:00"), text("sha256:00"));
        assert_eq!(written(" "), None);
    }
}
