//! Container images: nodes that have one beside nodes that have none, and unpacking beside tar.

use crate::lab::{Lab, output};
use crate::processes::usage;
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What a user waits for one node with an image, beyond the same node without.
const ONE_SECONDS: f64 = 0.3;
const MANY: u32 = 100;
const MANY_SECONDS: f64 = 5.0;
/// Memory of a node with an image beside its programs.
const EACH_MEGABYTES: f64 = 8.0;
/// Of the time that tar takes for the same layer.
const OF_TAR: f64 = 1.0;
/// The image that the case makes, uses and removes.
const NAME: &str = "netloom-bench/tree";

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let folder = beside_the_cache()?;
    let rows = measure(settings, &folder);
    // What could not be made cannot be removed, which was reported already.
    let _ = output(Command::new(&settings.netloom).args(["image", "remove", NAME]));
    let _ = std::fs::remove_dir_all(&folder);
    rows
}

fn measure(settings: &Settings, folder: &Path) -> Result<Vec<Row>, String> {
    script(settings, if settings.quick { "small" } else { "make" }, folder)?;
    let row = unpacking(settings, folder)?;
    Ok([vec![row], nodes(settings)?].concat())
}

/// A folder on the disk that the cache of images is on.
fn beside_the_cache() -> Result<PathBuf, String> {
    let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    let own =
        cache.ok_or("neither XDG_CACHE_HOME nor HOME is set")?.join(format!("netloom-bench-{}", std::process::id()));
    std::fs::create_dir_all(&own).map_err(|error| format!("making {}: {error}", own.display()))?;
    Ok(own)
}

/// Unpacks one layer of many files, and the same with tar, each until it is on the disk.
fn unpacking(settings: &Settings, folder: &Path) -> Result<Row, String> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let source = format!("oci:{}", folder.join("image").display());
    for _ in 0..settings.rounds(3) {
        let begin = Instant::now();
        script(settings, "tar", folder)?;
        theirs.push(begin.elapsed().as_secs_f64());
        // Only what is not in the cache is unpacked.
        let _ = output(Command::new(&settings.netloom).args(["image", "remove", NAME]));
        let again = Instant::now();
        output(Command::new(&settings.netloom).args(["image", "import", &source, "--name", NAME, "--quiet"]))?;
        ours.push(again.elapsed().as_secs_f64());
    }
    let about = script(settings, "about", folder)?;
    let row = Row::number("an image unpacked, checked and on the disk", "s", ours)?;
    Ok(row.against("`tar xzf` and `sync`", theirs).goal(Goal::AtMost(OF_TAR)).remark(about.trim().to_owned()))
}

fn nodes(settings: &Settings) -> Result<Vec<Row>, String> {
    let rounds = settings.rounds(5);
    let [plain, one] = [false, true].map(|has_image| {
        (0..rounds).map(|_| Ok(up(settings, 1, has_image)?.seconds)).collect::<Result<Vec<f64>, String>>()
    });
    let without = median(&plain?)?;
    let beyond = one?.into_iter().map(|seconds| seconds - without).collect();
    let (mut bare, mut many, mut megabytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        bare.push(up(settings, MANY, false)?.seconds);
        let taken = up(settings, MANY, true)?;
        many.push(taken.seconds);
        megabytes.push(taken.megabytes / f64::from(MANY));
    }
    let beside = format!("without images: {} s", number(median(&bare)?));
    Ok(vec![
        Row::number("a node with an image up, beyond one without", "s", beyond)?.goal(Goal::AtMost(ONE_SECONDS)),
        Row::number(format!("{MANY} nodes of one image up"), "s", many)?
            .goal(Goal::AtMost(MANY_SECONDS))
            .remark(beside),
        Row::number("memory of one of them, with its program", "MB", megabytes)?.goal(Goal::AtMost(EACH_MEGABYTES)),
    ])
}

/// What a lab has taken.
struct Taken {
    seconds: f64,
    megabytes: f64,
}

/// Sets up nodes around a switch, each with a program that waits.
fn up(settings: &Settings, count: u32, has_image: bool) -> Result<Taken, String> {
    let mut yaml = String::from("nodes:\n  s: {kind: switch}\n");
    let mut links = String::from("links:\n");
    let mut timeline = String::from("timeline:\n");
    for node in 1..=count {
        let image = if has_image { format!("{{image: {NAME}, command: [sleep, infinity]}}") } else { "{}".to_owned() };
        let _ = writeln!(yaml, "  n{node}: {image}");
        let _ = writeln!(links, "  l{node}: {{ends: [n{node}, s], delay: 1 ms}}");
        let _ = writeln!(timeline, "  - {{on: n{node}, run: [sleep, infinity], service: true}}");
    }
    let yaml = yaml + &links + if has_image { "" } else { &timeline };
    let begin = Instant::now();
    let lab = Lab::up(settings, "images", &yaml)?;
    let seconds = begin.elapsed().as_secs_f64();
    let megabytes = usage(lab.pid()?).values().map(|process| process.megabytes).sum();
    lab.down()?;
    Ok(Taken { seconds, megabytes })
}

fn script(settings: &Settings, verb: &str, folder: &Path) -> Result<String, String> {
    output(Command::new("python3").arg(&settings.image).arg(verb).arg(folder))
}
