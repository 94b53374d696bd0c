//! The page with all pictures: one HTML file without anything from elsewhere.

use super::{FOLDER, PAGE, Plots, tcp};
use crate::{graph, regular};
use netloom_judge::RunError;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:920px;margin:24px auto;padding:0 12px;color:#222;background:#fff}\
pre{overflow-x:auto;background:#f4f4f4;padding:10px;font-size:12px}img{width:100%;height:auto;border:1px solid #ddd}\
figure{margin:18px 0}.lab img{width:auto;max-width:100%;border:0;display:block;margin:auto}";

/// Writes the page of a results folder: what was found out, then the pictures, the busiest pipes first.
pub(super) fn write(folder: &Path, lab: &str, plots: &Plots) -> Result<(), RunError> {
    let path = folder.join(PAGE);
    // A run that was killed has no summary.
    let summary = regular::read(&folder.join("summary.txt")).unwrap_or_default();
    let summary = String::from_utf8_lossy(&summary);
    let mut text = String::new();
    let lab = escaped(lab);
    write!(
        text,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{lab}</title>\n<style>{STYLE}</style>\n\
         <h1>{lab}</h1>\n"
    )
    .expect("writing to a string");
    if !summary.is_empty() {
        writeln!(text, "<pre>{}</pre>", escaped(summary.trim_end())).expect("writing to a string");
    }
    if folder.join(graph::FILE).is_file() {
        let file = graph::FILE;
        writeln!(text, "<figure class=\"lab\"><img src=\"../{file}\" alt=\"the lab\"></figure>")
            .expect("writing to a string");
    }
    writeln!(text, "<p>Pictures of {}. Times are lab time.</p>", escaped(&plots.extent()))
        .expect("writing to a string");
    let of_sources = of_sources(folder, plots).map_err(RunError::results(folder))?;
    for name in plots.pictures.iter().chain(&of_sources) {
        let alt = escaped(name.trim_end_matches(".svg"));
        writeln!(text, "<figure><img src=\"{}\" alt=\"{alt}\"></figure>", escaped(name)).expect("writing to a string");
    }
    for name in of_connections(folder) {
        let alt = escaped(name.trim_end_matches(".svg"));
        writeln!(text, "<figure><img src=\"{}\" alt=\"{alt}\"></figure>", escaped(&name)).expect("writing to a string");
    }
    fs::write(&path, text).map_err(RunError::results(&path))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The pictures of TCP connections; none if there are none.
fn of_connections(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join(FOLDER).join(tcp::FOLDER)).into_iter().flatten().flatten();
    let names = entries.map(|entry| format!("{}/{}", tcp::FOLDER, entry.file_name().to_string_lossy()));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".svg")).collect();
    names.sort();
    names
}

/// The pictures of the sources of a simulation, which are drawn when it is over and only then.
fn of_sources(folder: &Path, plots: &Plots) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.join(FOLDER))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("delay-") && name.ends_with(".svg") && !plots.pictures.contains(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
