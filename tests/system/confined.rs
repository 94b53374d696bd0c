//! Labs in containers that may do next to nothing: kernel nodes in virtual time give the same bytes there as on the machine.

use crate::bare::without_note;
use crate::fixture::{Finished, Fixture, User, is_root, not_run};
use crate::podman::Podman;
use crate::virtual_time::{TWIN, assert_same, results};
use std::collections::BTreeMap;

/// What the commands of the lab call, and a library of netloom.
const PROGRAMS: [&str; 8] = ["sh", "cat", "date", "head", "od", "ping", "iperf3", "package:libgcc-s1"];

/// The capabilities that a container of Docker has and one of podman lacks. podman's filter of system calls refuses less than Docker's, which is
/// tried in [`bare`](crate::bare).
const DOCKER: &[&str] = &["--cap-add", "AUDIT_WRITE,MKNOD,NET_RAW"];

/// Nothing that an engine can take: no capability, no new privileges, no file to write but for the mounted folder, neither `/dev/shm` nor `/tmp`, one
/// processor and little memory.
const POOR: &[&str] = &[
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--read-only",
    "--read-only-tmpfs=false",
    "--ipc=none",
    "--cpuset-cpus=0",
    "--memory=512m",
];

fn twin() -> String {
    let hosts = "{client: &host {image: 'tools:1'}, router: {kind: router, image: 'tools:1'}, server: *host}";
    TWIN.replace("SEED", "7").replace("{client: {}, router: {kind: router}, server: {}}", hosts)
}

/// The results of the run that has just ended, without the one sentence that may differ, and that.
fn ended(fixture: &Fixture, finished: Finished) -> (BTreeMap<String, Vec<u8>>, String) {
    finished.expect_code(0);
    fixture.assert_nothing_is_left("twin");
    without_note(results(fixture, "twin"))
}

/// Runs the lab in a container of the image `tools`, which has the fixture's folder where the machine has it.
fn in_container(fixture: &Fixture, podman: &Podman<'_>, limits: &[&str]) -> Finished {
    let folder = fixture.path().display().to_string();
    let work = fixture.work().display().to_string();
    let variables = [("HOME", work.clone()), ("XDG_RUNTIME_DIR", format!("{folder}/runtime"))]
        .into_iter()
        .chain([("NETLOOM_KERNEL", format!("{folder}/linux"))])
        .map(|(name, value)| format!("--env={name}={value}"));
    let mut words: Vec<String> = ["--runtime=runc", "run", "--rm", "--network=none"].map(str::to_owned).to_vec();
    // Limits are given, since root of a build machine may be unable to raise its own.
    words.extend(["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"].map(str::to_owned));
    words.extend(limits.iter().map(|limit| (*limit).to_owned()));
    words.extend(variables);
    words.extend([format!("--volume={folder}:{folder}"), format!("--workdir={work}"), "tools".to_owned()]);
    words.extend([format!("{folder}/netloom"), "run".to_owned(), "lab.yaml".to_owned(), "-q".to_owned()]);
    podman.output(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_container_without_rights_gives_the_same_bytes() {
    if !is_root() {
        return not_run("labs in containers of podman, which root makes");
    }
    let fixture = Fixture::with_kernel(User::Own).alone();
    let podman = Podman::new(&fixture, &PROGRAMS);
    fixture.netloom(&["image", "import", "oci:tools", "--name", "tools:1"]).expect_code(0);
    fixture.write("lab.yaml", &twin());
    let (usual, verdict) = ended(&fixture, fixture.netloom(&["run", "lab.yaml", "-q"]));
    assert!(!verdict.contains("without namespaces"), "{verdict}");
    for limits in [DOCKER, POOR] {
        let (bare, told) = ended(&fixture, in_container(&fixture, &podman, limits));
        assert_same(&usual, &bare);
        assert!(told.contains("the lab ran without namespaces"), "{limits:?}: {told}");
    }
}

/// A user namespace limits those that are made in it.
const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --securebits=+noroot,+noroot_locked \
                             --inh-caps=-all --bounding-set=-all --no-new-privs \"$@\"";

#[test]
fn a_limit_of_no_user_namespaces_gives_the_same_bytes() {
    for user in User::all() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("lab.yaml", &TWIN.replace("SEED", "7"));
        let (usual, _) = ended(&fixture, fixture.netloom(&["run", "lab.yaml", "-q"]));
        let wrapper = ["unshare", "-Ur", "sh", "-c", NO_NAMESPACES, "sh"];
        let (bare, told) = ended(&fixture, fixture.wrapped(&wrapper, &["run", "lab.yaml", "-q"]));
        assert_same(&usual, &bare);
        assert!(told.contains("the lab ran without namespaces (make the lab's namespaces: No space left"), "{told}");
    }
}
