//! `netloom convert`

use super::{DONE, Failure, Outcome, lab_file, print};
use crate::args::{ConvertArgs, To};
use netloom_import::Format;
use netloom_judge::ExitCode;
use netloom_lab::{FileContents, FilePlan, Plan};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) fn convert(args: &ConvertArgs) -> Outcome {
    if let To::Other(target) = args.to {
        let loaded = lab_file::parse(&args.file, &args.foreign, None)?;
        let (text, left_out) = target.write(&loaded.lab.plan);
        lab_file::print_notes(&[loaded.notes, left_out].concat());
        return hand_out(args, &text);
    }
    let text = netloom_lab::read(&args.file).map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    let format = args.foreign.from.or_else(|| Format::of(&args.file, &text));
    if let (To::Json, None) = (args.to, format) {
        return hand_out(args, &json(&text, &args.file)?);
    }
    let Some(format) = format else {
        let names = Format::ALL.map(Format::name).join(", ");
        let message = format!("{}: no known format: name it with --from, one of {names}", args.file.display());
        return Err(Failure::new(ExitCode::LabFile, message));
    };
    let imported = lab_file::import(&args.file, format, text, &args.foreign)?;
    // A lab file that is refused would be of no use, and here the place in the other file is known.
    let lab = imported.parse(None).map_err(|found| lab_file::refused(&found))?;
    let notes: Vec<String> = imported.notes().chain(misplaced(args, &lab.plan)).collect();
    lab_file::print_notes(&notes);
    match args.to {
        To::Json => hand_out(args, &json(imported.yaml(), &args.file)?),
        _ => hand_out(args, imported.yaml()),
    }
}

fn json(text: &str, file: &Path) -> Result<String, Failure> {
    netloom_lab::to_json(text, &file.to_string_lossy()).map_err(|found| lab_file::refused(&found))
}

/// That the lab file names other files, which are not found from where it is written to.
fn misplaced(args: &ConvertArgs, plan: &Plan) -> Option<String> {
    let from = if args.file.is_dir() { Some(args.file.as_path()) } else { args.file.parent() };
    let is_below = |path: &Path| path.is_relative() || from.is_some_and(|from| path.starts_with(from));
    let copied = |file: &FilePlan| matches!(&file.contents, FileContents::Copy(path) if is_below(path));
    let is_named =
        plan.files.iter().any(|path| path.is_relative()) || plan.nodes.iter().flat_map(|node| &node.files).any(copied);
    let (from, to) = (folder(from)?, folder(args.out.as_ref()?.parent())?);
    (is_named && from != to)
        .then(|| format!("the lab file names files by paths that count from {}: write it there", from.display()))
}

fn folder(path: Option<&Path>) -> Option<PathBuf> {
    let path = path.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(path).ok()
}

/// Writes to where the arguments say.
fn hand_out(args: &ConvertArgs, text: &str) -> Outcome {
    match &args.out {
        None => print(text.trim_end()),
        Some(path) => write(path, text),
    }
}

/// Writes a new file.
fn write(path: &Path, text: &str) -> Outcome {
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    DONE
}
