//! `netloom hunt`

mod cluster;
mod suite;
mod watch;

use super::{Failure, Outcome, ci, lab_file, print};
use crate::args::HuntArgs;
use crate::talk;
use anstyle::{AnsiColor, Style};
use netloom_host::processors;
use netloom_hunt::{
    Covered, FindingRecord, How, HuntError, HuntFolder, Regressed, Search, Summary, Target, add_to_corpus, run_hunt,
};
use netloom_judge::{ExitCode, quantity};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of runs of a hunt that says none.
const RUNS: u64 = 200;
/// The style of whatever keeps a hunt without findings from being good.
const BAD: Style = AnsiColor::Red.on_default().bold();

impl From<HuntError> for Failure {
    fn from(error: HuntError) -> Self {
        match &error {
            HuntError::Lab(found) => lab_file::refused(found),
            _ => Self::new(error.exit_code(), error.to_string()),
        }
    }
}

pub(super) fn hunt(args: &HuntArgs) -> Outcome {
    let target = Arc::new(Target::read_from(&args.file, args.as_played.as_deref().unwrap_or(&args.file))?);
    if !target.lab.warnings.is_empty() {
        talk::say(&target.lab.warnings.render_styled());
    }
    let missing = netloom_run::missing_programs(&target.lab.plan, &args.file, None);
    if !missing.is_empty() {
        return Err(netloom_judge::RunError::MissingPrograms(missing).into());
    }
    if let Some(on) = &args.on {
        return Err(cluster::play(args, on, &target));
    }
    let regress = earlier(args)?;
    let default = || Path::new("hunts").join(&target.lab.plan.name);
    let path = args.out.clone().unwrap_or_else(default);
    let search = Search { seed: args.seed, is_systematic: args.systematic, varies_seed: args.vary_seed };
    let mut folder = HuntFolder::open(&path, &target, search, args.resume)?;
    let program = std::env::current_exe();
    let program = program.map_err(|error| Failure::new(ExitCode::Machine, format!("finding this program: {error}")))?;
    let options = options(args);
    let lasts = args.lasts.or(target.lasts());
    // Without any fault to draw, runs differ in their seeds alone, which is what a control wants, and nobody else.
    let usual =
        if target.ground.kinds().is_empty() { target.runs().unwrap_or(0) } else { target.runs().unwrap_or(RUNS) };
    let asked = args.runs.map(std::num::NonZeroU64::get).or_else(|| lasts.map(|_| target.runs().unwrap_or(u64::MAX)));
    let how = How {
        program: &program,
        player: &args.player,
        options: &options,
        jobs: args.jobs.map_or_else(|| processors::allowed().map_or(1, |all| all.len()), std::num::NonZeroUsize::get),
        seed: args.seed,
        runs: asked.unwrap_or(usual),
        is_systematic: args.systematic,
        varies_seed: args.vary_seed,
        findings: args.findings.map(std::num::NonZeroUsize::get),
        lasts,
        shrink_runs: args.shrink_runs,
        moment: args.moment,
        regress: &regress,
    };
    let mut screen = watch::Screen::new(args.quiet || args.json);
    let summary = run_hunt(&target, &mut folder, &how, &mut |event, position| screen.show(event, position))?;
    drop(screen);
    if let Some(corpus) = &args.corpus {
        for place in add_to_corpus(corpus, &folder, &summary.findings)? {
            talk::say(&format!("kept in the corpus: {}", place.display()));
        }
    }
    ci::report(&args.ci, || vec![suite::suite(&target, &summary, folder.path())], &args.file)?;
    if args.json {
        super::print_json(&summary)?;
    } else {
        print(told(&summary, folder.path()).trim_end())?;
    }
    Ok(conclude(args, &summary, folder.path()).number())
}

/// The options that go on to each run.
fn options(args: &HuntArgs) -> Vec<OsString> {
    let limit = format!("{} ns", args.wall_limit.as_nanos());
    let mut options: Vec<OsString> = vec!["--wall-limit".into(), limit.into()];
    if let Some(kernel) = &args.kernel {
        options.extend(["--kernel".into(), kernel.into()]);
    }
    options
}

/// The labs of earlier findings, which are played first.
fn earlier(args: &HuntArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut labs = args.regress.as_deref().map(labs_in).transpose()?.unwrap_or_default();
    // A corpus begins empty.
    if let Some(corpus) = args.corpus.as_deref().filter(|corpus| corpus.exists()) {
        labs.extend(findings_in(corpus)?.into_iter().filter(|lab| !labs.contains(lab)).collect::<Vec<_>>());
    }
    Ok(labs)
}

/// The labs of the findings in a folder, in the order of their names; the folder may be that of one finding.
fn labs_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let own = folder.join("minimal.yaml");
    if own.exists() {
        return Ok(vec![own]);
    }
    let labs = findings_in(folder)?;
    if labs.is_empty() {
        let message = format!("there is no finding in {}: each is a folder with a minimal.yaml", folder.display());
        return Err(Failure::new(ExitCode::Usage, message));
    }
    Ok(labs)
}

/// The labs of the findings in a folder of findings, in the order of their names.
fn findings_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed =
        |error| Failure::new(ExitCode::Usage, format!("looking for findings in {}: {error}", folder.display()));
    let mut labs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let finding = entry.map_err(failed)?;
        let lab = finding.path().join("minimal.yaml");
        // One that was being put together when its hunt was killed.
        let is_half = finding.file_name().as_encoded_bytes().starts_with(b".");
        labs.extend((!is_half && lab.exists()).then_some(lab));
    }
    labs.sort();
    Ok(labs)
}

/// The results of a hunt, in words.
fn told(summary: &Summary, folder: &Path) -> String {
    let mut text = String::new();
    for one in &summary.regress {
        let _ = writeln!(text, "{}: {}", one.lab.display(), regressed(one));
    }
    for finding in &summary.findings {
        text.push_str(&found(finding, folder));
    }
    for property in summary.sometimes.iter().filter(|one| one.runs == 0) {
        let _ = writeln!(text, "{BAD}never reached: {}{BAD:#}", property.property);
    }
    for property in &summary.never_decided {
        let _ = writeln!(text, "{BAD}no run decided: {property}{BAD:#}");
    }
    let count = quantity::counted(usize::try_from(summary.runs).unwrap_or(usize::MAX), "run");
    let findings = match summary.findings.len() {
        0 => "no finding".to_owned(),
        number => quantity::counted(number, "finding"),
    };
    let kinds = if summary.kinds.is_empty() { "no faults".to_owned() } else { summary.kinds.join(", ") };
    let _ = writeln!(text, "{count} with {kinds}: {findings}, {:.0} runs per minute", summary.runs_per_minute);
    let (new, last) = summary.news;
    if last > 0 {
        let quiet = match summary.since_new {
            0 => String::new(),
            number => format!("; none of the last {number}"),
        };
        let _ = writeln!(text, "{new} of the last {last} runs showed something new in their logs{quiet}");
    }
    if let Some(covered) = &summary.systematic {
        let _ = writeln!(text, "tried {}", tried(covered));
    }
    if let Some(first) = summary.errors.first() {
        let why = first.error.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        let _ = writeln!(text, "{} of them showed nothing; run {}: {why}", summary.error_count, first.run);
    }
    for property in summary.undecided.iter().filter(|one| !summary.never_decided.contains(&one.property)) {
        let _ = writeln!(text, "not decided in {} runs: {}", property.runs, property.property);
    }
    for property in summary.sometimes.iter().filter(|one| one.runs > 0) {
        let _ = writeln!(text, "reached in {} runs: {}", property.runs, property.property);
    }
    text
}

/// Says in words how much of a systematic search has been done.
fn tried(covered: &Covered) -> String {
    let Covered { singles, singles_tried, pairs, pairs_tried } = covered;
    if *pairs_tried == 0 {
        return format!("{singles_tried} of {singles} single faults");
    }
    format!("all {singles} single faults and {pairs_tried} of {pairs} pairs")
}

fn found(finding: &FindingRecord, folder: &Path) -> String {
    let mut text = format!("finding {:04}, run {}: {}\n", finding.finding, finding.run, finding.failure.words());
    for entry in finding.minimal.iter().flat_map(|fault| &fault.entries) {
        let _ = writeln!(text, "  {entry}");
    }
    if finding.minimal.is_empty() {
        text.push_str("  without any fault\n");
    }
    let place = folder.join("findings").join(format!("{:04}", finding.finding)).join("minimal.yaml");
    let _ = writeln!(text, "  {}", place.display());
    text
}

fn regressed(one: &Regressed) -> String {
    match (&one.error, one.failures.first()) {
        (Some(error), _) => format!("showed nothing: {error}"),
        (None, Some(failure)) => format!("still fails: {}", failure.words()),
        (None, None) => "does not fail any more".into(),
    }
}

fn conclude(args: &HuntArgs, summary: &Summary, folder: &Path) -> ExitCode {
    if summary.interrupted {
        let go_on = format!("netloom hunt {} -o {} --resume", args.file.display(), folder.display());
        talk::say(&format!("interrupted after {} runs; to continue: {go_on}", summary.runs));
        return ExitCode::Interrupted;
    }
    match () {
        () if !summary.is_good() => ExitCode::Unmet,
        // Where no run showed anything, nothing was looked for.
        () if summary.runs > 0 && summary.error_count >= summary.runs => ExitCode::Died,
        () => ExitCode::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_hunt::{Failure as Found, Reached, RunLine};

    #[test]
    fn what_was_found_is_told_in_words() {
        let finding = FindingRecord {
            finding: 1,
            failure: Found::new("command ask", "exit code 3: lost 7"),
            run: 4,
            original: Vec::new(),
            minimal: Vec::new(),
            shrink_runs: 0,
            is_repeated: true,
            causes: Vec::new(),
            branches: Vec::new(),
            files_elsewhere: Vec::new(),
        };
        let reached = |property: &str, runs| Reached { property: property.into(), runs };
        let summary = Summary {
            runs: 20,
            runs_per_minute: 61.2,
            kinds: vec!["cut", "partition"],
            findings: vec![finding],
            sometimes: vec![reached("log n* matches \"leader\" >= 2", 0), reached("log n* matches \"late\"", 3)],
            errors: vec![RunLine { run: 9, error: Some("its kernel ended\nmore".into()), ..RunLine::default() }],
            error_count: 1,
            news: (3, 20),
            since_new: 7,
            behaviours: 40,
            systematic: Some(Covered { singles: 90, singles_tried: 20, pairs: 4_005, pairs_tried: 0 }),
            ..Summary::default()
        };
        assert!(!summary.is_good());
        let text = anstream::adapter::strip_str(&told(&summary, Path::new("out"))).to_string();
        assert_eq!(
            text,
            "finding 0001, run 4: command ask: exit code 3: lost 7\n  without any fault\n  out/findings/0001/minimal.yaml\n\
             never reached: log n* matches \"leader\" >= 2\n\
             20 runs with cut, partition: 1 finding, 61 runs per minute\n\
             3 of the last 20 runs showed something new in their logs; none of the last 7\n\
             tried 20 of 90 single faults\n\
             1 of them showed nothing; run 9: its kernel ended\n\
             reached in 3 runs: log n* matches \"late\"\n"
        );
    }

    #[test]
    fn what_must_hold_sometimes_and_never_did_is_not_good() {
        let reached = |runs| Summary { sometimes: vec![Reached { property: "x".into(), runs }], ..Summary::default() };
        assert!(reached(1).is_good() && !reached(0).is_good());
        let fails = Regressed { failures: vec![Found::new("x", "")], ..Regressed::default() };
        assert!(!Summary { regress: vec![fails], ..Summary::default() }.is_good());
        assert!(Summary { regress: vec![Regressed::default()], ..Summary::default() }.is_good());
    }
}
