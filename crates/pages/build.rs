//! Chooses the pages that the program contains: those in `built`, which `make web` makes of `web/`, if they were made of its files as they
//! are now, or else those in `kept`, which the last release was made with. So no build needs Node, and no commit to `web/` adds
//! what was made of it to the repository.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files and folders below `web/` that pages are made of. `scripts/web-sources` has the same list.
const SOURCES: [&str; 7] =
    ["components", "package-lock.json", "report", "tsconfig.json", "ui", "vite.config.ts", "vite.ui.config.ts"];

fn main() -> io::Result<()> {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let web = home.join("../../web");
    for place in [home.join("built"), home.join("kept")].into_iter().chain(SOURCES.map(|name| web.join(name))) {
        // Cargo takes what is not there for changed.
        if place.exists() {
            println!("cargo::rerun-if-changed={}", place.display());
        }
    }
    // Who has no sources cannot have changed them.
    let now = if web.exists() { Some(digest_of_sources(&web)?) } else { None };
    let is_of_now = |folder: &Path| {
        now.as_ref()
            .is_none_or(|digest| fs::read_to_string(folder.join("sources")).is_ok_and(|made| made.trim() == digest))
    };
    let (built, kept) = (home.join("built"), home.join("kept"));
    let chosen = if now.is_some() && is_of_now(&built) { &built } else { &kept };
    if !is_of_now(chosen) {
        println!(
            "cargo::warning=web/ has changed since the pages in crates/pages/kept were made, which the program now contains: \
             `make web` makes those of today (it needs Node), then build again"
        );
    }
    let text = format!(
        "#[cfg(test)]\nconst SOURCES: Option<&str> = {now:?};\n\
         /// Whether the pages were made of the files of `web/` that stood beside this crate when it was built.\n\
         pub const ARE_CURRENT: bool = {};\n{}{}",
        is_of_now(chosen),
        report(&chosen.join("report")),
        ui(&chosen.join("ui"))?
    );
    fs::write(Path::new(&env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?).join("pages.rs"), text)
}

/// The constants with the parts of `report.html`.
fn report(folder: &Path) -> String {
    let include = |name: &str| format!("include_str!({:?})", folder.join(name));
    format!(
        "/// The script of `report.html`.\npub const REPORT_SCRIPT: &str = {};\n\
         /// The style sheet of `report.html`.\npub const REPORT_STYLE: &str = {};\n\
         /// The SHA-256 of that script, as a content security policy has it.\npub const REPORT_FINGERPRINT: &str = {};\n",
        include("report.js"),
        include("report.css"),
        include("report.sha256")
    )
}

/// The list of the files of the page of `netloom ui`.
fn ui(folder: &Path) -> io::Result<String> {
    let mut names = vec!["index.html".to_owned()];
    for entry in fs::read_dir(folder.join("assets"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".gz").map(|name| format!("assets/{name}")));
    }
    names.sort();
    let mut list = String::from("/// The files of the page of `netloom ui`.\npub static UI: &[Part] = &[\n");
    for name in names {
        let path = folder.join(format!("{name}.gz"));
        let digest = hex(updated(BASIS, &fs::read(&path)?));
        let _ = writeln!(list, "    Part {{ name: {name:?}, packed: include_bytes!({path:?}), digest: {digest:?} }},");
    }
    list.push_str("];\n");
    Ok(list)
}

/// Digests the names and texts of all sources, in the order of names.
fn digest_of_sources(web: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    for source in SOURCES {
        add(web, source.to_owned(), &mut names)?;
    }
    names.sort();
    let mut hash = BASIS;
    for name in names {
        hash = updated(updated(hash, name.as_bytes()), &[0]);
        hash = updated(updated(hash, &fs::read(web.join(&name))?), &[0]);
    }
    Ok(hex(hash))
}

/// Adds the name of a file, or those of all files in a folder and below it.
fn add(web: &Path, name: String, names: &mut Vec<String>) -> io::Result<()> {
    if !web.join(&name).is_dir() {
        names.push(name);
        return Ok(());
    }
    for entry in fs::read_dir(web.join(&name))? {
        let inside = entry?.file_name().to_string_lossy().into_owned();
        if !inside.starts_with('.') {
            add(web, format!("{name}/{inside}"), names)?;
        }
    }
    Ok(())
}

/// The digest of nothing (FNV-1a, 128 bits, which tells contents apart unless somebody wants two that are alike).
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// Returns a digest with more bytes in it.
fn updated(hash: u128, bytes: &[u8]) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}
