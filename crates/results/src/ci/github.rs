//! Annotations of GitHub Actions: what was not met, at its line of the lab file (workflow commands,
//! <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).

use super::{Outcome, Suite};
use std::path::Path;

/// GitHub shows ten errors of a step.
const SHOWN: usize = 10;

/// A line for each thing that is not good, of the lab file at `file`, relative to the repository. The last of many says how many
/// more there are.
pub fn annotations(suites: &[Suite], file: &Path) -> Vec<String> {
    let file = property(&file.to_string_lossy());
    let mut lines = Vec::new();
    let cases = suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)));
    for (suite, case) in cases {
        let (Outcome::Bad(why) | Outcome::Unknown(why)) = &case.outcome else { continue };
        // What is said of the file as a whole is shown at its beginning.
        let line = case.line.unwrap_or(1);
        let title = property(&format!("{}: {}", suite.name, case.name));
        lines.push(format!("::error file={file},line={line},title={title}::{}", data(why)));
    }
    if lines.len() > SHOWN {
        let more = lines.split_off(SHOWN - 1).len();
        lines.push(format!("::error file={file},line=1::{more} more are not as they should be"));
    }
    lines
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::suite;
    use super::super::{Case, Suite};
    use super::*;

    #[test]
    fn what_is_not_met_is_shown_at_its_line() {
        let lines = annotations(&[suite()], Path::new("labs/a,b.yaml"));
        assert_eq!(lines.len(), 2);
        let wanted = "::error file=labs/a%2Cb.yaml,line=7,title=pair%3A a.loss > 3 %25::measured 2 %25 < \"3 %25\",%0Awanted\u{1b} more";
        assert_eq!(lines[0], wanted);
        let wanted_of_command = "::error file=labs/a%2Cb.yaml,line=12,title=pair%3A transfer on client::exit 3%0Aunable to connect%0A<tag> & more";
        assert_eq!(lines[1], wanted_of_command);
    }

    #[test]
    fn of_many_the_rest_is_counted() {
        let case = |_| Case { outcome: Outcome::Bad("no".into()), ..Case::default() };
        let suite = Suite { name: "many".into(), cases: (0..25).map(case).collect() };
        let lines = annotations(&[suite], Path::new("lab.yaml"));
        assert_eq!(lines[0], "::error file=lab.yaml,line=1,title=many%3A ::no");
        assert_eq!(
            (lines.len(), lines[9].as_str()),
            (10, "::error file=lab.yaml,line=1::16 more are not as they should be")
        );
    }
}
