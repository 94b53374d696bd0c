//! The page around the data: markup, style and program, and what keeps names from being either.

use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// What `make web` has made of `web/report`.
const PROGRAM: &str = include_str!("bundle/report.js");
const STYLE: &str = include_str!("bundle/report.css");
/// The SHA-256 of the program, as a policy of content wants it: no other program runs in the page, wherever it may come from.
const FINGERPRINT: &str = include_str!("bundle/report.sha256");

/// The text of a page with this title. Who runs no programs sees `words`.
pub fn html(title: &str, words: &str, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("the data have string keys only");
    // What could end the element, or begin another, stands in texts only, where it can be written so.
    let data = data.replace('<', "\\u003c");
    let fingerprint = FINGERPRINT.trim();
    let version = env!("CARGO_PKG_VERSION");
    let (title, words) = (escaped(title), escaped(words));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{fingerprint}'; \
         style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"netloom {version}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<div id=\"page\"></div>\n<noscript><h1>{title}</h1>\n<p>This page draws with JavaScript, which is off. In words:</p>\n\
         <pre>{words}</pre></noscript>\n<script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{PROGRAM}</script>\n</body>\n</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The way from the folder of the page at `path` to `folder`, as a link has it, with a slash behind it; nothing if there is none.
pub(super) fn seen_from(path: &Path, folder: &Path) -> String {
    let home = path.parent().filter(|home| !home.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(home), Ok(folder)) = (home.canonicalize(), folder.canonicalize()) else { return String::new() };
    let (home, folder): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (home.components().collect(), folder.components().collect());
    let common = home.iter().zip(&folder).take_while(|(one, other)| one == other).count();
    let up = home[common..].iter().map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(folder[common..].iter().copied()).collect();
    format!("{}/", way.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_is_markup() {
        let hostile = "</script><script>alert(1)</script><!--";
        let page = html(hostile, hostile, &serde_json::json!({ "name": hostile }));
        assert_eq!(page.matches("</script>").count(), 2, "of the data and of the program");
        assert_eq!(page.matches("<!--").count(), 0);
        assert!(page.contains(r#"{"name":"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--"}"#));
        assert!(page.contains("<title>&lt;/script&gt;"));
    }

    #[test]
    fn the_program_ends_nowhere_before_its_end() {
        let lower = PROGRAM.to_lowercase();
        assert!(!lower.contains("</script") && !lower.contains("<!--") && !STYLE.to_lowercase().contains("</style"));
        assert!(FINGERPRINT.starts_with("sha256-"));
    }

    #[test]
    fn a_folder_is_seen_from_the_page() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["a/b", "c/d"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        assert_eq!(seen_from(&root.path().join("a/page.html"), &root.path().join("c/d")), "../c/d/");
        assert_eq!(seen_from(&root.path().join("page.html"), &root.path().join("a/b")), "a/b/");
        assert_eq!(seen_from(&root.path().join("page.html"), Path::new("/nowhere")), "");
    }
}
