//! `netloom kernel`

use super::{DONE, Failure, Outcome, print};
use crate::args::kernel::{KernelBuildArgs, KernelCommand, KernelImportArgs, KernelListArgs};
use crate::progress::BuildProgress;
use crate::talk;
use netloom_guest::kernel::build::{BuildError, Built, Request, build, config_hash, import};
use netloom_guest::kernel::{Cache, OwnBuild, Untrusted};
use netloom_judge::ExitCode;
use netloom_results::render::{Align, Table};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn kernel(command: &KernelCommand) -> Outcome {
    match command {
        KernelCommand::Build(args) => build_kernel(args),
        KernelCommand::Import(args) => import_kernel(args),
        KernelCommand::List(args) => list(args),
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let code = match error {
            BuildError::Source { .. } | BuildError::Import { .. } => ExitCode::Usage,
            BuildError::Interrupted => ExitCode::Interrupted,
            _ => ExitCode::Machine,
        };
        Self::new(code, error.to_string())
    }
}

fn cache() -> Result<Cache, Failure> {
    Cache::of_user().map_err(|why| Failure::new(ExitCode::Machine, why))
}

/// Where a new kernel goes: to this user, or to all users of this machine.
fn place(system: bool) -> Result<Cache, Failure> {
    if system { Cache::to_fill_for_all_users().map_err(|why| Failure::new(ExitCode::Machine, why)) } else { cache() }
}

fn build_kernel(args: &KernelBuildArgs) -> Outcome {
    let request = Request { source: args.source.clone(), force: args.force, jobs: args.jobs, init: own_program()? };
    let mut progress = BuildProgress::new(args.quiet);
    let built = build(&request, &place(args.system)?, &mut |step| progress.show(step));
    // The moving line goes before anything is said about the end.
    drop(progress);
    let kernel = match built? {
        Built::Before(kernel) => {
            let record = &kernel.record;
            talk::say(&format!(
                "Linux {} is {} already, built {} from {}; --force builds it again",
                record.source_version,
                if kernel.shared { "there for all users" } else { "in the cache" },
                record.built,
                record.source
            ));
            kernel
        }
        Built::Now(kernel) => {
            let record = &kernel.record;
            let minutes = record.build_seconds as f64 / 60.0;
            talk::say(&format!("Linux {} built in {minutes:.1} min", record.source_version));
            kernel
        }
    };
    print(&kernel.path.display().to_string())
}

fn import_kernel(args: &KernelImportArgs) -> Outcome {
    let mut progress = BuildProgress::new(args.quiet);
    let imported = import(&args.file, &own_program()?, &place(args.system)?, &mut |step| progress.show(step));
    drop(progress);
    let kernel = imported?;
    talk::say(&format!("Linux {} imported", kernel.record.source_version));
    print(&kernel.path.display().to_string())
}

/// This program's file: kernel nodes run it as their first process.
fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::new(ExitCode::Machine, format!("find this program: {error}")))
}

fn list(args: &KernelListArgs) -> Outcome {
    let cache = cache()?;
    let builds = cache.builds();
    for Untrusted { path, why } in cache.untrusted() {
        talk::say(&format!("{} is not used: {why}", path.display()));
    }
    if args.json {
        let kernels: Vec<Value> = builds.iter().map(json_of).collect();
        return print(&format!("{:#}", Value::Array(kernels)));
    }
    if builds.is_empty() {
        talk::say("no kernel was built: `netloom kernel build` builds one");
        return DONE;
    }
    let mut table = Table::new(&[
        ("KERNEL", Align::Left),
        ("TIME", Align::Left),
        ("HZ", Align::Right),
        ("SECCOMP", Align::Left),
        ("MB", Align::Right),
        ("CONFIG", Align::Left),
        ("FOR", Align::Left),
        ("BUILT", Align::Left),
        ("SOURCE", Align::Left),
        ("PATH", Align::Left),
    ]);
    for build in &builds {
        table.row(cells(build));
    }
    print(table.to_string().trim_end())
}

/// Everything in `kernel.json`, where the kernel is, and whether all users have it.
fn json_of(build: &OwnBuild) -> Value {
    let mut value = serde_json::to_value(&build.record).expect("a record has string keys only");
    value["path"] = json!(build.path);
    value["shared"] = json!(build.shared);
    value
}

fn cells(build: &OwnBuild) -> Vec<String> {
    let record = &build.record;
    let facts = &record.facts;
    let word = |is: bool, yes: &str, no: &str| if is { yes } else { no }.to_owned();
    vec![
        facts.version.clone(),
        word(facts.time_travel, "real, dilated, virtual", "real, dilated"),
        facts.hz.to_string(),
        word(facts.seccomp, "yes", "no"),
        format!("{:.1}", record.size_bytes as f64 / 1e6),
        word(record.config_hash == config_hash(), "present", "other"),
        word(build.shared, "all users", "this user"),
        record.built.clone(),
        record.source.clone(),
        build.path.display().to_string(),
    ]
}
