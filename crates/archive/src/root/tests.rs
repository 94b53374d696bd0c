use super::*;
use netloom_image::Found;
use netloom_image::Root;
use netloom_results::host_name;
use netloom_results::read_files::Record;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{SystemTime, UNIX_EPOCH};

/// A machine's files in a folder, which are all that is looked at, and the results of a run that looked at them.
struct Machine {
    _folder: tempfile::TempDir,
    files: PathBuf,
    results: PathBuf,
    record: Record,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (files, results) = (base.join("files"), base.join("results"));
        fs::create_dir_all(files.join("bin")).unwrap();
        fs::create_dir(&results).unwrap();
        fs::write(files.join("bin/tool"), "#!/bin/sh\n").unwrap();
        fs::write(files.join("bin/other"), "never opened\n").unwrap();
        symlink("bin/tool", files.join("link")).unwrap();
        let record = Record {
            ended_unix_ns: 0,
            start_folder: files.clone(),
            another_root: false,
            is_complete: true,
            others: Vec::new(),
            images: Vec::new(),
            provided: Vec::new(),
            looked_at: Vec::new(),
            listed: Vec::new(),
        };
        Self { _folder: folder, files, results, record }
    }

    fn add(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.files.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn ended_now(mut self) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        self.record.ended_unix_ns = u64::try_from(now.as_nanos()).unwrap();
        self
    }

    fn record_in(&self, results: &Path) {
        let text = serde_json::to_vec(&self.record).unwrap();
        fs::write(results.join(netloom_results::read_files::FILE), text).unwrap();
    }

    fn pack(&self, target: &Path) -> Result<Vec<LeftOut>, ArchiveError> {
        self.record_in(&self.results);
        ran_on(&self.results, &host_name());
        fs::create_dir_all(target).unwrap();
        write(std::slice::from_ref(&self.results), target)
    }

    fn refusal(&self) -> String {
        let target = tempfile::tempdir().unwrap();
        self.pack(target.path()).unwrap_err().to_string()
    }
}

fn ran_on(results: &Path, machine: &str) {
    fs::write(results.join("provenance.json"), serde_json::json!({ "host_name": machine }).to_string()).unwrap();
}

#[test]
fn what_was_looked_at_is_whole_and_what_was_listed_has_its_name() {
    let mut machine = Machine::new();
    let name = |name: &str| machine.files.join(name).to_str().unwrap().to_owned();
    machine.record.looked_at = vec![name("bin/tool"), name("link")];
    machine.record.listed = vec![name("bin")];
    let machine = machine.ended_now();
    // Times of files are those of the last tick, 10 ms ago at most: the folder of these has changed since the end, whoever else uses it.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let targets = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for target in &targets {
        assert_eq!(machine.pack(target.path()).unwrap(), []);
    }
    let indexes = targets.each_ref().map(|target| fs::read(target.path().join(ROOT).join("index.json")).unwrap());
    assert_eq!(indexes[0], indexes[1], "the same files are the same image");
    let home = tempfile::tempdir().unwrap();
    let (image, start) = open(targets[0].path(), home.path()).unwrap().unwrap();
    assert_eq!(start, machine.files);
    let root = Root::open(&image.folder).unwrap();
    let text =
        |inner: &str| root.read(&machine.files.join(inner), 100).unwrap().map(String::from_utf8).map(Result::unwrap);
    assert_eq!(text("bin/tool").as_deref(), Some("#!/bin/sh\n"));
    assert_eq!(text("link").as_deref(), Some("#!/bin/sh\n"));
    assert_eq!(text("bin/other").as_deref(), Some(""));
    assert_eq!(root.find(machine.files.join("bin").to_str().unwrap()), Some(Found::Folder));
    let inside = image.folder.join(machine.files.join("bin/tool").strip_prefix("/").unwrap());
    let times = [&machine.files.join("bin/tool"), &inside].map(|path| path.metadata().unwrap().modified().unwrap());
    assert_eq!(times[0], times[1], "to the nanosecond");
}

#[test]
fn secrets_stay_behind_and_are_named() {
    let mut machine = Machine::new();
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n";
    let kept = [
        machine.add("etc/shadow", "root:x\n", 0o640),
        machine.add("etc/server.pem", &format!("-----BEGIN CERTIFICATE-----\n\n{key}"), 0o644),
        machine.add("home/.ssh/config", "Host x\n", 0o644),
    ];
    let given = [
        machine.add("lib/ssl.py", &format!("HEADER = '{key}'\n"), 0o644),
        machine.add("lib/libcrypto", &format!("\0\n{key}"), 0o644),
    ];
    machine.record.looked_at = kept.iter().chain(&given).cloned().collect();
    let machine = machine.ended_now();
    let target = tempfile::tempdir().unwrap();
    let left: Vec<String> = machine.pack(target.path()).unwrap().into_iter().map(|left| left.path).collect();
    let mut expected = kept.map(|path| format!("{ROOT}{path}")).to_vec();
    expected.sort();
    assert_eq!(left, expected);
    let home = tempfile::tempdir().unwrap();
    let (image, _) = open(target.path(), home.path()).unwrap().unwrap();
    let root = Root::open(&image.folder).unwrap();
    assert!(given.iter().all(|path| root.find(path).is_some()));
}

#[test]
fn what_is_not_known_or_not_as_it_was_is_refused() {
    let mut machine = Machine::new();
    let nothing = tempfile::tempdir().unwrap();
    let of = |results: &Path| Names::of(&[results.to_owned()]).unwrap_err().to_string();
    assert!(of(nothing.path()).contains("nothing says which files were read"));
    machine.record.looked_at = vec![machine.files.join("bin/tool").to_str().unwrap().to_owned()];
    assert!(machine.refusal().contains("bin/tool has changed since the run"));
    let mut machine = machine.ended_now();
    machine.record.others = vec!["b".into()];
    assert!(machine.refusal().contains("node b is no kernel node"));
    machine.record.others.clear();
    machine.record.is_complete = false;
    assert!(machine.refusal().contains("more files than a run writes down"));
    machine.record.another_root = true;
    assert!(machine.refusal().contains("it ran with another root"));
    ran_on(&machine.results, "elsewhere");
    assert!(of(&machine.results).contains("it ran on the machine \"elsewhere\""));
}

/// Runs of a sweep that looked at different files, each at one that the other has only seen in a list.
#[test]
fn runs_of_a_sweep_have_one_root() {
    let mut machine = Machine::new();
    machine.record.listed = vec![machine.files.join("bin").to_str().unwrap().to_owned()];
    let mut machine = machine.ended_now();
    let base = machine.results.parent().unwrap().to_owned();
    let mut runs = Vec::new();
    for (number, name) in ["bin/tool", "bin/other"].iter().enumerate() {
        let results = base.join(format!("runs/{number}/results"));
        fs::create_dir_all(&results).unwrap();
        ran_on(&results, &host_name());
        machine.record.looked_at = vec![machine.files.join(name).to_str().unwrap().to_owned()];
        machine.record_in(&results);
        runs.push(results);
    }
    let failed = base.join("runs/failed/results");
    fs::create_dir_all(&failed).unwrap();
    fs::write(failed.parent().unwrap().join("run.json"), r#"{"outcome": "failed"}"#).unwrap();
    runs.push(failed.clone());
    let target = tempfile::tempdir().unwrap();
    assert_eq!(write(&runs, target.path()).unwrap(), []);
    let home = tempfile::tempdir().unwrap();
    let (image, _) = open(target.path(), home.path()).unwrap().unwrap();
    let root = Root::open(&image.folder).unwrap();
    for (inner, text) in [("bin/tool", "#!/bin/sh\n"), ("bin/other", "never opened\n")] {
        let read = root.read(&machine.files.join(inner), 100).unwrap();
        assert_eq!(read.map(String::from_utf8).unwrap().unwrap(), text, "{inner}");
    }
    let why = |some: &[PathBuf]| write(some, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
    assert!(why(std::slice::from_ref(&failed)).contains("none of its runs has come to its end"));
    fs::write(failed.parent().unwrap().join("run.json"), r#"{"outcome": "as_described"}"#).unwrap();
    assert!(why(&runs).contains("nothing says which files were read"));
    // What the first run read has changed before the second, which did not read it.
    // Times of files are those of the last tick, 10 ms ago at most.
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(machine.files.join("bin/tool"), "#!/bin/false\n").unwrap();
    machine.record.looked_at = vec![machine.files.join("bin/other").to_str().unwrap().to_owned()];
    machine = machine.ended_now();
    machine.record_in(&runs[1]);
    assert!(why(&runs[..2]).contains("bin/tool has changed since"));
    machine.record.start_folder = base;
    machine.record_in(&runs[1]);
    assert!(why(&runs[..2]).contains("a root has one such folder"));
}

/// What a stranger writes into a root: the image crate refuses it, as it does in any image.
#[test]
fn hostile_roots_are_refused() {
    let layer = |entry: tar::EntryType, name: &str, link: &str| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(entry);
        header.set_size(0);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        let field = &mut header.as_old_mut().name;
        field[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend([0; 1024]);
        bytes
    };
    let opened = |packed: Vec<u8>, working_dir: &str| {
        let (results, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let config = Config { working_dir: working_dir.into(), ..Config::default() };
        write_layout(&results.path().join(ROOT), &config, |output| output.write_all(&packed)).unwrap();
        open(results.path(), home.path()).map(drop)
    };
    assert!(opened(layer(tar::EntryType::Regular, "a", ""), "/").is_ok());
    for (entry, name, link) in [
        (tar::EntryType::Regular, "../out", ""),
        (tar::EntryType::Regular, "a/../../out", ""),
        (tar::EntryType::Link, "a", "../../etc/passwd"),
        (tar::EntryType::Link, "a", "/etc/passwd"),
    ] {
        assert!(opened(layer(entry, name, link), "/").is_err(), "{name} {link}");
    }
    assert!(opened(layer(tar::EntryType::Regular, "a", ""), "../here").is_err());
}
