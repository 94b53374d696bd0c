//! Nodes that are containers of podman, which run already.

use crate::fixture::{Finished, Fixture, User, child_named, children, is_root, lab_of, not_run};
use crate::podman::Podman;
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;

const PROGRAMS: [&str; 8] = ["sh", "cat", "id", "ls", "ping", "sleep", "ip", "grep"];

const LAB: &str = "
name: joined
nodes:
  web: {container: netloom-web, kind: router, env: {B: lab}, sysctl: {net.ipv4.tcp_ecn: 1}}
  a: {}
  b: {}
links: {l: {ends: [a, web], delay: 1 ms}, m: {ends: [web, b]}}
timeline:
  - {on: web, as: daemon, service: true, run: 'sleep 4711 & sleep 4712 & exec sleep 4713'}
TIMELINE";

const BOUNDS: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\n";

fn lab(timeline: &str) -> String {
    LAB.replace("TIMELINE", timeline) + BOUNDS
}

impl Podman<'_> {
    /// Starts a container that waits. Limits are given, since root of a build machine may be unable to raise its own.
    fn start(&self, name: &str, network: &str) {
        let fixed =
            ["--runtime", "runc", "run", "-d", "--cap-add", "NET_ADMIN,NET_RAW", "--ulimit", "nofile=1024:1024"];
        let own = ["--ulimit", "nproc=4096:4096", "--network", network, "--name", name, "tools", "sleep", "100000"];
        self.run(&[&fixed[..], &own].concat());
    }

    fn netloom(&self, words: &[&str]) -> Finished {
        self.0.wrapped(&["env", &self.setting()], words)
    }

    /// What netloom may change in a container, and what runs there.
    fn state(&self, name: &str) -> String {
        let look = "ip -o link show | grep -o '^[^@:]*: [^@:]*'; cd /proc/sys/net; cat ipv4/ip_forward ipv6/conf/all/forwarding ipv4/tcp_ecn; \
                    cat /etc/hosts | grep -c a-eth0; grep -ls '47[1]' /proc/[0-9]*/cmdline | grep -c .; ls /data";
        self.output(&["exec", name, "sh", "-c", look]).stdout
    }

    fn await_state(&self, name: &str, wanted: &str) {
        wait_until(&format!("{wanted} in the container {name}"), || self.state(name) == wanted);
    }
}

/// Fails if anything is left of the lab: podman's own processes and mounts are in the fixture's folder, too.
fn assert_only_podman_is_left(fixture: &Fixture) {
    let ours = |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| path.ends_with("netloom"));
    wait_until("the end of all that is not podman's", || !fixture.processes().iter().any(ours));
}

/// None where these tests cannot be: podman's containers of ordinary users are not those of root.
fn fixture() -> Option<Fixture> {
    if is_root() {
        return Some(Fixture::new(User::Own).alone());
    }
    not_run("the tests of containers that run already, which need root");
    None
}

#[test]
fn a_container_that_runs_is_a_node_as_long_as_the_lab_is_up() {
    let Some(fixture) = fixture() else { return };
    let podman = Podman::new(&fixture, &PROGRAMS);
    podman.start("netloom-web", "none");
    let before = podman.state("netloom-web");
    fixture.write("joined.yaml", &lab("  - {on: web, as: look, save: look, run: 'id -u; pwd; echo $A $B; grep CapBnd /proc/self/status; cat /proc/sys/net/ipv4/tcp_ecn'}
  - {on: web, run: 'ping -c 2 -i 0.2 a', as: out}
  - {on: a, run: 'ping -c 2 -i 0.2 b', as: across}
  - {on: b, run: 'ping -c 2 -i 0.2 web', as: in}
"));
    let check = podman.netloom(&["check", "joined.yaml"]).expect_code(0);
    assert!(check.stdout.contains("container netloom-web") && check.stderr.is_empty(), "{check:#?}");
    podman.netloom(&["run", "joined.yaml"]).expect_code(0);
    assert_eq!(podman.state("netloom-web"), before);
    let inside = podman.run(&["exec", "netloom-web", "grep", "CapBnd", "/proc/self/status"]);
    let saved = fs::read_to_string(fixture.latest("joined").join("look")).unwrap();
    assert_eq!(saved, format!("0\n/data\nimage lab\n{inside}1\n"));
    let origin = fixture.json("joined", "provenance.json")["images"]["web"].clone();
    assert_eq!(origin["source"], "container netloom-web of podman");
    assert!(origin["id"].as_str().is_some_and(|id| id.len() >= 64), "{origin}");

    podman.netloom(&["up", "joined.yaml"]).expect_code(0);
    let shown = podman.netloom(&["exec", "joined", "web", "--", "sh", "-c", "pwd; ip -o link | grep -c eth"]);
    assert_eq!(shown.expect_code(0).stdout, "/data\n2\n");
    let again = lab("").replace("name: joined", "name: other").replace("[a, web]", "[a, {node: web, interface: x0}]");
    fixture.write("other.yaml", &again.replace("[web, b]", "[{node: web, interface: x1}, b]"));
    let refused = podman.netloom(&["run", "other.yaml"]).expect_code(4);
    assert!(refused.stderr.contains("another lab, or another node of this one, has the container"), "{refused:#?}");
    podman.netloom(&["down"]).expect_code(0);
    assert_eq!(podman.state("netloom-web"), before);
    assert_only_podman_is_left(&fixture);
}

#[test]
fn a_container_is_as_it_was_whichever_process_is_killed() {
    let Some(fixture) = fixture() else { return };
    let podman = Podman::new(&fixture, &PROGRAMS);
    podman.start("netloom-web", "none");
    let before = podman.state("netloom-web");
    fixture.write("joined.yaml", &lab(""));
    for whom in ["guard", "lab", "agent", "keeper"] {
        podman.netloom(&["up", "joined.yaml"]).expect_code(0);
        assert_ne!(podman.state("netloom-web"), before);
        let lab_pid = |pid: &i32| lab_of(*pid).is_some();
        let guard = fixture.processes().into_iter().find(lab_pid).unwrap();
        let others = [lab_of(guard).unwrap(), child_named(guard, "netloom-watcher")];
        let is_keeper = |pid: &i32| !others.contains(pid);
        let keeper = children(guard).into_iter().find(is_keeper).unwrap();
        let pid = match whom {
            "guard" => guard,
            "lab" => lab_of(guard).unwrap(),
            "keeper" => keeper,
            _ => children(keeper)[0],
        };
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
        podman.await_state("netloom-web", &before);
        assert_only_podman_is_left(&fixture);
    }
}

#[test]
fn a_container_that_ends_or_restarts_ends_the_run() {
    let Some(fixture) = fixture() else { return };
    let podman = Podman::new(&fixture, &PROGRAMS);
    fixture.write("joined.yaml", &lab(""));
    for ending in [&["kill", "netloom-web"][..], &["restart", "-t", "0", "netloom-web"]] {
        let _ = podman.output(&["rm", "-f", "-t", "0", "netloom-web"]);
        podman.start("netloom-web", "none");
        podman.netloom(&["up", "joined.yaml"]).expect_code(0);
        podman.run(ending);
        assert_only_podman_is_left(&fixture);
        let report = fixture.json("joined", "report.json");
        let wanted = "the container of node `web` ended or was restarted";
        assert!(report["error"].as_str().is_some_and(|error| error.contains(wanted)), "{report:#}");
        assert_eq!(report["exit_code"], 8);
        let events = fs::read_to_string(fixture.latest("joined").join("events.jsonl")).unwrap();
        assert!(events.contains(r#""event":"node_gone","node":"web""#), "{events}");
    }
    assert!(!podman.state("netloom-web").contains("eth0"));
}

#[test]
fn a_container_that_cannot_be_joined_is_told() {
    let Some(fixture) = fixture() else { return };
    let podman = Podman::new(&fixture, &PROGRAMS);
    podman.start("netloom-web", "none");
    let text = |name: &str, ends: &str| {
        format!("name: told\nnodes: {{web: {{container: {name}}}, a: {{}}}}\nlinks: {{l: {{ends: {ends}}}}}\n")
    };
    let refused = |name: &str, wanted: &str| {
        fixture.write("told.yaml", &text(name, "[web, a]"));
        let run = podman.netloom(&["run", "told.yaml"]).expect_code(4);
        assert!(run.stderr.contains("told.yaml:2: nodes.web.container: ") && run.stderr.contains(wanted), "{run:#?}");
        assert_only_podman_is_left(&fixture);
    };
    refused("nothing", "podman has no container nothing: these run: netloom-web");
    podman.run(&["exec", "netloom-web", "ip", "link", "add", "eth0", "type", "veth", "peer", "far"]);
    refused("netloom-web", "has such an interface already");
    fixture.write("told.yaml", &text("{name: netloom-web, engine: podman}", "[{node: web, interface: lab0}, a]"));
    podman.netloom(&["run", "told.yaml"]).expect_code(0);
    podman.start("netloom-host", "host");
    refused("netloom-host", "this machine's own network");
    podman.run(&["kill", "netloom-host"]);
    refused("netloom-host", "does not run");
    // No engine at all.
    let mut command = fixture.command(&["run", "told.yaml"]);
    let run = Finished::of(&command.env("PATH", Path::new("/nowhere")).output().unwrap()).expect_code(4);
    assert!(run.stderr.contains("podman is not installed"), "{run:#?}");
}

/// In the user namespace that podman has for an ordinary user's containers.
#[test]
fn an_ordinary_user_has_containers_of_its_own_as_nodes() {
    let fixture = Fixture::new(User::all().pop().unwrap()).alone();
    let podman = Podman::new(&fixture, &PROGRAMS);
    podman.start("netloom-web", "none");
    let before = podman.state("netloom-web");
    fixture.write(
        "joined.yaml",
        &lab("  - {on: a, run: 'ping -c 2 -i 0.2 b', as: across}\n  - {on: web, run: ping -c 1 b}\n"),
    );
    let refused = podman.netloom(&["run", "joined.yaml"]).expect_code(4);
    assert!(refused.stderr.contains("run `podman unshare netloom"), "{refused:#?}");
    fixture.wrapped(&["env", &podman.setting(), "podman", "unshare"], &["run", "joined.yaml"]).expect_code(0);
    assert_eq!(podman.state("netloom-web"), before);
    assert_only_podman_is_left(&fixture);
}
