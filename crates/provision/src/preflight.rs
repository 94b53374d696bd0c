//! What can be known before anything is set up: whether the programs and the users of the timeline exist.

use crate::resource::{Resource, if_none};
use crate::{MachineRoot, RunRequest, environment, machine_files};
use netloom_host::facts::Facts;
use netloom_host::lab::Subordinate;
use netloom_host::processors;
use netloom_host::programs::is_executable;
use netloom_host::users::User;
use netloom_judge::{MissingProgram, RunError};
use netloom_lab::{Action, Clock, Daemon, FilePlan, NodeKey, NodePlan, PinPlan, Plan, Program, Stack};
use nix::sys::resource::{Resource as Limit, getrlimit};
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Refuses a plan whose programs are not where its nodes find them, all of them at once.
pub fn programs_exist(RunRequest { plan, lab_file, root, .. }: &RunRequest) -> Result<(), RunError> {
    let missing = missing_programs(plan, lab_file, root.as_ref());
    if missing.is_empty() { Ok(()) } else { Err(RunError::MissingPrograms(missing)) }
}

/// The programs of the timeline that are not on this machine, or not in another root, as far as that is known before the run.
pub fn missing_programs(plan: &Plan, lab_file: &Path, root: Option<&MachineRoot>) -> Vec<MissingProgram> {
    let is_absent = |program: &Program| {
        let path = path_of(plan, program);
        let is_there = |name: &str| machine_files::program(root, name, &path).is_some();
        !is_there(&program.name) && !program.others.iter().any(|other| is_there(other))
    };
    let absent = plan.programs().into_iter().filter(|program| is_here(plan, program) && is_absent(program));
    let missing = |Program { line, name, key, .. }: Program| {
        let package = package(&name);
        MissingProgram {
            file: lab_file.to_owned(),
            line,
            found: found_here(&name),
            program: name,
            key: key.map_or("run", NodeKey::name),
            package,
        }
    };
    // Of the programs that follow from keys of nodes, one of each package says it all.
    let mut seen = BTreeSet::new();
    absent.map(missing).filter(|one| one.key == "run" || one.package.is_none() || seen.insert(one.package)).collect()
}

/// The programs of this machine, or of another root, that nodes run, as the lab file names them, and where they are found.
pub(crate) fn programs_here(plan: &Plan, root: Option<&MachineRoot>) -> impl Iterator<Item = (String, PathBuf)> {
    plan.programs().into_iter().filter(|program| is_here(plan, program)).filter_map(move |program| {
        let path = path_of(plan, &program);
        let mut names = std::iter::once(program.name.as_str()).chain(program.others.iter().copied());
        names.find_map(|name| Some((name.to_owned(), machine_files::program(root, name, &path)?)))
    })
}

/// Whether it is a program of this machine: what a virtual machine has, nobody knows before it runs; what is in an image is
/// looked for there.
fn is_here(plan: &Plan, program: &Program) -> bool {
    let node = &plan.nodes[program.node];
    node.stack != Stack::Vm && node.image.is_none() && node.container.is_none()
}

/// The package of Debian and Ubuntu that has a program which follows from a key of a node, or which many labs run.
fn package(program: &str) -> Option<&'static str> {
    match program {
        "vtysh" => Some("frr"),
        "bird" => Some("bird2"),
        "ovsdb-tool" | "ovs-vsctl" => Some("openvswitch-switch"),
        "nft" => Some("nftables"),
        "dnsmasq" => Some("dnsmasq-base"),
        "udhcpc" => Some("udhcpc"),
        "iptables-restore" | "ip6tables-restore" | "iptables" | "ip6tables" => Some("iptables"),
        "osken-manager" => Some("python3-os-ken"),
        "iperf3" => Some("iperf3"),
        "iperf" => Some("iperf"),
        "ping" => Some("iputils-ping"),
        "tcpdump" => Some("tcpdump"),
        "curl" => Some("curl"),
        "wget" => Some("wget"),
        "ethtool" => Some("ethtool"),
        "nc" => Some("netcat-openbsd"),
        "socat" => Some("socat"),
        "traceroute" => Some("traceroute"),
        "mtr" => Some("mtr-tiny"),
        "dig" => Some("bind9-dnsutils"),
        "wg" => Some("wireguard-tools"),
        "tshark" => Some("tshark"),
        _ => program.starts_with("/usr/lib/frr/").then_some("frr"),
    }
}

/// Finds what an ordinary user's lab has to map so that commands can have the users that they name; none if nothing. Refuses a
/// plan whose users are not on this machine, or cannot be had, all of them at once.
pub fn users(plan: &Plan, lab_file: &Path) -> Result<Option<Subordinate>, RunError> {
    let (needed, problems) = look_up(plan, lab_file);
    if problems.is_empty() { Ok(needed) } else { Err(RunError::Machine(problems.join("\n"))) }
}

/// Returns the problems on this machine with the users that commands name, each with file, line and key.
pub fn user_problems(plan: &Plan, lab_file: &Path) -> Vec<String> {
    look_up(plan, lab_file).1
}

/// Refuses a plan whose nodes are to run on processors that this process does not have, all of them at once.
pub fn processors(plan: &Plan, lab_file: &Path) -> Result<(), RunError> {
    let problems = pin_problems(plan, lab_file);
    if problems.is_empty() { Ok(()) } else { Err(RunError::Machine(problems.join("\n"))) }
}

/// Returns the problems with the processors that nodes are to run on: they are not there, or this process may not use them. Each has file,
/// line and key.
pub fn pin_problems(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let pinned = plan.nodes.iter().filter_map(|node| Some((node, node.pin.as_ref()?)));
    // What the kernel does not tell, it says again when the nodes are made.
    let Ok(allowed) = processors::allowed() else { return Vec::new() };
    let list = |processors: Vec<usize>| PinPlan { line: 0, processors };
    let problem = |(node, pin): (&NodePlan, &PinPlan)| {
        let (there, missing): (Vec<usize>, Vec<usize>) = pin
            .processors
            .iter()
            .partition(|number| Path::new(&format!("/sys/devices/system/cpu/cpu{number}")).exists());
        let forbidden: Vec<usize> = there.into_iter().filter(|number| !allowed.contains(number)).collect();
        let what = match (missing.is_empty(), forbidden.is_empty()) {
            (true, true) => return None,
            (false, _) => format!("this machine has no processor {}", list(missing)),
            _ => format!("this process may not use processor {} (its cpuset or affinity)", list(forbidden)),
        };
        let may = list(allowed.clone());
        Some(format!("{}:{}: nodes.{}.pin: {what}: it may use {may}", lab_file.display(), pin.line, node.name))
    };
    pinned.filter_map(problem).collect()
}

/// The labels of MPLS, which this machine's kernel has or has not.
#[derive(Default)]
pub(crate) struct Labels;

impl Resource for Labels {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        if_none(label_problem(plan, lab_file))
    }
}

/// Refuses a plan with routers that need labels from this machine's kernel if that has none.
pub fn labels(plan: &Plan, lab_file: &Path) -> Result<(), RunError> {
    label_problem(plan, lab_file).map_or(Ok(()), |problem| Err(RunError::Machine(problem)))
}

/// The problem with `ldp` on this machine, with file, line and key; none if there is no problem.
fn label_problem(plan: &Plan, lab_file: &Path) -> Option<String> {
    let needs = |node: &&NodePlan| node.stack == Stack::Namespace && node.daemons.contains(&Daemon::Ldp);
    let node = plan.nodes.iter().find(needs).filter(|_| !Path::new("/proc/sys/net/mpls").exists())?;
    let line = node.files.iter().find(|file| file.target == Path::new("/etc/frr")).map_or(0, |file| file.line);
    Some(format!(
        "{}:{line}: key `daemons`: `ldp` needs MPLS, and this machine's kernel has none for {}: give the node `stack: kernel`, or \
         load the module (modprobe mpls_router)",
        lab_file.display(),
        node.name
    ))
}

/// Refuses a plan whose lab surely needs more open files in one process than that may have.
pub fn open_files(plan: &Plan) -> Result<(), RunError> {
    let hard = getrlimit(Limit::RLIMIT_NOFILE).map_or(u64::MAX, |(_, hard)| hard);
    too_few_files(plan, hard).map_or(Ok(()), |problem| Err(RunError::Machine(problem)))
}

/// Open files of a lab without nodes, as counted in `/proc/PID/fd` of the lab's process: 20 when it is up (channels, sockets, signals, results,
/// the packet engine), and 4 for a client and its program's streams.
const FILES_OF_A_LAB: u64 = 24;
/// Those of a node on this machine's kernel: labs of 2, 10 and 50 such nodes differ by 2 a node, however many interfaces they have.
const FILES_OF_A_NODE: u64 = 2;
/// Those of a kernel of its own in virtual time, where interfaces have none: counted with one and two nodes, and one and two interfaces.
const FILES_OF_A_KERNEL_IN_VIRTUAL_TIME: u64 = 7;
/// Those of a kernel of its own in any other time, and those of each of its interfaces (a port of vhost-user): counted as above.
const FILES_OF_A_KERNEL: u64 = 12;
const FILES_OF_AN_INTERFACE: u64 = 7;

/// Why so few open files do not do, if so.
fn too_few_files(plan: &Plan, allowed: u64) -> Option<String> {
    let of_node = |node: &NodePlan| match (node.stack, plan.clock) {
        (Stack::Namespace, _) => FILES_OF_A_NODE,
        (Stack::Kernel | Stack::Vm, Clock::Virtual) => FILES_OF_A_KERNEL_IN_VIRTUAL_TIME,
        (Stack::Kernel | Stack::Vm, _) => FILES_OF_A_KERNEL + FILES_OF_AN_INTERFACE * node.interfaces.len() as u64,
        (Stack::Engine, _) => 0,
    };
    let files = plan.capture.len() + usize::from(plan.journal.is_some());
    let needed = FILES_OF_A_LAB + files as u64 + plan.nodes.iter().map(of_node).sum::<u64>();
    (needed > allowed).then(|| {
        format!(
            "this lab needs {needed} open files in one process at least, and {allowed} are allowed (`ulimit -Hn`): raise that, as in \
             `echo \"$USER - nofile 65536\" | sudo tee /etc/security/limits.d/netloom.conf`, and log in again"
        )
    })
}

fn look_up(plan: &Plan, lab_file: &Path) -> (Option<Subordinate>, Vec<String>) {
    let (mut needed, mut problems) = (None, Vec::new());
    let is_ordinary = !Facts::gather().privileged;
    for wanted in named_users(plan).into_iter().filter(|wanted| wanted.stack != Stack::Vm) {
        let mut wrong = |what: String| {
            problems.push(format!("{}:{}: key `{}`: {what}", lab_file.display(), wanted.line, wanted.key));
        };
        let user = match User::find(&wanted.name) {
            Ok(Some(user)) => user,
            Ok(None) => {
                wrong(format!(
                    "user `{}` is not on this machine: install the program that brings it, or name another",
                    wanted.name
                ));
                continue;
            }
            // Starting the command will report what cannot be read.
            Err(_) => continue,
        };
        let is_root = (user.uid, user.gid) == (0, 0);
        if !is_ordinary || is_root || wanted.stack == Stack::Kernel {
            continue;
        }
        match Subordinate::find().and_then(|all| all.has(&user).map(|()| all)) {
            Ok(all) => needed = Some(all),
            Err(why) => wrong(format!(
                "user `{}` cannot be had without root: {why}; or run netloom as root, or give the node `stack: kernel`",
                wanted.name
            )),
        }
    }
    (needed, problems)
}

/// A user that the lab file names.
struct Named {
    name: String,
    line: usize,
    key: &'static str,
    stack: Stack,
}

fn named_users(plan: &Plan) -> Vec<Named> {
    let of_command = plan.timeline.iter().filter_map(|event| match &event.action {
        Action::Run(run) if plan.nodes[run.node].image.is_none() && plan.nodes[run.node].container.is_none() => {
            Some(Named { name: run.user.clone()?, line: event.line, key: "user", stack: plan.nodes[run.node].stack })
        }
        _ => None,
    });
    let of_node = |node: &NodePlan| {
        let stack = node.stack;
        let named =
            move |file: &FilePlan| Some(Named { name: file.owner.clone()?, line: file.line, key: "owner", stack });
        node.files.iter().filter_map(named).collect::<Vec<_>>()
    };
    of_command.chain(plan.nodes.iter().filter(|node| node.image.is_none()).flat_map(of_node)).collect()
}

/// Where a program of the timeline is searched.
fn path_of(plan: &Plan, program: &Program) -> OsString {
    let mut entries = plan.timeline.iter().filter(|event| event.line == program.line);
    let own = entries.find_map(|event| match &event.action {
        Action::Run(run) => Some(&run.env[..]),
        _ => None,
    });
    environment::path(plan, program.node, own.unwrap_or_default())
}

/// Where the user would find a program that nodes do not.
fn found_here(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").filter(|_| !program.contains('/'))?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_executable(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_says_how_many_open_files_it_needs() {
        let said = |more: &str, allowed| {
            let text = format!("nodes: [a, b, c]\nlinks: {{l: {{ends: [a, b]}}, m: {{ends: [b, c]}}}}\n{more}");
            too_few_files(&netloom_lab::parse(&text, "t.yaml").unwrap().plan, allowed)
        };
        let real = said("", 16).unwrap();
        assert!(real.contains("needs 30 open files") && real.contains("16 are allowed"), "{real}");
        assert_eq!(said("", 30), None);
        let needs = |more, count: u64| {
            assert!(
                said(more, 1).unwrap().contains(&format!("needs {count} open files")),
                "{more}: {:?}",
                said(more, 1)
            );
        };
        needs("capture: [l, m]\njournal: all\n", 33);
        needs("clock: virtual\n", 45);
        needs("clock: {dilation: 10}\n", 88);
    }
}
