use super::*;

const USER: Facts = Facts {
    root: false,
    privileged: false,
    max_user_namespaces: Some(15_000),
    unprivileged_userns_clone: None,
    apparmor_restrict_unprivileged_userns: None,
    seccomp_filter: false,
    root_is_no_mount: false,
};

#[test]
fn the_advice_names_the_setting_to_change() {
    let off = Facts { max_user_namespaces: Some(0), ..USER };
    let debian = Facts { unprivileged_userns_clone: Some(0), ..USER };
    let ubuntu = Facts { apparmor_restrict_unprivileged_userns: Some(1), ..USER };
    let container = Facts { root: true, seccomp_filter: true, ..USER };
    let chroot = Facts { root: true, privileged: true, root_is_no_mount: true, ..USER };
    let bare_root = Facts { root: true, ..USER };
    let cases = [
        (off, libc::ENOSPC, "sudo sysctl -w user.max_user_namespaces=15000"),
        (debian, libc::EPERM, "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        (ubuntu, libc::EPERM, "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
        (ubuntu, libc::EACCES, "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
        (container, libc::EPERM, "--security-opt seccomp=unconfined"),
        (bare_root, libc::EPERM, "--cap-add SYS_ADMIN"),
        (chroot, libc::EINVAL, "mount --bind FOLDER FOLDER"),
        (USER, libc::EINVAL, "CONFIG_USER_NS"),
        (USER, libc::ENOSPC, "user.max_.*_namespaces"),
        (USER, libc::EPERM, "run netloom as root"),
    ];
    for (facts, errno, expected) in cases {
        let advice = facts.advice(errno).unwrap();
        assert!(advice.contains(expected), "{facts:?} {errno}: {advice}");
    }
    assert_eq!(USER.advice(libc::ENOMEM), None);
}

#[test]
fn root_is_not_told_about_user_namespaces() {
    let root = Facts { root: true, privileged: true, max_user_namespaces: Some(0), ..USER };
    assert!(!root.advice(libc::EPERM).unwrap().contains("user namespaces"));
    assert!(!root.advice(libc::EINVAL).unwrap().contains("CONFIG_USER_NS"));
}

#[test]
fn a_root_that_is_no_mount_is_recognized() {
    let proc = "23 1 0:21 / /proc rw,nosuid - proc proc rw\n";
    let root = "1 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
    assert!(has_root(&format!("{root}{proc}")) && !has_root(proc) && !has_root(""));
}
