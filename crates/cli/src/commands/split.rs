//! `netloom split`

use super::{Failure, Outcome, lab_file, print};
use crate::args::{SplitArgs, SplitPartitionArgs};
use netloom_judge::ExitCode;
use netloom_lab::placement::Settings;
use netloom_lab::{Division, FileContents, FilePlan, KeyPlan, MachinePlan, Part, Plan, SplitSettings, Undivided};
use netloom_regular::{PRIVATE, replace_durably};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

pub(super) fn split(args: &SplitArgs) -> Outcome {
    let text = lab_file::text(&args.file, &args.foreign)?;
    let count = count(args.machines);
    let mut addresses = BTreeMap::new();
    for (name, address) in &args.address {
        if addresses.insert(name.clone(), address.clone()).is_some() {
            return Err(Failure::new(ExitCode::Usage, format!("--address: machine `{name}` has two addresses")));
        }
    }
    let settings = SplitSettings { placement: Settings { count, path: args.path }, addresses, port: args.port };
    let division = divide(args, &text, &settings)?;
    fs::create_dir_all(&args.out).map_err(|error| failed(&args.out, &error))?;
    let mut notes = division.notes.clone();
    for part in &division.parts {
        see_part(&args.out.join(name_of(part)), &part.text)?;
    }
    for part in &division.parts {
        let path = args.out.join(name_of(part));
        replace_durably(&path, PRIVATE, |file| file.write_all(part.text.as_bytes()))
            .map_err(|error| failed(&path, &error))?;
        notes.extend(bring_files(args, &part.lab.plan)?);
    }
    notes.dedup();
    lab_file::print_notes(&notes);
    print(&table(args, &division).join("\n"))
}

/// Prints the entry of each machine for a partition by hand.
pub(super) fn partition(args: &SplitPartitionArgs) -> Outcome {
    let text = lab_file::text(&args.file, &args.foreign)?;
    let settings = Settings { count: count(args.machines), path: args.path };
    let file = args.file.to_string_lossy();
    let divided = netloom_lab::split_partition(&text, &file, &settings, (&args.entry, args.number));
    print(&serde_json::json!(divided.map_err(|why| failure(&args.file, why))?).to_string())
}

/// As many machines as are asked for.
fn count(machines: Option<u64>) -> Option<usize> {
    machines.map(|count| usize::try_from(count).unwrap_or(MachinePlan::MOST))
}

/// Divides the lab, with keys that nobody guesses.
fn divide(args: &SplitArgs, text: &str, settings: &SplitSettings) -> Result<Division, Failure> {
    let source = Path::new("/dev/urandom");
    let mut random = File::open(source).map_err(|error| failed_reading(source, &error))?;
    let mut failed = None;
    let mut draw = || {
        let mut key = [0; KeyPlan::LEN];
        if let Err(error) = random.read_exact(&mut key) {
            failed.get_or_insert(error);
        }
        key
    };
    let keys: Option<&mut dyn FnMut() -> [u8; KeyPlan::LEN]> = if args.plain { None } else { Some(&mut draw) };
    let divided = netloom_lab::split(text, &args.file.to_string_lossy(), settings, keys);
    match failed {
        Some(error) => Err(failed_reading(source, &error)),
        None => divided.map_err(|why| failure(&args.file, why)),
    }
}

fn failed_reading(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ExitCode::Machine, format!("reading {}: {error}", path.display()))
}

/// Returns why a lab file cannot be divided.
pub(super) fn failure(file: &Path, why: Undivided) -> Failure {
    match why {
        Undivided::Refused(found) => lab_file::refused(&found),
        Undivided::Misplaced(wrong) => {
            let lines = wrong.iter().map(|wrong| format!("{}: {wrong}", file.display()));
            Failure::new(ExitCode::LabFile, lines.collect::<Vec<_>>().join("\n"))
        }
        Undivided::Settings(wrong) => Failure::new(ExitCode::Usage, wrong),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()))
}

fn name_of(part: &Part) -> String {
    format!("{}.yaml", part.lab.plan.name)
}

/// Sees that a part may be written: that nothing is there, or this part with other keys. What somebody has worked on is not overwritten.
fn see_part(path: &Path, text: &str) -> Result<(), Failure> {
    let longest = text.len() as u64 + 1;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(path, &error)),
        Ok(_) => {
            let there = netloom_regular::read_text(path, longest).unwrap_or_default();
            let is_same = without_keys(&there) == without_keys(text);
            if is_same { Ok(()) } else { Err(failed(path, &ErrorKind::AlreadyExists.into())) }
        }
    }
}

/// A part with zeros in the place of the keys that were drawn for it.
fn without_keys(text: &str) -> String {
    const MARK: &str = "key: ";
    let mut rest = text;
    let mut found = String::new();
    while let Some((before, behind)) = rest.split_once(MARK) {
        found.push_str(before);
        found.push_str(MARK);
        // A key of digits alone is quoted.
        let begin = behind.len() - behind.trim_start_matches('"').len();
        match behind.get(begin..begin + 2 * KeyPlan::LEN).filter(|key| KeyPlan::parse(key).is_some()) {
            Some(_) => {
                found.push('0');
                rest = behind[begin + 2 * KeyPlan::LEN..].trim_start_matches('"');
            }
            None => rest = behind,
        }
    }
    found + rest
}

/// Writes a file that is not there, or has the same contents.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    match File::create_new(path) {
        Ok(mut file) => file.write_all(bytes).map_err(|error| failed(path, &error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // Files that others were divided to are the same; a lab file that somebody has worked on is not overwritten.
            let is_same = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == bytes.len() as u64)
                && fs::read(path).is_ok_and(|there| there == bytes);
            if is_same { Ok(()) } else { Err(failed(path, &error)) }
        }
        Err(error) => Err(failed(path, &error)),
    }
}

/// Copies the files that a part names by relative paths, and returns a note about those that stay.
fn bring_files(args: &SplitArgs, plan: &Plan) -> Result<Option<String>, Failure> {
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_same = fs::canonicalize(folder).ok() == fs::canonicalize(&args.out).ok();
    if is_same {
        return Ok(None);
    }
    let is_below =
        |path: &&PathBuf| path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let brought: BTreeSet<&PathBuf> = plan.files.iter().filter(is_below).collect();
    for name in &brought {
        let (from, to) = (folder.join(name), args.out.join(name));
        let bytes = fs::read(&from)
            .map_err(|error| Failure::new(ExitCode::LabFile, format!("reading {}: {error}", from.display())))?;
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(|error| failed(above, &error))?;
        }
        write_new(&to, &bytes)?;
    }
    let keys = plan.nodes.iter().filter_map(|node| match node.tunnel.as_ref()?.key.as_ref()? {
        KeyPlan::File(name) if is_below(&name) => Some(name),
        _ => None,
    });
    for name in keys {
        bring_key(&folder.join(name), &args.out.join(name))?;
    }
    let stays = |path: &Path| {
        let inside = path.strip_prefix(folder).unwrap_or(path);
        path.is_relative() && !brought.iter().any(|name| name.starts_with(inside) || inside == name.as_path())
    };
    let copied = |file: &FilePlan| matches!(&file.contents, FileContents::Copy(path) if stays(path));
    let left = plan.nodes.iter().flat_map(|node| &node.files).any(copied)
        || plan.files.iter().any(|path| path.is_relative() && !is_below(&path));
    Ok(left.then(|| {
        format!(
            "the parts name files by paths that count from {}: copy these to the same paths there",
            folder.display()
        )
    }))
}

/// Copies the file with the key of a tunnel, which only its owner may read.
fn bring_key(from: &Path, to: &Path) -> Result<(), Failure> {
    let bytes = netloom_regular::read(from, LONGEST_KEY_FILE)
        .map_err(|error| Failure::new(ExitCode::LabFile, format!("reading {}: {error}", from.display())))?;
    if let Some(above) = to.parent() {
        fs::create_dir_all(above).map_err(|error| failed(above, &error))?;
    }
    replace_durably(to, PRIVATE, |file| file.write_all(&bytes)).map_err(|error| failed(to, &error))
}

/// A key and what may be around it, in bytes.
const LONGEST_KEY_FILE: u64 = 4_096;

/// Returns a row for each part, for people.
fn table(args: &SplitArgs, division: &Division) -> Vec<String> {
    let row = |part: &Part| {
        let shown = part.nodes.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match part.nodes.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let cut = match part.cut {
            0 => String::new(),
            1 => "; 1 link to another machine".to_owned(),
            count => format!("; {count} links to other machines"),
        };
        format!("{}: {}: {shown}{more}{cut}", part.machine, args.out.join(name_of(part)).display())
    };
    division.parts.iter().map(row).collect()
}

/// How many names are written in a row.
const MOST_NAMED: usize = 12;
