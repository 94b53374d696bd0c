//! `netloom convert`

use super::{DONE, Failure, Outcome, lab_file, print};
use crate::args::{ConvertArgs, To};
use netloom_import::Format;
use netloom_judge::ExitCode;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

pub(super) fn convert(args: &ConvertArgs) -> Outcome {
    if let To::Other(target) = args.to {
        let loaded = lab_file::parse(&args.file, &args.foreign, None)?;
        let (text, left_out) = target.write(&loaded.lab.plan);
        lab_file::tell_notes(&[loaded.notes, left_out].concat());
        return hand_out(args, &text);
    }
    let text = netloom_lab::read(&args.file).map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    let Some(format) = args.foreign.from.or_else(|| Format::of(&args.file, &text)) else {
        let names = Format::ALL.map(Format::name).join(", ");
        let message = format!("{}: no known format: name it with --from, one of {names}", args.file.display());
        return Err(Failure::new(ExitCode::LabFile, message));
    };
    let imported = lab_file::import(&args.file, format, text, &args.foreign)?;
    // A lab file that is refused would be of no use, and here the place in the other file can be told.
    imported.parse(None).map_err(|found| lab_file::refused(&found))?;
    lab_file::tell_notes(&imported.notes().collect::<Vec<_>>());
    hand_out(args, imported.yaml())
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
