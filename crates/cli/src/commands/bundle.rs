//! `netloom bundle`

use super::{DONE, Failure, Outcome, print, print_json};
use crate::args::BundleArgs;
use crate::talk;
use netloom_archive::{ArchiveError, Manifest};
use netloom_judge::quantity;
use netloom_results::render::{Align, Table};
use std::path::{Path, PathBuf};

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self::new(error.exit_code(), error.to_string())
    }
}

pub(super) fn bundle(args: &BundleArgs) -> Outcome {
    match () {
        () if args.list => list(args),
        () if args.verify => verify(args),
        () if args.unpack => unpack(args),
        () => pack(args),
    }
}

fn pack(args: &BundleArgs) -> Outcome {
    let packed = netloom_archive::pack(&args.what, args.out.as_deref(), args.with_root)?;
    if args.json {
        return print_json(&packed);
    }
    told(&packed.manifest);
    let files = quantity::counted(packed.manifest.files.len(), "file");
    print(&format!(
        "{}: {files}, {} packed to {}",
        packed.bundle.display(),
        quantity::bytes(packed.unpacked_bytes),
        quantity::bytes(packed.bytes)
    ))
}

/// What somebody who trusts the bundle should know.
fn told(manifest: &Manifest) {
    for left in &manifest.left_out {
        talk::warning(&format!("left out: {}: {}", left.path, left.why));
    }
    if !manifest.complete {
        talk::warning(&format!("this {} did not come to its end", manifest.kind.words()));
    }
}

fn list(args: &BundleArgs) -> Outcome {
    let manifest = netloom_archive::list(&args.what)?;
    if args.json {
        return print_json(&manifest);
    }
    told(&manifest);
    let mut table = Table::new(&[("BYTES", Align::Right), ("SHA-256", Align::Left), ("FILE", Align::Left)]);
    for file in &manifest.files {
        table.row(vec![file.bytes.to_string(), file.digest.short(), file.path.escape_debug().to_string()]);
    }
    print(table.to_string().trim_end())?;
    talk::say(&summary(&args.what, &manifest));
    DONE
}

fn verify(args: &BundleArgs) -> Outcome {
    let manifest = netloom_archive::verify(&args.what)?;
    if args.json {
        return print_json(&manifest);
    }
    told(&manifest);
    print(&format!("{}; all files are whole", summary(&args.what, &manifest)))
}

fn unpack(args: &BundleArgs) -> Outcome {
    let target = args.out.clone().unwrap_or_else(|| folder_of(&args.what));
    let unpacked = netloom_archive::unpack(&args.what, &target).map_err(|error| {
        let mut failure = Failure::from(error);
        if target.is_dir() && failure.message.contains(" is damaged at ") {
            failure.message.push_str(&format!(" and in {}", target.display()));
        }
        failure
    })?;
    if args.json {
        return print_json(&unpacked);
    }
    told(&unpacked.manifest);
    print(&format!("{}, in {}", summary(&args.what, &unpacked.manifest), unpacked.folder.display()))
}

/// Where a bundle is unpacked to, unless it is said: beside it, under its name without the endings.
fn folder_of(bundle: &Path) -> PathBuf {
    let name = bundle.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(".tar.zst").map_or_else(|| format!("{name}.unpacked"), str::to_owned);
    bundle.with_file_name(stem)
}

fn summary(bundle: &Path, manifest: &Manifest) -> String {
    let (files, bytes) = (quantity::counted(manifest.files.len(), "file"), quantity::bytes(manifest.bytes()));
    format!("{}: {} `{}`, {files}, {bytes}", bundle.display(), manifest.kind.words(), manifest.lab)
}
