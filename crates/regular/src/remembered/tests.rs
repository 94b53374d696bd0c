use super::*;
use std::convert::Infallible;
use std::fs::{File, FileTimes};

const NAME: &str = "file";

/// A folder with a file that changed long ago, as far as its owner can say so, and the place of what is remembered.
fn folder() -> (tempfile::TempDir, PathBuf, Option<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, place) = (folder.path().join(NAME), folder.path().join("cache/known.json"));
    fs::write(&path, "one").unwrap();
    (folder, path, Some(place))
}

fn text(path: &Path) -> Result<String, Infallible> {
    Ok(fs::read_to_string(path).unwrap())
}

fn never() -> Result<String, Infallible> {
    panic!("it was remembered")
}

/// Waits until the file's last change is long enough ago.
fn settle(path: &Path) {
    while !Stamp::of(path).unwrap().is_settled() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_file_is_read_again_when_it_changed() {
    let (_folder, path, place) = folder();
    settle(&path);
    assert_eq!(Remembered::at(place.clone()).of(&path, || text(&path)), Ok("one".into()));
    assert_eq!(Remembered::at(place.clone()).of(&path, never), Ok("one".into()));
    // The same size, and the time of its last write is put back.
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "two").unwrap();
    File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(written)).unwrap();
    assert_eq!(Remembered::at(place).of(&path, || text(&path)), Ok("two".into()));
}

#[test]
fn what_changed_just_now_is_not_remembered() {
    let (_folder, path, place) = folder();
    let mut known = Remembered::at(place.clone());
    assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
    assert!(known.entries.is_empty() && !place.unwrap().exists());
}

#[test]
fn what_changes_while_it_is_read_is_not_remembered() {
    let (_folder, path, place) = folder();
    settle(&path);
    let mut known = Remembered::at(place);
    let changing = || {
        fs::write(&path, "two").unwrap();
        Ok::<_, Infallible>("one".to_owned())
    };
    assert_eq!(known.of(&path, changing), Ok("one".into()));
    assert!(known.entries.is_empty());
}

#[test]
fn errors_and_damage_are_not_remembered() {
    let (_folder, path, place) = folder();
    settle(&path);
    let mut known = Remembered::<String>::at(place.clone());
    assert_eq!(known.of(&path, || Err("it cannot be read")), Err("it cannot be read"));
    assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
    fs::write(place.as_ref().unwrap(), "{\"/file\": {\"stamp\": 1").unwrap();
    assert!(Remembered::<String>::at(place).entries.is_empty());
    assert_eq!(Remembered::at(None).of(&path, || text(&path)), Ok("one".into()), "without a place for it");
}

#[test]
fn nothing_is_written_into_the_folder_of_another_user() {
    let (folder, path, _) = folder();
    settle(&path);
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let owner = if geteuid().is_root() { Some(65_534) } else { None };
    std::os::unix::fs::chown(&other, owner, None).unwrap();
    let elsewhere = other.join("cache/known.json");
    assert_eq!(Remembered::at(Some(elsewhere.clone())).of(&path, || text(&path)), Ok("one".into()));
    // Only root can give a folder away.
    assert_eq!(elsewhere.exists(), owner.is_none());
}

#[test]
fn no_more_than_so_many_are_remembered() {
    let (folder, path, place) = folder();
    settle(&path);
    let stamp = Stamp::of(&path).unwrap();
    let mut known = Remembered::at(place);
    for number in 0..=MOST_FILES {
        known.entries.insert(format!("{}/{number}", folder.path().display()), Entry { stamp, value: String::new() });
    }
    assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
    assert_eq!(known.entries.len(), 1, "those that are gone make room");
}
