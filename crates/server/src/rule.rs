//! What is a lab file: the one rule for all that lists, reads, checks, writes or runs files of the folder.
//!
//! A name is judged first, and what is in the file then. No part of a path is hidden, a folder of other tools or one of results, and its ending is that of
//! lab files or of a format that is read. A text is that of a lab by its keys, and that of another tool by the words that its files have. So a key, a
//! password or the settings of another program are no lab file, whatever folder is served.

use netloom_import::Format;
use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::OnceLock;

/// So much of a file is looked at.
pub(crate) const LOOKED_AT: usize = 64 << 10;
/// Folders that a lab file may be in, one inside the other.
pub(crate) const MOST_FOLDERS: usize = 3;
/// The endings of lab files.
const OWN: [&str; 3] = ["yaml", "yml", "json"];
/// The endings of other tools' files.
const OTHERS: [&str; 9] = ["graphml", "gml", "tcl", "ns", "imn", "xml", "mn", "conf", "toml"];
/// Folders of other tools, which have files with such endings by the thousand.
const SKIPPED: [&str; 2] = ["node_modules", "target"];
/// A text with one of these keys is that of a lab.
const TELLING: [&str; 3] = ["nodes", "links", "generate"];

/// Why this path cannot be that of a lab file; none if it can.
pub(crate) fn against_name(path: &Path) -> Option<&'static str> {
    let parts: Vec<&str> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_str().unwrap_or(".")),
            _ => None,
        })
        .collect();
    if parts.iter().any(|part| part.starts_with('.')) {
        return Some("it is hidden");
    }
    if parts.len() > MOST_FOLDERS + 1 {
        return Some("it is more than three folders deep");
    }
    if parts.iter().any(|part| is_skipped(part)) {
        return Some("it is in a folder of another tool");
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    let is_known = ending.is_some_and(|ending| OWN.contains(&ending.as_str()) || OTHERS.contains(&ending.as_str()));
    (!is_known).then_some("lab files end with .yaml, .yml or .json, or as those of other tools do")
}

/// Whether a folder of this name is passed over.
pub(crate) fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || SKIPPED.contains(&name)
}

/// The format of a text in a file of this name; none if it is no lab file.
pub(crate) fn format(path: &Path, text: &str) -> Option<&'static str> {
    let text = beginning(text);
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase)?;
    if let Some(format) = Format::of(path, text) {
        return signs(format).iter().any(|sign| text.contains(sign)).then(|| format.name());
    }
    (OWN.contains(&ending.as_str()) && is_lab(text)).then_some("lab")
}

/// As much of a text as is looked at.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Of these words, a file of the format has one.
fn signs(format: Format) -> &'static [&'static str] {
    match format {
        Format::GraphMl => &["<graphml"],
        Format::Gml => &["graph"],
        Format::Containerlab => &["nodes:", "\"nodes\""],
        Format::Kathara => &["["],
        Format::Ns2 => &["Simulator", "create-connection", "duplex-link", "simplex-link", "make-lan"],
        Format::Imunes => &["node n"],
        Format::Core => &["<scenario"],
        Format::MiniEdit => &["\"hosts\"", "\"switches\""],
        Format::Kollaps => &["<experiment"],
        Format::Shadow => &["network"],
        Format::Rattan => &["[links]", "[cells"],
    }
}

/// Whether this is the text of a lab, maybe of one that is being written: it has a key that every lab has, or none but those of labs.
fn is_lab(text: &str) -> bool {
    static KNOWN: OnceLock<BTreeSet<String>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let table = netloom_lab::key_table();
        let keys = table["sections"]["lab"]["keys"].as_array().into_iter().flatten();
        keys.filter_map(|key| key["name"].as_str().map(str::to_owned)).collect()
    });
    let Some(keys) = top_keys(text) else { return false };
    keys.iter().any(|key| TELLING.contains(key)) || keys.iter().all(|key| known.contains(*key))
}

/// The keys at the top of a YAML or JSON text, which may be broken further in; none if it is neither.
fn top_keys(text: &str) -> Option<Vec<&str>> {
    let mut keys = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let line = line.trim_end().trim_start_matches('\u{feff}');
        if line.starts_with('{') || (keys.is_empty() && line.trim_start().starts_with('{')) {
            keys.extend(keys_in_brackets(&text[begin..]));
            return Some(keys);
        }
        let is_below = line.starts_with([' ', '\t']) && !keys.is_empty();
        if line.trim().is_empty()
            || line.trim_start().starts_with('#')
            || is_below
            || line.starts_with('%')
            || line == "---"
            || line == "..."
        {
            continue;
        }
        // A list, and what closes brackets, may stand without space below a key.
        if !keys.is_empty() && line.starts_with(['-', '}', ']']) && !line.starts_with("---") {
            continue;
        }
        let (key, rest) = line.split_once(':')?;
        if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            return None;
        }
        keys.push(unquoted(key));
    }
    Some(keys)
}

/// The keys of the map in brackets with which this text begins.
fn keys_in_brackets(text: &str) -> Vec<&str> {
    let (mut keys, mut depth, mut start, mut quote) = (Vec::new(), 0_u32, 0, None);
    let mut letters = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('"'), '\\') => drop(letters.next()),
            (Some(open), letter) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if before.is_whitespace() || "{[,:".contains(before) => quote = Some(letter),
            (None, '#') if before.is_whitespace() => {
                while letters.next_if(|(_, next)| *next != '\n').is_some() {}
                if depth == 1 && text.get(start..at).is_some_and(|key| key.trim().is_empty()) {
                    start = letters.peek().map_or(text.len(), |(next, _)| *next);
                }
            }
            (None, '{' | '[') => {
                depth += 1;
                start = if depth == 1 { at + 1 } else { start };
            }
            (None, '}' | ']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            (None, ',') if depth == 1 => start = at + 1,
            (None, ':') if depth == 1 && start <= at => {
                keys.extend(text.get(start..at).map(unquoted));
                // What follows is a value, which has no further colon at this depth.
                start = text.len();
            }
            _ => {}
        }
        before = letter;
    }
    keys
}

fn unquoted(key: &str) -> &str {
    let key = key.trim();
    let within = |quote| key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lab_files_are_told_from_others() {
        for good in ["a.yaml", "a/b/c/d.yml", "net.JSON", "lab.conf", "x.imn", "a b/ü.yaml", "two.dots.yaml"] {
            assert_eq!(against_name(Path::new(good)), None, "{good}");
        }
        for bad in [
            ".env",
            ".ssh/id_ed25519",
            ".ssh/config.yaml",
            "a/.hidden/b.yaml",
            ".a.yaml",
            ".bashrc",
            "id_rsa",
            "note.txt",
            "a.yaml.bak",
            "a/b/c/d/e.yaml",
            "node_modules/x/package.json",
            "target/a.json",
            "run.sh",
            "yaml",
            "",
        ] {
            assert!(against_name(Path::new(bad)).is_some(), "{bad}");
        }
    }

    #[test]
    fn what_is_in_a_file_decides_too() {
        for (name, text) in [
            ("a.yaml", ""),
            ("a.yaml", "# to be written\n\n"),
            ("a.yaml", "---\nnodes: [a, b]\n"),
            ("a.yaml", "name: star\nnodes:\n- a\n- b\nlinks: {l: {ends: [a, b]\n"),
            ("a.yml", "seed: 7\n"),
            ("a.yaml", "{nodes: {a: {}}, links: {}}"),
            ("a.yaml", "# by hand\n{ # more\n  'name': x, \"nodes\": [a: 1"),
            ("a.yml", "x-common: &c {delay: 1 ms}\nnodes: [a]\n"),
            ("a.json", "{\"name\": \"a\", \"nodes\": {\"a\": {\"x\": 1}}}"),
            ("a.json", "\n  {\n\"generate\": {\"kind\": \"ring\"}\n"),
            ("a.json", "{}"),
            ("a.yaml", "{name: x, # of ours\n nodes: [a], # two\n # three\n seed: 1 # four\n}"),
        ] {
            assert_eq!(format(Path::new(name), text), Some("lab"), "{text}");
        }
        for (name, text) in [
            ("a.yaml", "PRIVATE-KEY"),
            ("a.yaml", "-----BEGIN OPENSSH PRIVATE KEY-----\nnodes: x\n"),
            ("a.yaml", "PASSWORD=x\n"),
            ("a.yaml", "services: {db: {environment: {PASSWORD: x}}}\n"),
            ("a.yml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {nodes: eA==}\n"),
            ("package.json", "{\"name\": \"x\", \"dependencies\": {\"nodes\": \"1\"}}"),
            ("key.json", "{\"type\": \"service_account\", \"private_key\": \"nodes: \\\", nodes: \"}"),
            ("list.json", "[{\"nodes\": 1}]"),
            ("text.json", "\"nodes: \""),
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("nginx.conf", "server { listen 80; }\n"),
            ("settings.xml", "<settings><password>x</password></settings>\n"),
            ("deploy.tcl", "set password x\n"),
            ("net.graphml", "secret"),
        ] {
            assert_eq!(format(Path::new(name), text), None, "{name}: {text}");
        }
    }

    #[test]
    fn files_of_other_tools_are_told_by_their_words() {
        for (name, text, expected) in [
            ("a.clab.yml", "name: x\ntopology:\n  nodes:\n    a: {}\n", "containerlab"),
            ("net.imn", "node n0 {\n", "imunes"),
            ("net.graphml", "<?xml version=\"1.0\"?><graphml>", "graphml"),
            ("s.tcl", "set ns [new Simulator]\n", "ns2"),
            ("lab.conf", "pc1[0]=A\n", "kathara"),
            ("r.toml", "[cells.x]\n", "rattan"),
            ("s.xml", "<scenario name=\"x\">", "core"),
        ] {
            assert_eq!(format(Path::new(name), text), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_long_text_is_judged_by_its_beginning() {
        let long = format!("nodes: [a]\n# {}", "é".repeat(LOOKED_AT));
        assert_eq!(format(Path::new("a.yaml"), &long), Some("lab"));
    }
}
