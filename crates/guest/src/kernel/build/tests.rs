use super::*;

fn refused(request: &Request, cache: &Cache) -> BuildError {
    build_in(request, cache, 0, &mut |_| ()).unwrap_err()
}

fn from(source: &Path) -> Request {
    Request { source: Some(source.to_owned()), ..Request::default() }
}

/// Whatever happens, a failed build leaves its log and nothing else.
fn assert_clean(cache: &Cache) {
    let mut names: Vec<_> = fs::read_dir(cache.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["build.log", "lock"]);
}

#[test]
fn what_is_not_a_kernels_source_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kernels"));
    let source = folder.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("Makefile"), "all:\n").unwrap();
    fs::write(folder.path().join("linux.tar.xz"), "no archive").unwrap();
    for (name, why) in [
        ("source", "not a kernel's source"),
        ("linux.tar.xz", "not an archive of a kernel's source"),
        ("gone", "No such file"),
    ] {
        let text = refused(&from(&folder.path().join(name)), &cache).to_string();
        assert!(text.contains(why), "{text}");
        assert!(text.contains("--source takes"), "{text}");
    }
    assert_clean(&cache);
    assert_eq!(fs::read_dir(&source).unwrap().count(), 1);
}

#[test]
fn a_build_that_fails_shows_what_was_said_and_where_the_log_is() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kernels"));
    let source = folder.path().join("linux-9.9");
    fs::create_dir_all(source.join("arch/um")).unwrap();
    fs::write(source.join("arch/um/Kconfig"), "config HZ\n\tint\n\tdefault 100\n").unwrap();
    let rules = "mrproper:\nallnoconfig:\n\t@echo nothing works today; exit 3\n";
    fs::write(source.join("Makefile"), format!("VERSION = 9\nPATCHLEVEL = 9\nSUBLEVEL = 0\nEXTRAVERSION =\n{rules}"))
        .unwrap();
    match refused(&from(&source), &cache) {
        BuildError::Step { what, said, log } => {
            assert_eq!(what, "configuring the kernel");
            assert!(said.iter().any(|line| line == "nothing works today"), "{said:?}");
            assert!(fs::read_to_string(log).unwrap().contains("nothing works today"));
        }
        other => panic!("{other:?}"),
    }
    assert_clean(&cache);
    let kconfig = fs::read_to_string(source.join("arch/um/Kconfig")).unwrap();
    assert!(kconfig.contains("default 100\n"), "the user's folder was written to: {kconfig}");
}

#[test]
fn a_build_begins_only_where_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().join("kernels"));
    let error = build_in(&from(folder.path()), &cache, u64::MAX, &mut |_| ()).unwrap_err();
    assert!(matches!(error, BuildError::Space { needed: u64::MAX, .. }), "{error:?}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert!(!cache.work().exists());
}

#[test]
fn two_builds_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path().to_owned());
    let lock = cache.lock().unwrap();
    assert!(matches!(refused(&from(folder.path()), &cache), BuildError::Busy { .. }));
    drop(lock);
}
