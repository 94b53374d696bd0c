//! The process of a job: what it says, its results, and its end.

use crate::app::App;
use crate::jobs::Asked;
use netloom_judge::ExitCode;
use netloom_results::read_document;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

/// The longest line that is kept, in bytes.
const LONGEST_LINE: u64 = 4 << 10;
/// How often results are looked for until they are found.
const LOOK: Duration = Duration::from_millis(200);
/// How long what a command wrote may still come after its end.
const SAID_WITHIN: Duration = Duration::from_secs(1);

/// Plays a job to its end.
pub(crate) async fn run(app: Arc<App>, id: u64, asked: Asked, stop: Arc<Notify>) {
    let before = folders(&app, asked.lab.as_deref());
    let mut child = match command(&app, &asked).spawn() {
        Ok(child) => child,
        Err(error) => {
            let line = format!("{} cannot be started: {error}", app.jobs.program.display());
            return app.jobs.change(id, |job| {
                job.say(line);
                job.ended(ExitCode::Machine.number().into(), None);
            });
        }
    };
    let said = tokio::spawn({
        let (out, errors, app) = (child.stdout.take(), child.stderr.take(), Arc::clone(&app));
        async move { tokio::join!(listen(out, &app, id), listen(errors, &app, id)) }
    });
    let code = watch(&app, id, &asked, &mut child, &stop, &before).await;
    // A lab that is up may hold them for as long as it lives.
    let _ = tokio::time::timeout(SAID_WITHIN, said).await;
    let results = find(&app, asked.lab.as_deref(), &before);
    let report = results.as_deref().filter(|_| asked.command != "up").and_then(|results| report(&app, results));
    app.jobs.change(id, |job| {
        job.found(results);
        job.ended(code, report);
    });
}

fn command(app: &App, asked: &Asked) -> Command {
    // A path that begins with a dash is no option.
    let mut words: Vec<OsString> = vec![asked.command.into(), Path::new(".").join(&asked.path).into()];
    words.extend(["--results".into(), app.results_index.root().into()]);
    let options = [
        ("--clock", asked.clock.clone()),
        ("--seed", asked.seed.map(|seed| seed.to_string())),
        ("--name", asked.name.clone()),
    ];
    for (option, value) in options {
        words.extend(value.into_iter().flat_map(|value| [option.into(), value.into()]));
    }
    if !app.jobs.keep && asked.command != "sim" {
        words.extend(["--parent".into(), std::process::id().to_string().into()]);
    }
    let mut command = Command::new(&app.jobs.program);
    // Ctrl-C at the terminal of the server is for the server, which tells its jobs.
    command.args(words).current_dir(&asked.home).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("NO_COLOR", "1");
    command
}

/// Waits for the end of the command, and finds its results meanwhile; its exit code, or 128 and a signal's number.
async fn watch(
    app: &App,
    id: u64,
    asked: &Asked,
    child: &mut Child,
    stop: &Notify,
    before: &BTreeSet<OsString>,
) -> i32 {
    let mut is_found = false;
    loop {
        tokio::select! {
            ended = child.wait() => {
                use std::os::unix::process::ExitStatusExt;
                return ended.map_or(8, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
            }
            () = stop.notified() => interrupt(child),
            () = tokio::time::sleep(LOOK), if !is_found => {
                if let Some(results) = find(app, asked.lab.as_deref(), before) {
                    is_found = true;
                    app.jobs.change(id, |job| job.found(Some(results)));
                }
            }
        }
    }
}

/// As Ctrl-C does. A process that was waited for has no number here any more.
fn interrupt(child: &Child) {
    let number = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(number) = number {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(number), nix::sys::signal::Signal::SIGINT);
    }
}

/// Remembers what a command says, line by line.
async fn listen(from: Option<impl AsyncRead + Unpin>, app: &App, id: u64) {
    let Some(from) = from else { return };
    let mut lines = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                app.jobs.change(id, |job| job.say(text));
            }
        }
    }
}

/// The results folders of a lab.
fn folders(app: &App, lab: Option<&str>) -> BTreeSet<OsString> {
    let Some(lab) = lab else { return BTreeSet::new() };
    let entries = std::fs::read_dir(app.results_index.root().join(lab)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.file_name()).collect()
}

/// The results that a job has made: no other lab of this name is up meanwhile.
fn find(app: &App, lab: Option<&str>, before: &BTreeSet<OsString>) -> Option<String> {
    let name = folders(app, lab).into_iter().rev().find(|name| !before.contains(name))?;
    app.results_index.id(&app.results_index.root().join(lab?).join(name))
}

/// The report of a run without the figures of its pipes, of which there may be many.
fn report(app: &App, results: &str) -> Option<Value> {
    let bytes = read_document(&app.results_index.folder(results).ok()?.join("report.json")).ok()?;
    let mut report: Value = serde_json::from_slice(&bytes).ok()?;
    report.as_object_mut()?.remove("pipes");
    Some(report)
}
