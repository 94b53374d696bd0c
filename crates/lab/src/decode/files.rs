//! What a node's file system has of its own.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{Filled, forms, word_form};
use crate::keyed::{Keyed, sections};
use crate::kinds::USER_NAME;
use crate::names::user_name;
use crate::plan::{FileContents, FilePlan};
use crate::scalar::text;
use crate::section::{Form, Kind};
use crate::yaml::{Content, Entry, Node};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

forms! {
    /// Files and folders by their paths in the node, folders before what is inside them.
    pub(crate) struct Files = Vec<FilePlan>,
        Kind::Map { names: "^/+[^/]", values: &Kind::OneOf(&[Kind::Word(&["empty"]), Filled::KIND, File::KIND]) }, noting files;
    /// A pattern for absolute paths.
    pub(crate) struct Pattern = String, Kind::Text("^/+[^/]"), pattern;
    /// A user, by name or number.
    pub(crate) struct User = String, Kind::OneOf(&[Kind::Text(USER_NAME), Kind::Integer { least: 0, most: u32::MAX as u64 - 1 }]), user_name;
    pub(crate) struct Mode = u32, Kind::OneOf(&[Kind::Text("^[0-7]{3,4}$"), Kind::Integer { least: 100, most: 7777 }]), mode;
}

word_form! {
    /// Whether the node's file system is a copy on write of the machine's.
    pub(crate) struct Overlay = bool { "machine" = false, "overlay" = true }
}

sections! {
    /// A file or a folder of a node; an empty folder if neither `from` nor `text` is given.
    pub(crate) struct File = "file" {
        /// The file or folder of this machine of which it is a copy on write; a relative path starts at the lab file's folder.
        from = Filled::KIND, "/etc/hosts";
        /// The contents of the file.
        text = Kind::Scalar, "hello";
        /// Whether the contents of the folder are kept for the next run. Default: false.
        keep: bool, "true";
        /// The permissions of the file, or of the folder itself, in octal. Default: those of the source, else 0644 and 0755.
        mode: Mode, "\"0750\"";
        /// The owner of the file, or of the folder and all that is in it. Default: that of the source, else root.
        owner: User, "postgres";
    }
}

/// Windows into the kernel, and devices: nothing can be put there.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The permissions that there are.
const MOST_MODE: u32 = 0o7777;

fn files(node: &Node, errors: &mut Errors) -> Option<Vec<FilePlan>> {
    let entries = map(node, "a map of paths in the node, like `{/etc/frr: ./r1/frr, /run/frr: empty}`", errors)?;
    let mut files: BTreeMap<PathBuf, Found<'_>> = BTreeMap::new();
    for entry in entries {
        let about = |what: String| entry.error(what);
        let Some(target) = keep(target(&entry.name).map_err(about), errors) else { continue };
        let Some((plan, is_folder)) = one(entry, target.clone(), errors) else { continue };
        match files.get(&target) {
            Some(first) => {
                let again = about(format!("{} is listed twice: leave one out", target.display()));
                errors.push(again.and(first.entry.span, "first here"));
            }
            None => drop(files.insert(target, Found { entry, plan, is_folder })),
        }
    }
    for (target, found) in &files {
        let above = target.ancestors().skip(1).find_map(|path| files.get(path));
        if let Some(file) = above.filter(|above| !above.is_folder) {
            let what = format!("{} cannot be inside {}, which is a file", target.display(), file.plan.target.display());
            let inside = Diagnostic::new(found.entry.span, &found.entry.value.key, what);
            errors.push(inside.and(file.entry.span, "the file"));
        }
    }
    Some(files.into_values().map(|found| found.plan).collect())
}

struct Found<'a> {
    entry: &'a Entry,
    plan: FilePlan,
    is_folder: bool,
}

/// The normalized path of an entry in the node.
pub(super) fn target(name: &str) -> Result<PathBuf, String> {
    let wrong = |what: &str| Err(format!("\"{name}\" {what}: write an absolute path like /etc/frr"));
    if !name.starts_with('/') {
        return wrong("is not an absolute path");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return wrong("is the whole file system, which a node gets by `root: overlay` only");
    }
    if parts.iter().any(|part| matches!(*part, "." | "..")) || name.contains('\0') {
        return wrong("has parts that lead nowhere or upwards");
    }
    let path: PathBuf = std::iter::once("/").chain(parts).collect();
    match WINDOWS.iter().find(|window| path.starts_with(window)) {
        Some(window) => Err(format!("\"{name}\" is below {window}, which shows the node's kernel and takes no files")),
        None => Ok(path),
    }
}

/// One entry, and whether it is a folder.
fn one(entry: &Entry, target: PathBuf, errors: &mut Errors) -> Option<(FilePlan, bool)> {
    let node = &entry.value;
    let mut file =
        FilePlan { line: entry.span.line, target, contents: FileContents::Empty, keep: false, mode: None, owner: None };
    let is_folder = match &node.content {
        Content::Text { text, .. } if text == "empty" => true,
        Content::Text { .. } => {
            let (path, is_folder) = keep(errors.source(node), errors)?;
            file.contents = FileContents::Copy(path);
            is_folder
        }
        Content::Map(_) => described(node, &mut file, errors)?,
        _ => {
            return errors.reject(node.expected(
                "`empty`, the path of a file or folder to copy, or a map of from, text, keep, mode and owner",
            ));
        }
    };
    Some((file, is_folder))
}

fn described(node: &Node, file: &mut FilePlan, errors: &mut Errors) -> Option<bool> {
    let fields = Fields::open(node, &File::SECTION, errors)?;
    let File { keep: is_kept, mode, owner } = File::read_keys(&fields, errors)?;
    (file.keep, file.mode, file.owner) = (is_kept.unwrap_or_default(), mode, owner);
    let is_folder = match (fields.get("from"), fields.get("text")) {
        (Some(_), Some(text)) => {
            return errors.reject(text.error("a file has either a source or a text: leave out `from` or `text`"));
        }
        (Some(from), None) => {
            let (path, is_folder) = keep(errors.source(from), errors)?;
            file.contents = FileContents::Copy(path);
            is_folder
        }
        (None, Some(contents)) => {
            file.contents = FileContents::Text(keep(text(contents), errors)?);
            false
        }
        (None, None) => true,
    };
    if let (true, false, Some(place)) = (file.keep, is_folder, fields.get("keep")) {
        errors.push(place.error("only a folder can be kept: name the folder that the file is in"));
    }
    Some(is_folder)
}

fn mode(node: &Node) -> Result<u32, Diagnostic> {
    let wanted = text(node)?;
    let digits = wanted.bytes().all(|b| (b'0'..=b'7').contains(&b)) && (3..=4).contains(&wanted.len());
    let mode = u32::from_str_radix(&wanted, 8).ok().filter(|mode| digits && *mode <= MOST_MODE);
    mode.ok_or_else(|| {
        node.error(format!("\"{wanted}\" is not a permission: write three or four octal digits, for example 0750"))
    })
}

fn pattern(node: &Node) -> Result<String, Diagnostic> {
    let pattern = text(node)?;
    let wrong = |what: &str| node.error(format!("\"{pattern}\" {what}: write for example /var/log/frr/*.log"));
    let mut parts = pattern.split('/').filter(|part| !part.is_empty()).peekable();
    if !Path::new(&pattern).is_absolute() || parts.peek().is_none() || pattern.contains('\0') {
        return Err(wrong("is not a pattern for absolute paths"));
    }
    for part in parts {
        if matches!(part, "." | "..") {
            return Err(wrong("has parts that lead nowhere or upwards"));
        }
        if part.contains("**") && part != "**" {
            return Err(wrong("has ** beside other characters, where it has no meaning"));
        }
        // A bracket that follows the opening one at once is a character of the set.
        if part.find('[').is_some_and(|at| !part[at + 1..].chars().skip(1).any(|c| c == ']')) {
            return Err(wrong("has a [ without a ]"));
        }
    }
    Ok(pattern)
}
