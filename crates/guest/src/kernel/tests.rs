use super::*;
use std::fs;

/// A program that nothing is known against, in the place of a kernel: it imports from the C library what the table has.
fn own(folder: &Path, version: &str, time_travel: bool, config_hash: &str) -> OwnBuild {
    let path = folder.join(format!("{version}-{config_hash}"));
    fs::write(&path, surface::tests::program(true, &["clock_gettime", "read"])).unwrap();
    let version_inside = format!("{version}-netloom");
    let facts =
        Facts { version: version_inside, time_travel, seccomp: true, hz: 1000, modules_needed: Vec::new(), day: None };
    let record = Record {
        facts,
        source_version: version.to_owned(),
        source: "a test".to_owned(),
        config_hash: config_hash.to_owned(),
        compiler: "gcc 12".to_owned(),
        built: "2026-01-01T00:00:00Z".to_owned(),
        build_seconds: 240,
        size_bytes: 0,
    };
    OwnBuild { path, record, shared: false }
}

/// A script that answers as a kernel does.
fn script(folder: &Path) -> PathBuf {
    let path = folder.join("kernel.sh");
    fs::write(&path, "#!/bin/sh\necho 6.1\n").unwrap();
    netloom_testing::programs::make_executable(&path);
    path
}

const NOWHERE: &str = "/nowhere/linux.uml";

#[test]
fn the_newest_own_build_of_the_present_configuration_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let present = build::config_hash();
    let builds = vec![
        own(folder.path(), "7.9", true, "0123456789abcdef"),
        own(folder.path(), "7.3.4", true, &present),
        own(folder.path(), "7.2", true, &present),
    ];
    let kernel = choose(Need::VirtualTime, None, builds, Path::new(NOWHERE)).unwrap();
    assert_eq!(kernel.version, "7.3.4-netloom");
    assert_eq!(kernel.config_hash, Some(present));
    assert!(kernel.own_build && kernel.time_travel && kernel.seccomp);
}

#[test]
fn a_build_without_virtual_time_serves_where_none_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let builds = || vec![own(folder.path(), "7.9", false, "0123456789abcdef")];
    assert!(choose(Need::Clock, None, builds(), Path::new(NOWHERE)).is_ok());
    let named = Some(folder.path().join("7.9-0123456789abcdef"));
    let refused = choose(Need::VirtualTime, named, builds(), Path::new(NOWHERE)).unwrap_err();
    assert!(matches!(refused, KernelMissing::NoVirtualTime { .. }), "{refused:?}");
    assert!(refused.to_string().contains("run `netloom kernel build`"));
}

#[test]
fn without_any_kernel_the_message_says_what_to_run() {
    let refused = |need| choose(need, None, Vec::new(), Path::new(NOWHERE)).unwrap_err().to_string();
    assert!(refused(Need::VirtualTime).contains("`netloom kernel build`"));
    assert!(!refused(Need::VirtualTime).contains("user-mode-linux"));
    assert!(refused(Need::Clock).contains("package user-mode-linux"));
}

#[test]
fn another_processor_is_told_what_it_can_do() {
    let refused = KernelMissing::Processor.to_string();
    assert!(refused.contains("x86-64 only") && refused.contains("`netloom sim`"), "{refused}");
    assert!(!refused.contains("kernel build"), "it would be refused as well: {refused}");
}

#[test]
fn a_named_kernel_is_never_replaced_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let builds = || vec![own(folder.path(), "7.9", true, "0123456789abcdef")];
    for named in [script(folder.path()), PathBuf::from(NOWHERE)] {
        let refused = choose(Need::Clock, Some(named.clone()), builds(), Path::new(NOWHERE)).unwrap_err();
        assert!(refused.to_string().contains(&named.display().to_string()), "{refused}");
    }
}

#[test]
fn what_a_kernel_knows_stands_in_its_file() {
    let none = Texts::of(b"\0netloom.branches\0xnetloom.disk_fault\0/netloom/samples");
    assert_eq!(none, Texts::default(), "texts are whole ones");
    let all = Texts::of(b"a\0netloom.branch\0/netloom/checkpoint\0netloom.disk_fault\0b\0/netloom/samples\0");
    assert_eq!(all, Texts { branch: true, checkpoint: true, disk: true, samples: true });
}
