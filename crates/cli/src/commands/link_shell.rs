//! `netloom link shell`

use super::lab_file::precision_of;
use super::{Failure, Outcome};
use crate::args::LinkShellArgs;
use crate::talk;
use netloom_judge::{ExitCode, Judgement, Report};
use netloom_link_shell::{LinkShellEnd, LinkShellRequest};
use netloom_results::render;
use netloom_units::Seed;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

pub(super) fn link_shell(args: &LinkShellArgs) -> Outcome {
    let usage = |why: String| Failure::new(ExitCode::Usage, why);
    let request = LinkShellRequest {
        ways: args.keys.directions().map_err(usage)?,
        seed: Seed::new(args.seed),
        precision: precision_of(args.precision),
        argv: command(&args.argv)?,
        label: args.keys.label(),
        logs: [None, None],
        once: false,
    };
    run(request, args.verbose, args.report.as_deref())
}

/// What to run: what was asked for, or the user's shell.
pub(super) fn command(argv: &[OsString]) -> Result<Vec<OsString>, Failure> {
    if let Some(first) = argv.first().map(|first| first.to_string_lossy())
        && first.starts_with('-')
    {
        let message = format!("{first} is no option here, and no program: --help shows the options");
        return Err(Failure::new(ExitCode::Usage, message));
    }
    if !argv.is_empty() {
        return Ok(argv.to_vec());
    }
    Ok(vec![env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into())])
}

/// Runs it, and says of the link what was asked for; that it was not as described is said in any case.
pub(super) fn run(request: LinkShellRequest, verbose: bool, file: Option<&Path>) -> Outcome {
    // What cannot be written is refused before anything is done.
    let file = file.map(|path| File::create(path).map(|open| (path, open)).map_err(|error| unwritable(path, &error)));
    let file = file.transpose()?;
    let LinkShellEnd { code, not_started, report } = netloom_link_shell::link_shell(request)?;
    if let Some(why) = &not_started {
        talk::failure(why);
    }
    report.warnings.iter().for_each(|warning| talk::warning(warning));
    if verbose {
        talk::say(render::link(&report).trim_end());
    } else if report.verdict.judgement == Judgement::NotAsDescribed {
        talk::warning(&format!("the link: {}; -v says more", report.verdict.headline()));
    }
    if let Some((path, open)) = file {
        write(&open, &report).map_err(|error| unwritable(path, &error))?;
    }
    Ok(code)
}

fn write(mut file: &File, report: &Report) -> std::io::Result<()> {
    use std::io::Write;
    serde_json::to_writer_pretty(file, report)?;
    writeln!(file)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()))
}
