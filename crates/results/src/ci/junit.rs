//! JUnit XML, as Jenkins, GitLab and others read it (<https://github.com/testmoapp/junitxml> says what they have in common).

use super::{Case, Outcome, Suite};
use netloom_lab::markup::escaped;
use std::fmt::Write;

/// The document.
pub fn junit(suites: &[Suite]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all = suites.iter().flat_map(|suite| &suite.cases);
    line(&mut text, &format!("<testsuites name=\"netloom\" {}>", counts(all)));
    for suite in suites {
        line(&mut text, &format!("  <testsuite name=\"{}\" {}>", escaped(&suite.name), counts(suite.cases.iter())));
        suite.cases.iter().for_each(|one| case(&mut text, &suite.name, one));
        line(&mut text, "  </testsuite>");
    }
    line(&mut text, "</testsuites>");
    text
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string");
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures, mut errors, mut seconds) = (0, 0, 0, 0.0);
    for case in cases {
        tests += 1;
        failures += u32::from(matches!(case.outcome, Outcome::Bad(_)));
        errors += u32::from(matches!(case.outcome, Outcome::Unknown(_)));
        seconds += case.seconds;
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{seconds:.3}\"")
}

fn case(text: &mut String, suite: &str, case: &Case) {
    let place = case.line.map_or_else(String::new, |line| format!(" line=\"{line}\""));
    let head = format!(
        "    <testcase classname=\"{}.{}\" name=\"{}\"{place} time=\"{:.3}\"",
        escaped(suite),
        case.kind,
        escaped(&case.name),
        case.seconds
    );
    let (element, why) = match &case.outcome {
        Outcome::Good => return line(text, &format!("{head}/>")),
        Outcome::Bad(why) => ("failure", why),
        Outcome::Unknown(why) => ("error", why),
    };
    let first = why.lines().next().unwrap_or_default();
    line(text, &format!("{head}>"));
    line(text, &format!("      <{element} message=\"{}\">{}</{element}>", escaped(first), escaped(why)));
    line(text, "    </testcase>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::suite;
    use super::*;

    /// Read back by a parser of XML.
    #[test]
    fn the_document_says_what_failed() {
        let text = junit(&[suite()]);
        let document = roxmltree::Document::parse(&text).unwrap();
        let root = document.root_element();
        let of = |name: &str| root.attribute(name).unwrap();
        assert_eq!((of("tests"), of("failures"), of("errors"), of("time")), ("4", "2", "0", "4.000"));
        let cases: Vec<_> = root.descendants().filter(|node| node.has_tag_name("testcase")).collect();
        assert_eq!(cases[1].attribute("classname"), Some("pair.expectations"));
        assert_eq!((cases[1].attribute("name"), cases[1].attribute("line")), (Some("a.loss > 3 %"), Some("7")));
        let failure = cases[1].first_element_child().unwrap();
        assert_eq!(failure.tag_name().name(), "failure");
        assert_eq!(failure.text(), Some("measured 2 % < \"3 %\",\nwanted\u{fffd} more"));
        assert_eq!(failure.attribute("message"), Some("measured 2 % < \"3 %\","));
        // What the program wrote last.
        let last = cases[3].first_element_child().unwrap();
        assert_eq!(last.text(), Some("exit 3\nunable to connect\n<tag> & more"));
        assert_eq!((last.attribute("message"), cases[3].attribute("line")), (Some("exit 3"), Some("12")));
        assert_eq!((cases[2].has_children(), cases[2].attribute("name")), (false, Some("a.drops == 0 & more")));
    }

    #[test]
    fn every_character_is_written_or_replaced() {
        let all: String = ('\u{0}'..='\u{2000}').chain(['\u{fffd}', '\u{fffe}', '\u{ffff}', '\u{1f300}']).collect();
        let suite = Suite {
            name: all.clone(),
            cases: vec![Case { name: all.clone(), outcome: Outcome::Unknown(all), ..Case::default() }],
        };
        let text = junit(&[suite]);
        roxmltree::Document::parse(&text).unwrap();
    }
}
