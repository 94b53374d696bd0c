//! SARIF 2.1.0 (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), as GitHub's code scanning and others read it: each case that is
//! not good as a result at its line of the lab file.

use super::{Outcome, Suite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The document about the lab file at `file`, relative to the repository.
pub fn sarif(suites: &[Suite], file: &Path) -> String {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    let cases: Vec<_> = suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case))).collect();
    for (_, case) in &cases {
        let next = rules.len();
        rules.entry(case.kind).or_insert(next);
    }
    let mut described = vec![Value::Null; rules.len()];
    for (kind, place) in &rules {
        described[*place] = json!({ "id": kind, "shortDescription": { "text": format!("netloom: {kind}") } });
    }
    let result = |(suite, case): &(&Suite, &super::Case)| {
        let (level, why) = match &case.outcome {
            Outcome::Good => return None,
            Outcome::Bad(why) => ("error", why),
            Outcome::Unknown(why) => ("warning", why),
        };
        // The same result has the same fingerprint in later runs, whatever line it is at.
        let fingerprint = format!("{}/{}/{}", suite.name, case.kind, case.name);
        let region = json!({ "startLine": case.line.unwrap_or(1) });
        let place = json!({ "artifactLocation": { "uri": uri(file) }, "region": region });
        Some(json!({
            "ruleId": case.kind,
            "ruleIndex": rules.get(case.kind),
            "level": level,
            "message": { "text": format!("{}: {}\n{why}", suite.name, case.name).trim_end() },
            "locations": [{ "physicalLocation": place }],
            "partialFingerprints": { "netloom/v1": fingerprint },
        }))
    };
    let results: Vec<Value> = cases.iter().filter_map(result).collect();
    let driver = json!({
        "name": "netloom",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": described,
    });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    format!("{document:#}\n")
}

/// A path as a reference of URIs has it.
fn uri(file: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let text = file.to_string_lossy();
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::suite;
    use super::*;

    #[test]
    fn what_is_not_good_is_a_result_at_its_line() {
        let text = sarif(&[suite()], Path::new("labs/a b.yaml"));
        let document: Value = serde_json::from_str(&text).unwrap();
        let results = document["runs"][0]["results"].as_array().unwrap();
        assert_eq!((document["version"].as_str(), results.len()), (Some("2.1.0"), 2));
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "labs/a%20b.yaml");
        assert_eq!(place["region"]["startLine"], 7);
        assert!(results[0]["message"]["text"].as_str().unwrap().starts_with("pair: a.loss > 3 %\nmeasured 2 %"));
        let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        for result in results {
            let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[rule]["id"], result["ruleId"]);
            assert_eq!(result["level"], "error");
        }
    }
}
