use super::compare::difference;
use super::gather::Summary;
use super::*;
use std::fs;

/// What is known of some runs together.
fn summary(n: usize, mean: f64, deviation: Option<f64>) -> Summary {
    let mut summary = Summary::default();
    (summary.n, summary.mean, summary.deviation) = (n.try_into().unwrap(), Some(mean), deviation);
    summary
}

/// A sweep of two points with `repetitions` each; the figure of run n is `base` + n, and every third run is not as described.
fn sweep(base: f64, repetitions: u64) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let origin = serde_json::json!({
        "version": "0", "lab_file": "/x.yaml", "lab": "x", "points": 2, "repetitions": repetitions,
        "clock": "of the lab file", "played": "", "files": {}
    });
    fs::write(root.path().join("origin.json"), origin.to_string()).unwrap();
    fs::write(root.path().join("runs.csv"), "run,point,repetition,seed,cc,queue,outcome,exit_code\n").unwrap();
    for number in 0..2 * repetitions {
        let folder = root.path().join(format!("runs/x-{:04}", number + 1));
        fs::create_dir_all(&folder).unwrap();
        let (point, repetition) = (number / repetitions, number % repetitions);
        let outcome = if number % 3 == 2 { "not_as_described" } else { "as_described" };
        let record = serde_json::json!({
            "run": number + 1, "point": point + 1, "repetition": repetition + 1, "seed": number,
            "parameters": { "queue": "</script><b>", "cc": (["cubic", "reno"][point as usize]) },
            "outcome": outcome, "exit_code": 0, "why": "late", "unmet": 0, "results": null, "lab_ns": 1, "wall_s": 1.0,
            "figures": [{ "name": "goodput", "unit": "bit/s", "value": base + number as f64 }]
        });
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
    }
    root
}

fn embedded(path: &Path) -> serde_json::Value {
    let page = fs::read_to_string(path).unwrap();
    let begin = page.find("id=\"data\">").unwrap() + 10;
    let end = begin + page[begin..].find("</script>").unwrap();
    serde_json::from_str(&page[begin..end]).unwrap()
}

#[test]
fn a_page_has_every_point_and_what_was_left_out() {
    let root = sweep(100.0, 6);
    let data = embedded(&write(root.path()).unwrap());
    assert_eq!(data["parameters"], serde_json::json!(["cc", "queue"]), "in the order of the table");
    assert_eq!(data["points"].as_array().unwrap().len(), 2);
    let first = &data["points"][0];
    assert_eq!((&first["counted"], &first["left_out"]), (&4.into(), &2.into()));
    // Runs 1, 2, 4 and 5 of the first point: 100, 101, 103, 104.
    assert_eq!(first["figures"][0]["values"], serde_json::json!([100.0, 101.0, 103.0, 104.0]));
    assert_eq!(first["figures"][0]["mean"], 102.0);
    assert_eq!(first["figures"][0]["q"], serde_json::json!([100.0, 100.75, 102.0, 103.25, 104.0]));
    assert_eq!(data["left_out"].as_array().unwrap().len(), 4);
    assert_eq!(data["left_out"][0]["why"], "late");
}

#[test]
fn a_damaged_record_is_told_and_the_others_are_there() {
    let root = sweep(100.0, 3);
    fs::write(root.path().join("runs/x-0002/run.json"), "{\"run\": 2, ").unwrap();
    fs::create_dir(root.path().join("runs/x-9999")).unwrap();
    let data = embedded(&write(root.path()).unwrap());
    assert!(data["notes"][0].as_str().unwrap().starts_with("runs/x-0002/run.json could not be read"), "{data}");
    assert_eq!(data["points"][0]["counted"], 1);
    let error = write(&root.path().join("runs")).unwrap_err().to_string();
    assert!(error.contains("is not the folder of a sweep"), "{error}");
}

#[test]
fn two_sweeps_differ_by_what_was_added() {
    let (one, other) = (sweep(100.0, 6), sweep(110.0, 6));
    let path = one.path().join("both.html");
    write_comparison([&one.path().to_owned(), &other.path().to_owned()], &path).unwrap();
    let data = embedded(&path);
    assert_eq!(data["rows"].as_array().unwrap().len(), 2);
    assert_eq!(data["rows"][0]["difference"]["mean"], 10.0);
    assert!(data["rows"][0]["difference"]["ci95"].as_f64().unwrap() > 1.0);
    let none = write_comparison([&one.path().to_owned(), &other.path().join("runs")], &path).unwrap_err();
    assert!(none.to_string().contains("not the folder of a sweep"), "{none}");
}

/// Two samples of Welch 1947's kind: n = 4, deviation 2, and n = 9, deviation 3. The variance is 1 + 1, the degrees of freedom
/// 4 / (1/3 + 1/8) = 8.727: t = 2.272979, so half of the interval is 2.272979 * sqrt 2 = 3.21448.
#[test]
fn the_interval_of_a_difference_is_that_of_welch() {
    let side = |n, mean, deviation| summary(n, mean, Some(deviation));
    let found = difference(&side(4, 10.0, 2.0), &side(9, 15.0, 3.0)).unwrap();
    assert_eq!(found.mean, 5.0);
    assert!((found.ci95.unwrap() - 3.214_48).abs() < 1e-4, "{found:?}");
    let single = summary(1, 3.0, None);
    assert_eq!(difference(&single, &side(4, 10.0, 2.0)).unwrap().ci95, None);
    assert_eq!(difference(&Summary::default(), &single), None);
    assert_eq!(difference(&side(3, 1.0, 0.0), &side(3, 2.0, 0.0)).unwrap().ci95, None);
}
