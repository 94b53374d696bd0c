//! `netloom capture`

use super::set::split_place;
use super::{DONE, Failure, Outcome};
use crate::args::CaptureArgs;
use netloom_control::Capture;
use netloom_judge::ExitCode;
use std::fs::File;
use std::io::{IsTerminal, Write, stdout};

pub(super) fn capture(args: &CaptureArgs) -> Outcome {
    let wrong = |why: String| Failure::new(ExitCode::Usage, why);
    let (link, direction, pipe) = split_place(&args.link);
    if let Some(pipe) = pipe {
        return Err(wrong(format!("`{pipe}` is not a direction: write {link}.forward, {link}.backward or {link}")));
    }
    let to_stdout = args.write.as_os_str() == "-";
    if to_stdout && stdout().is_terminal() {
        return Err(wrong(
            "a capture is binary, not for a terminal: write it to a file with -w FILE, or pipe it to a program".into(),
        ));
    }
    let (at, headers) = (args.at.clone(), args.headers.clone());
    let wanted = Capture { link, direction, at, snaplen_bytes: args.snaplen, headers };
    let mut out: Box<dyn Write> = if to_stdout {
        Box::new(stdout().lock())
    } else {
        let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", args.write.display()));
        Box::new(File::create(&args.write).map_err(failed)?)
    };
    netloom_control::capture(&args.lab, wanted, &mut *out)?;
    DONE
}
