//! The pages that browsers show, as `make web` makes them of `web/`: the script and style of `report.html`, and the page of `netloom ui`.
//! They are constants of the program. `build.rs` says which are taken.
//!
//! This crate must not know who shows them.
#![no_std]
#![forbid(unsafe_code)]

/// A file of the page of `netloom ui`.
#[derive(Debug)]
pub struct Part {
    /// The path below the page's address: `index.html` or `assets/NAME`.
    pub name: &'static str,
    /// The content, packed by gzip.
    pub packed: &'static [u8],
    /// The digest that tells this content from another.
    pub digest: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::path::Path;
    use std::process::Command;

    /// Otherwise what `make web` makes would never be taken.
    #[test]
    fn both_digests_of_the_sources_are_one() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/web-sources");
        let printed = Command::new(&script).output().expect("python3 runs the script");
        assert!(
            printed.status.success(),
            "{}: {}",
            script.display(),
            std::string::String::from_utf8_lossy(&printed.stderr)
        );
        let printed = std::str::from_utf8(&printed.stdout).expect("a digest is ASCII").trim();
        assert_eq!(SOURCES, Some(printed));
    }

    #[test]
    fn the_page_has_a_document_and_parts() {
        assert!(UI.iter().any(|part| part.name == "index.html"));
        assert!(UI.iter().any(|part| part.name == "assets/index.js"));
        assert!(REPORT_FINGERPRINT.starts_with("sha256-") && !REPORT_STYLE.is_empty() && !REPORT_SCRIPT.is_empty());
    }
}
