use super::super::Folder;
use super::*;
use std::os::unix::fs::symlink;
use std::time::UNIX_EPOCH;

const DAY: u64 = 86_400;

/// The folder of a run that began so many days after 2026-11-01.
fn made(root: &Path, lab: &str, day: u64, report: Option<&str>) -> Folder {
    let folder = Folder::create(root, lab, UNIX_EPOCH + Duration::from_secs(1_793_491_200 + day * DAY)).unwrap();
    folder.write("provenance.json", format!("{{\"lab\": \"{lab}\", \"clock\": \"real\"}}")).unwrap();
    if let Some(report) = report {
        folder.write("report.json", report).unwrap();
    }
    folder
}

const GOOD: Option<&str> = Some("{\"exit_code\": 0, \"verdict\": {\"as_described\": true, \"findings\": []}}");
const BAD: Option<&str> =
    Some("{\"exit_code\": 5, \"verdict\": {\"as_described\": false, \"findings\": [{\"text\": \"x\"}]}}");

fn request(root: &Path) -> PruneRequest {
    PruneRequest { root: root.to_owned(), ..PruneRequest::default() }
}

fn left(root: &Path) -> Vec<String> {
    list_results(root).unwrap().into_iter().map(|found| format!("{} {}", found.lab, &found.began_utc[8..10])).collect()
}

#[test]
fn results_are_listed_with_what_became_of_them() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path();
    for (day, report) in [(3, GOOD), (1, BAD), (2, None)] {
        drop(made(path, "star", day, report));
    }
    let running = made(path, "ring", 4, None);
    running.become_latest().unwrap();
    let all = list_results(path).unwrap();
    let told: Vec<_> =
        all.iter().map(|found| (found.lab.as_str(), found.state, found.as_described, found.latest)).collect();
    let expected = [
        ("ring", ResultsState::GoingOn, None, true),
        ("star", ResultsState::Over, Some(false), false),
        ("star", ResultsState::CutOff, None, false),
        ("star", ResultsState::Over, Some(true), false),
    ];
    assert_eq!(told, expected);
    assert_eq!(all[1].began_utc, "2026-11-02T00:00:00Z");
    assert_eq!((all[1].exit_code, all[1].clock.as_deref()), (Some(5), Some("real")));
    assert_eq!(all[2].size_bytes, 32);
    drop(running);
    assert_eq!(list_results(path).unwrap()[0].state, ResultsState::CutOff);
    assert_eq!(list_results(&path.join("nowhere")).unwrap(), []);
}

#[test]
fn the_newest_and_what_is_in_use_stay() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path();
    for day in 1..=6 {
        let folder = made(path, "star", day, GOOD);
        if day == 2 {
            folder.become_latest().unwrap();
        }
    }
    let running = made(path, "star", 0, None);
    drop(made(path, "ring", 1, GOOD));
    let keep = PruneRequest { keep: Some(2), labs: vec!["star".into()], ..request(path) };
    let named = prune_results(&PruneRequest { dry_run: true, ..keep.clone() }).unwrap();
    assert_eq!((named.len(), left(path).len()), (3, 8));
    let removed = prune_results(&keep).unwrap();
    assert_eq!(removed, named);
    assert_eq!(left(path), ["ring 02", "star 01", "star 03", "star 06", "star 07"]);
    assert!(path.join("star/latest/report.json").exists());
    drop(running);
    let error = prune_results(&PruneRequest { keep: Some(0), labs: vec!["moon".into()], ..request(path) }).unwrap_err();
    assert!(error.to_string().contains("no results of a lab `moon`"), "{error}");
}

#[test]
fn age_and_number_are_both_reasons_to_stay() {
    let root = tempfile::tempdir().unwrap();
    (1..=4).for_each(|day| drop(made(root.path(), "star", day, GOOD)));
    let days =
        |removed: Vec<Results>| removed.into_iter().map(|found| found.began_utc[8..10].to_owned()).collect::<Vec<_>>();
    let now = UNIX_EPOCH + Duration::from_secs(1_793_491_200 + 5 * DAY);
    let all = || list_results(root.path()).unwrap();
    let age = |count: u64| Some(Duration::from_secs(count * DAY));
    assert_eq!(days(doomed(all(), None, age(2), now)), ["02", "03", "04"]);
    assert_eq!(days(doomed(all(), Some(2), age(2), now)), ["02", "03"]);
    assert_eq!(days(doomed(all(), Some(1), age(4), now)), ["02"]);
    assert_eq!(days(doomed(all(), Some(0), None, now)).len(), 4);
    // A machine whose clock was set back.
    assert_eq!(days(doomed(all(), None, age(0), UNIX_EPOCH)), [""; 0]);
}

#[test]
fn what_is_no_results_folder_is_not_touched() {
    let root = tempfile::tempdir().unwrap();
    let (path, away) = (root.path().join("results"), root.path().join("away"));
    drop(made(&path, "star", 1, GOOD));
    drop(made(&away, "star", 2, GOOD));
    let elsewhere = list_results(&away).unwrap().remove(0).folder;
    // Links out of the folder: of a run, of a lab, and inside of a run.
    symlink(&elsewhere, path.join("star").join(elsewhere.file_name().unwrap())).unwrap();
    symlink(away.join("star"), path.join("moon")).unwrap();
    symlink(&elsewhere, list_results(&path).unwrap()[0].folder.join("out")).unwrap();
    // Kept files of nodes, a user's own folder, one of another lab, one without provenance, a name that is no time.
    for other in
        ["keep/20261101T000000-0000", "mine", "20261101T000000-beef", "20261301T000000-beef", "20261101T000000-12345"]
    {
        fs::create_dir_all(path.join("star").join(other)).unwrap();
        fs::write(path.join("star").join(other).join("precious"), "1").unwrap();
    }
    fs::write(path.join("star/20261101T000000-beef/provenance.json"), "{\"lab\": \"ring\"}").unwrap();
    let removed = prune_results(&PruneRequest { keep: Some(0), ..request(&path) }).unwrap();
    assert_eq!(removed.len(), 1);
    assert_eq!(left(&path), [""; 0]);
    assert_eq!(left(&away), ["star 03"]);
    let precious = fs::read_dir(path.join("star")).unwrap().filter(|entry| {
        let inside = entry.as_ref().unwrap().path();
        inside.join("precious").exists() || inside.join("20261101T000000-0000/precious").exists()
    });
    assert_eq!(precious.count(), 5);
    assert!(elsewhere.join("report.json").exists());
}
