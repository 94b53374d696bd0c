//! `netloom image`

use super::{DONE, Failure, Outcome, lab_file, print, print_json};
use crate::args::image::{
    ImageCommand, ImageFindArgs, ImageImportArgs, ImageListArgs, ImagePackArgs, ImagePullArgs, ImageRemoveArgs,
};
use crate::progress::PullProgress;
use crate::talk;
use netloom_image::{ImageError, Imported, Left, Progress, Record, Store};
use netloom_judge::ExitCode;
use netloom_lab::{ImageName, ImageSource, Run, Sweep};
use netloom_registry::{Options, Reference, RegistryError, pull};
use netloom_results::render::{Align, Table};
use netloom_run::{Event, ImagesHere};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

pub(super) fn image(command: &ImageCommand) -> Outcome {
    match command {
        ImageCommand::Import(args) => import(args),
        ImageCommand::Pull(args) => fetch(args),
        ImageCommand::List(args) => list(args),
        ImageCommand::Remove(args) => remove(args),
        ImageCommand::Pack(args) => pack(args),
        ImageCommand::Take(args) => brought(&Store::of_user()?.take(&args.file, &mut |_| {})?, "taken"),
        ImageCommand::Find(args) => find(args),
    }
}

impl From<ImageError> for Failure {
    fn from(error: ImageError) -> Self {
        let code = match error {
            ImageError::Io { .. } | ImageError::NoRoom { .. } => ExitCode::Machine,
            _ => ExitCode::Usage,
        };
        Self::new(code, error.to_string())
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Image(error) => error.into(),
            RegistryError::Network(_) | RegistryError::Answer(_) => Self::new(ExitCode::Machine, error.to_string()),
            other => usage(other.to_string()),
        }
    }
}

fn usage(why: String) -> Failure {
    Failure::new(ExitCode::Usage, why)
}

fn import(args: &ImageImportArgs) -> Outcome {
    let source = ImageSource::parse(&args.source).map_err(usage)?;
    let name = args.name.as_deref().map(ImageName::parse).transpose().map_err(usage)?;
    let mut say = |progress| {
        if !args.quiet {
            talk::say(&words(progress));
        }
    };
    brought(&Store::of_user()?.import(&source, name, &mut say)?, "imported")
}

fn fetch(args: &ImagePullArgs) -> Outcome {
    let reference = Reference::parse(&args.image)?;
    let name = args.name.as_deref().map(ImageName::parse).transpose().map_err(usage)?;
    let patience = Duration::from_nanos(args.patience.as_nanos());
    let options = Options { patience, plain_http: args.plain_http, name };
    let mut shown = PullProgress::new(args.quiet);
    let pulled = pull(&Store::of_user()?, &reference, &options, &mut |progress| shown.show(progress, words));
    drop(shown);
    brought(&pulled?, "fetched")
}

/// Says what an image is called that is in the cache now; `verb` is how it came there.
fn brought(imported: &Imported, verb: &str) -> Outcome {
    let names: Vec<String> = imported.names.iter().map(ToString::to_string).collect();
    let called = if names.is_empty() { "without a name".to_owned() } else { names.join(", ") };
    let record = &imported.record;
    let what = if imported.is_new { verb } else { "in the cache already" };
    talk::say(&format!("{called} {what}: {} entries, {:.1} MB", record.entries, record.bytes as f64 / 1e6));
    left_out(&record.left).iter().for_each(|line| talk::say(line));
    print(&record.id.to_string())
}

fn words(progress: Progress) -> String {
    match progress {
        Progress::Waiting => "another process unpacks this image: waiting for it".to_owned(),
        Progress::Folder { bytes } => format!("copying the folder ({:.1} MB)", bytes as f64 / 1e6),
        Progress::Layer { number, of, bytes } => {
            format!("unpacking layer {number} of {of} ({:.1} MB packed)", bytes as f64 / 1e6)
        }
    }
}

/// What is not as in the image.
fn left_out(left: &Left) -> Vec<String> {
    let mut lines = Vec::new();
    if left.owners > 0 {
        lines.push(format!(
            "{} entries that belong to other users in the image belong to root in its nodes",
            left.owners
        ));
    }
    if left.devices > 0 {
        lines.push(format!("{} devices were left out: nodes have their own", left.devices));
    }
    if left.attributes > 0 {
        lines.push(format!("{} extended attributes were left out", left.attributes));
    }
    lines
}

fn list(args: &ImageListArgs) -> Outcome {
    let store = Store::of_user()?;
    let images = store.list()?;
    if args.json {
        let all: Vec<Value> = images.iter().map(|(names, record)| json_of(names, record)).collect();
        return print(&format!("{:#}", Value::Array(all)));
    }
    if images.is_empty() {
        talk::say("no image is in the cache: `netloom image pull` or `netloom image import` brings one there");
        return DONE;
    }
    let mut table = Table::new(&[
        ("IMAGE", Align::Left),
        ("ID", Align::Left),
        ("ENTRIES", Align::Right),
        ("MB", Align::Right),
        ("COMMAND", Align::Left),
        ("USER", Align::Left),
        ("SOURCE", Align::Left),
    ]);
    for (names, record) in &images {
        let rows =
            if names.is_empty() { vec!["-".to_owned()] } else { names.iter().map(ToString::to_string).collect() };
        rows.into_iter().for_each(|name| table.row(cells(name, record)));
    }
    print(table.to_string().trim_end())
}

/// Everything that the cache knows of it.
fn json_of(names: &[ImageName], record: &Record) -> Value {
    let mut value = serde_json::to_value(record).expect("a record has string keys only");
    value["names"] = json!(names);
    value
}

fn cells(name: String, record: &Record) -> Vec<String> {
    let or_nothing = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    vec![
        name,
        record.id.short(),
        record.entries.to_string(),
        format!("{:.1}", record.bytes as f64 / 1e6),
        or_nothing(record.config.command().join(" ")),
        or_nothing(record.config.user.clone()),
        record.source.clone(),
    ]
}

fn remove(args: &ImageRemoveArgs) -> Outcome {
    let store = Store::of_user()?;
    let is_digest = |text: &str| text.len() >= 12 && text.bytes().all(|b| b.is_ascii_hexdigit());
    for text in &args.images {
        // The short form of tables, too; a name of nothing but such digits has its tag behind it there.
        let whole = if is_digest(text) { format!("sha256:{text}") } else { text.clone() };
        let source = ImageSource::parse(&whole).map_err(usage)?;
        let what = if store.remove(&source)? { "removed" } else { "has other names, and stays by them" };
        talk::say(&format!("{text} {what}"));
    }
    DONE
}

fn pack(args: &ImagePackArgs) -> Outcome {
    let source = ImageSource::parse(&args.image).map_err(usage)?;
    Store::of_user()?.pack(&source, &mut io::stdout().lock())?;
    DONE
}

/// Whoever plays labs elsewhere learns what their images are here.
fn find(args: &ImageFindArgs) -> Outcome {
    let text = lab_file::text(&args.file, &args.foreign)?;
    let sweep = Sweep::read(&text, &args.file.to_string_lossy()).map_err(|wrong| lab_file::refused(&wrong))?;
    let sweep = sweep.with_clock(args.clock);
    let mut here = ImagesHere::default();
    for point in 0..sweep.points() {
        let run = sweep.run(Run { point, repetition: 0 }, "lab").map_err(|wrong| lab_file::refused(&wrong))?;
        here.add(&run.lab.plan, &args.file, &mut |event| {
            if let Event::Preparing { text: step } = event {
                talk::say(step);
            }
        })?;
    }
    print_json(here.of_nodes())
}
