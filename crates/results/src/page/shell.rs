//! The page around the data: markup, style and program, and what keeps names from being either.

use netloom_lab::markup::escaped;
use netloom_pages::{REPORT_FINGERPRINT, REPORT_SCRIPT, REPORT_STYLE};
use serde::Serialize;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The text of a page with this title. Who runs no programs sees `words`.
pub fn html(title: &str, words: &str, data: &impl Serialize) -> String {
    let data = json(data);
    // What could end the element, or begin another, stands in texts only, where it can be written so.
    let data = data.replace('<', "\\u003c");
    // No other program runs in the page, wherever it may come from.
    let fingerprint = REPORT_FINGERPRINT.trim();
    let version = env!("CARGO_PKG_VERSION");
    let (title, words) = (escaped(title), escaped(words));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{fingerprint}'; \
         style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"netloom {version}\">\n<title>{title}</title>\n<style>{REPORT_STYLE}</style>\n</head>\n\
         <body>\n<div id=\"page\"></div>\n<noscript><h1>{title}</h1>\n<p>This page draws with JavaScript, which is off. In words:</p>\n\
         <pre>{words}</pre></noscript>\n<script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{REPORT_SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The data as JSON that scripts read without loss: an integer that their numbers do not have stands as text.
fn json(data: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Exact);
    data.serialize(&mut serializer).expect("the data have string keys only");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// JSON in which integers beyond 2^53 are texts: numbers of JavaScript are doubles, which would round a seed to that of another run.
struct Exact;

/// Up to this, every integer is a double of its own.
const EXACT: u64 = 1 << 53;

impl serde_json::ser::Formatter for Exact {
    fn write_u64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value > EXACT { write!(writer, "\"{value}\"") } else { write!(writer, "{value}") }
    }

    fn write_i64<W: io::Write + ?Sized>(&mut self, writer: &mut W, value: i64) -> io::Result<()> {
        if value.unsigned_abs() > EXACT { write!(writer, "\"{value}\"") } else { write!(writer, "{value}") }
    }
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
    fn integers_that_a_script_would_round_are_texts() {
        let exact = [0, 7, 1_u64 << 53];
        let rounded = [16_598_649_024_089_407_664_u64, (1 << 53) + 1, u64::MAX];
        let data = serde_json::json!({ "exact": exact, "rounded": rounded, "least": i64::MIN, "part": 0.1 });
        assert_eq!(
            json(&data),
            r#"{"exact":[0,7,9007199254740992],"least":"-9223372036854775808","part":0.1,"rounded":["16598649024089407664","9007199254740993","18446744073709551615"]}"#
        );
    }

    #[test]
    fn the_program_ends_nowhere_before_its_end() {
        let lower = REPORT_SCRIPT.to_lowercase();
        assert!(
            !lower.contains("</script") && !lower.contains("<!--") && !REPORT_STYLE.to_lowercase().contains("</style")
        );
        assert!(REPORT_FINGERPRINT.starts_with("sha256-"));
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
