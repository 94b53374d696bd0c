//! `netloom generate`

use super::{DONE, Failure, Outcome, lab_file, print};
use crate::args::GenerateArgs;
use netloom_judge::ExitCode;
use std::fs::File;
use std::io::Write;

pub(super) fn generate(args: &GenerateArgs) -> Outcome {
    let name = args.name.as_deref().unwrap_or(&args.kind);
    netloom_lab::check_name(name).map_err(|reason| Failure::new(ExitCode::Usage, format!("--name: {reason}")))?;
    let text = netloom_lab::generate(name, &args.kind, &args.keys).map_err(|found| lab_file::refused(&found))?;
    let Some(path) = &args.out else { return print(text.trim_end()) };
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
    // A lab file that somebody has worked on is not overwritten.
    let mut file = File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    DONE
}
