use super::*;
use serde_json::json;
use std::fs;

/// A results folder with these many links, each with `samples` samples.
fn folder(links: usize, samples: u64) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(root.path().join(name), text).unwrap();
    let names: Vec<String> = (0..links).map(|number| format!("l{number}")).collect();
    let pipe = json!({ "rate_bits_per_second": 1_000_000, "described": { "rate": "1 Mbit/s" }, "pipes": [] });
    let link = |name: &String| json!({ "name": name, "ends": [{ "node": "a" }, { "node": "b" }], "forward": pipe });
    write("plan.json", json!({ "name": "lab", "links": names.iter().map(link).collect::<Vec<_>>() }).to_string());
    let row = |(number, name): (usize, &String)| {
        let (bytes, dropped) = (samples * 1000, samples / 2);
        json!({ "link": name, "direction": "forward", "pipe": null, "arrived_packets": number, "departed_bytes": bytes, "dropped_queue_packets": dropped })
    };
    let pipes: Vec<Value> = names.iter().enumerate().map(row).collect();
    let report = json!({ "lab": "lab", "duration_ns": samples * 100_000_000, "pipes": pipes, "commands": [], "verdict": { "findings": [] } });
    write("report.json", report.to_string());
    write("provenance.json", json!({ "lab": "lab", "mode": "run" }).to_string());
    let mut text =
        "time_s,link,direction,pipe,departed_bytes,dropped_queue_packets,queue_packets,queue_bytes\n".to_owned();
    for sample in 1..=samples {
        for name in &names {
            text += &format!(
                "{:.1},{name},forward,,{},{},{},{}\n",
                sample as f64 / 10.0,
                sample * 1000,
                sample / 2,
                sample % 9,
                9
            );
        }
    }
    write("samples.csv", text);
    root
}

fn embedded(path: &Path) -> Value {
    let page = fs::read_to_string(path).unwrap();
    let begin = page.find("id=\"data\">").unwrap() + 10;
    let end = begin + page[begin..].find("</script>").unwrap();
    serde_json::from_str(&page[begin..end]).unwrap()
}

#[test]
fn a_page_has_what_the_folder_has() {
    let root = folder(2, 30);
    fs::create_dir(root.path().join("logs")).unwrap();
    let events = "{\"time_ns\":1000000000,\"since_start_ns\":0,\"event\":\"log\",\"text\":\"rush\"}\n\
                  {\"time_ns\":1500000000,\"event\":\"crashed\",\"node\":\"a\"}\nhalf a li";
    fs::write(root.path().join("events.jsonl"), events).unwrap();
    let data = embedded(&write(root.path()).unwrap());
    assert_eq!((&data["kind"], &data["lab"], &data["end"]), (&json!("run"), &json!("lab"), &json!(3.0)));
    assert_eq!(data["series"].as_array().unwrap().len(), 2);
    let series = &data["series"][0];
    // Whole numbers have no point, and causes without drops are left out.
    assert_eq!(series["rate"][1], json!(80_000));
    assert_eq!(series["t"][29], json!(3));
    assert_eq!(series["drops"].as_object().unwrap().keys().collect::<Vec<_>>(), ["queue"]);
    assert_eq!(data["faults"], json!([{ "from": 1.5, "to": null, "text": "a crashed" }]));
    assert_eq!((&data["marks"][0]["text"], &data["marks"][1]["text"]), (&json!("rush"), &json!("a crashed")));
    assert_eq!(data["notes"], json!([]));
    assert!(data["report"].get("pipes").is_none() && data["pipes"].as_array().unwrap().len() == 2);
}

#[test]
fn a_long_run_of_many_links_has_a_small_page() {
    let root = folder(60, 2_000);
    let path = write(root.path()).unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 5_000_000);
    let data = embedded(&path);
    let series = data["series"].as_array().unwrap();
    assert_eq!(series.len(), 48);
    let points: usize = series.iter().map(|one| one["t"].as_array().unwrap().len()).sum();
    assert!((20_000..=50_000).contains(&points), "{points}");
    let drops: u64 = series[0]["drops"]["queue"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(drops, 1_000, "joined intervals keep what was dropped");
}

/// What is damaged is reported, and the rest is shown.
#[test]
fn a_damaged_folder_shows_the_rest() {
    for (name, text) in [
        ("report.json", "{\"lab\": "),
        ("samples.csv", "time_s\n"),
        ("samples.csv", "time_s,link,direction,pipe,departed_bytes\nx,l0,forward,,1\n"),
        ("tcp.csv", "nothing\n"),
        ("delays.json", "[1"),
        ("plan.json", "[]"),
        ("lab.svg", "<html>"),
    ] {
        let root = folder(1, 20);
        fs::write(root.path().join(name), text).unwrap();
        let data = embedded(&write(root.path()).unwrap());
        let notes = data["notes"].as_array().unwrap();
        let is_reported = notes.iter().any(|note| note.as_str().unwrap().contains(name));
        assert!(is_reported || matches!(name, "plan.json" | "lab.svg"), "{name}: {notes:?}");
        assert_eq!(data["lab"], "lab", "{name}");
    }
}

#[test]
fn what_is_no_results_folder_is_refused() {
    let root = tempfile::tempdir().unwrap();
    for folder in [root.path().to_owned(), root.path().join("none")] {
        let error = write(&folder).unwrap_err().to_string();
        assert!(error.contains("is not a results folder"), "{error}");
    }
    let many = vec![root.path().to_owned(); MOST_COMPARED + 1];
    let error = write_comparison(&many, &root.path().join("x.html")).unwrap_err().to_string();
    assert!(error.contains("9 runs cannot be compared"), "{error}");
}

/// Logs are named by a file of the folder, which may be a stranger's.
#[test]
fn a_report_names_no_files_elsewhere() {
    let root = folder(1, 2);
    fs::create_dir(root.path().join("logs")).unwrap();
    fs::write(root.path().join("logs/1.stdout"), "x".repeat(40_000)).unwrap();
    let command = |stdout: &str| json!({ "name": "c", "node": "n", "stdout": stdout, "stderr": "/etc/hostname" });
    let commands = json!([command("logs/1.stdout"), command("../../../../../etc/passwd"), command("/etc/passwd")]);
    let report = json!({ "lab": "lab", "commands": commands });
    fs::write(root.path().join("report.json"), report.to_string()).unwrap();
    let data = embedded(&write(root.path()).unwrap());
    let logs = data["logs"].as_array().unwrap();
    assert_eq!(logs.len(), 1, "{logs:?}");
    let output = &logs[0]["outputs"][0];
    assert_eq!((output["head"].as_str().unwrap().len(), output["tail"].as_str().unwrap().len()), (4096, 8192));
    assert_eq!(output["bytes"], 40_000);
}
