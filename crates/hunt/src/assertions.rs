//! The assertions of programs that use an SDK of Antithesis: what they write to the file that `ANTITHESIS_SDK_LOCAL_OUTPUT` names.
//!
//! Each line is a JSON object. One with `antithesis_assert` is an assertion: with `hit` false a program says in the beginning that it has it, with
//! `hit` true its place was reached, and `condition` says whether it held there.

use crate::failure::Failure;
use crate::histories::find;
use crate::judged::Judged;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The longest file that is read.
const LONGEST: u64 = 1 << 30;

/// A line of the file, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Line {
    antithesis_assert: Option<Assertion>,
}

/// An assertion at one time.
#[derive(Debug, Deserialize)]
struct Assertion {
    #[serde(default)]
    hit: bool,
    #[serde(default)]
    must_hit: bool,
    #[serde(default)]
    condition: bool,
    /// `always`, `sometimes` or `reachability`.
    assert_type: String,
    /// The name in reports: `Always`, `AlwaysOrUnreachable`, `Sometimes`, `Reachable`, `Unreachable`.
    #[serde(default)]
    display_type: String,
    message: String,
}

impl Assertion {
    /// The text by which the assertion is told.
    fn text(&self) -> String {
        let kind = if self.display_type.is_empty() { &self.assert_type } else { &self.display_type };
        format!("{}: {}", kind.to_lowercase(), self.message)
    }

    fn is_sometimes(&self) -> bool {
        self.assert_type == "sometimes"
    }
}

/// All that the lines say of an assertion together.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    must_hit: bool,
    is_reached: bool,
    is_violated: bool,
}

/// Adds what the files of this name in the results of a run say.
pub(crate) fn judge(name: &str, results: &Path, judged: &mut Judged) -> Result<(), String> {
    let files = find(results, name)?;
    if files.is_empty() {
        return Err(format!(
            "there is no file `{name}` in the results: is it what ANTITHESIS_SDK_LOCAL_OUTPUT names, and does its node `collect` it?"
        ));
    }
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for path in files {
        let shown = path.strip_prefix(results).unwrap_or(&path).display().to_string();
        let text = netloom_regular::read_text(&path, LONGEST).map_err(|error| format!("reading {shown}: {error}"))?;
        read(&text, &mut said).map_err(|error| format!("{shown}:{error}"))?;
    }
    for (text, Said { must_hit, is_reached, is_violated }) in said {
        if is_violated {
            judged.failures.push(Failure::new(format!("assertion {text}"), ""));
        }
        match (is_reached, must_hit) {
            (true, true) => judged.reached.push(text.clone()),
            (false, true) => judged.wanted.push(text.clone()),
            (_, false) => {}
        }
    }
    Ok(())
}

fn read(text: &str, said: &mut BTreeMap<String, Said>) -> Result<(), String> {
    let last = text.lines().count();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let assertion = match serde_json::from_str::<Line>(line) {
            Ok(Line { antithesis_assert: Some(assertion) }) => assertion,
            Ok(_) => continue,
            // Whoever wrote it was killed.
            Err(_) if number + 1 == last && !text.ends_with('\n') => continue,
            Err(error) => return Err(format!("{}: {error}", number + 1)),
        };
        let own = said.entry(assertion.text()).or_default();
        own.must_hit |= assertion.must_hit;
        if assertion.hit {
            own.is_reached |= assertion.condition || !assertion.is_sometimes();
            own.is_violated |= !assertion.condition && !assertion.is_sometimes();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn line(kind: &str, display: &str, message: &str, flags: [bool; 3]) -> String {
        let [hit, must_hit, condition] = flags;
        format!(
            "{{\"antithesis_assert\":{{\"hit\":{hit},\"must_hit\":{must_hit},\"assert_type\":\"{kind}\",\"display_type\":\"{display}\",\
             \"message\":\"{message}\",\"condition\":{condition},\"id\":\"{message}\",\"details\":{{}}}}}}\n"
        )
    }

    #[test]
    fn assertions_fail_are_reached_or_never_were() {
        let text = [
            "{\"antithesis_setup\":{\"status\":\"complete\",\"details\":null}}\n".to_owned(),
            line("always", "Always", "sums agree", [false, true, false]),
            line("always", "Always", "sums agree", [true, true, true]),
            line("always", "Always", "sums agree", [true, true, false]),
            line("sometimes", "Sometimes", "two leaders", [false, true, false]),
            line("sometimes", "Sometimes", "two leaders", [true, true, false]),
            line("sometimes", "Sometimes", "one leader", [true, true, false]),
            line("sometimes", "Sometimes", "one leader", [true, true, true]),
            line("reachability", "Reachable", "recovery", [false, true, true]),
            line("reachability", "Unreachable", "lost", [false, false, false]),
            line("reachability", "Unreachable", "broken", [true, false, false]),
            "{\"antithesis_assert\":{\"hit\":tr".to_owned(),
        ];
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("nodes/n1/var");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("sdk.jsonl"), text.concat()).unwrap();
        let mut judged = Judged::default();
        judge("sdk.jsonl", folder.path(), &mut judged).unwrap();
        let failed: Vec<String> = judged.failures.iter().map(Failure::line).collect();
        assert_eq!(failed, ["assertion always: sums agree", "assertion unreachable: broken"]);
        assert_eq!(judged.reached, ["always: sums agree", "sometimes: one leader"]);
        assert_eq!(judged.wanted, ["reachable: recovery", "sometimes: two leaders"]);
        assert!(judge("other.jsonl", folder.path(), &mut judged).unwrap_err().contains("no file `other.jsonl`"));
        fs::write(place.join("bad.jsonl"), "{\"antithesis_assert\":{}}\n").unwrap();
        assert!(judge("bad.jsonl", folder.path(), &mut judged).unwrap_err().starts_with("nodes/n1/var/bad.jsonl:1: "));
    }
}
