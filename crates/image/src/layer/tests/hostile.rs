//! Layers that somebody wrote to get out of their folder: whatever is in them, nothing beside the tree changes.

use super::*;
use proptest::prelude::*;

/// Parts of names that mean something to a kernel, to this format, or to what was there before.
const PARTS: [&str; 12] =
    ["a", "b", "c", "..", ".", "", ".wh.a", ".wh.b", ".wh..wh..opq", ".wh...", "outside", "secret"];

/// Where links may lead.
const TARGETS: [&str; 8] =
    ["a", "..", "../outside", "../../outside/secret", "/", "/../outside", "a/../../outside", "/proc/self/root"];

/// One entry of a layer.
#[derive(Clone, Debug)]
struct Wanted {
    kind: EntryType,
    path: String,
    target: String,
    is_long: bool,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let kinds = vec![
        EntryType::Regular,
        EntryType::Directory,
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
    ];
    let name = prop::collection::vec(prop::sample::select(&PARTS[..]), 1..5);
    let target = prop_oneof![
        prop::sample::select(&TARGETS[..]).prop_map(str::to_owned),
        name.clone().prop_map(|parts| parts.join("/"))
    ];
    (prop::sample::select(kinds), name, any::<bool>(), target, any::<bool>()).prop_map(
        |(kind, parts, is_absolute, target, is_long)| {
            let path = parts.join("/");
            Wanted { kind, path: if is_absolute { format!("/{path}") } else { path }, target, is_long }
        },
    )
}

fn layer(all: &[Wanted]) -> Layer {
    all.iter().fold(Layer::default(), |layer, one| {
        let contents: &[u8] = if one.kind == EntryType::Regular { b"written" } else { b"" };
        // The same by records in front, which win over the header.
        let (layer, path) = if one.is_long {
            let records: [(&str, &[u8]); 2] = [("path", one.path.as_bytes()), ("linkpath", one.target.as_bytes())];
            (layer.pax(&records), "a")
        } else {
            (layer, one.path.as_str())
        };
        layer.entry(path, one.kind, 0o777, &one.target, contents)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn nothing_beside_the_tree_changes(layers in prop::collection::vec(prop::collection::vec(wanted(), 1..10), 1..4)) {
        let place = Place::new();
        let done = place.apply(layers.iter().map(|all| layer(all)).collect());
        prop_assert!(place.is_untouched(), "{done:?}");
        // Nothing but folders, files, links and pipes is in the tree, and no link was followed to get there.
        let root = fs::metadata(place.root()).unwrap();
        let is_within = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.dev() == root.dev());
        prop_assert!(fs::read_dir(place.root()).unwrap().flatten().all(|entry| is_within(&entry.path())));
    }
}
