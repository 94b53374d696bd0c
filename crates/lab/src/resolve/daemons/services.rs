//! The programs that routing daemons are: they start before time zero, as other services do.

use super::learning::Speakers;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{Argv, Daemon, NodeKey, Ready, ReadyWhen};
use crate::spec::{ActionSpec, EntrySpec, NodeSpec, RunSpec, Spec};
use netloom_units::Duration;

/// Where Debian, Ubuntu, Fedora's container images and others have FRR's daemons.
const FRR: &str = "/usr/lib/frr";
/// Where BIRD looks.
pub(super) const BIRD_CONFIGURATION: &str = "/etc/bird/bird.conf";
/// A daemon needs a fraction of a second on a quiet machine.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// The programs of all routers with daemons.
pub(in crate::resolve) fn entries(spec: &Spec, errors: &mut Errors) -> Vec<EntrySpec> {
    errors.extend(nothing_to_await(spec));
    let routers = spec.nodes.iter().filter(|node| !node.routing.daemons.is_empty());
    // Which routes these are is known when all paths are.
    let routes =
        spec.converged.as_ref().map(|within| Ready { when: ReadyWhen::Routes(Vec::new()), timeout: within.value });
    routers
        .flat_map(|node| if node.routing.is_bird { bird(node, routes.clone()) } else { frr(node, routes.clone()) })
        .collect()
}

/// What is wrong with waiting for routes that no daemon brings.
fn nothing_to_await(spec: &Spec) -> Option<Diagnostic> {
    let speakers = Speakers::of(spec);
    let place = spec.converged.as_ref().filter(|_| !(0..spec.nodes.len()).any(|node| speakers.is_dynamic(node)))?;
    Some(place.error("no router has daemons that bring routes: give one `daemons`, or leave `ready` out"))
}

/// Zebra, which puts the routes of all others into the kernel, then those, then what gives them their configuration.
fn frr(node: &NodeSpec, ready: Option<Ready>) -> Vec<EntrySpec> {
    let programs: Vec<&str> = node.routing.daemons.iter().map(|daemon| program(*daemon)).collect();
    let zebra = name(node, "zebra");
    let mut entries = vec![service(node, "zebra", daemon_of_frr("zebra"), "/run/frr/zebra.vty")];
    for program in &programs {
        let mut run = service(node, program, daemon_of_frr(program), &format!("/run/frr/{program}.vty"));
        run.after = vec![zebra.clone()];
        entries.push(run);
    }
    let after = programs.iter().map(|program| name(node, program)).collect();
    let load = ["vtysh", "-b"].map(str::to_owned).to_vec();
    entries.push(RunSpec { after, once: true, ready, ..service(node, "frr", load, "") });
    entries.into_iter().map(|run| entry(node, run)).collect()
}

fn bird(node: &NodeSpec, routes: Option<Ready>) -> Vec<EntrySpec> {
    let words = ["bird", "-f", "-c", BIRD_CONFIGURATION, "-s", "/run/bird/bird.ctl"];
    let mut run = service(node, "bird", words.map(str::to_owned).to_vec(), "/run/bird/bird.ctl");
    run.ready = routes.or(run.ready);
    vec![entry(node, run)]
}

/// The program of a daemon of FRR, without the TCP port of its own that it would offer to any user.
fn daemon_of_frr(program: &str) -> Vec<String> {
    let path = format!("{FRR}/{program}");
    [&path, "-u", "root", "-g", "root", "-P", "0", "--log", "stdout"].map(str::to_owned).to_vec()
}

fn program(daemon: Daemon) -> &'static str {
    match daemon {
        Daemon::Ospf => "ospfd",
        Daemon::Ospf6 => "ospf6d",
        Daemon::Rip => "ripd",
        Daemon::Ripng => "ripngd",
        Daemon::Bgp => "bgpd",
        Daemon::Isis => "isisd",
        Daemon::Pim => "pimd",
        Daemon::Ldp => "ldpd",
        Daemon::Bfd => "bfdd",
        Daemon::Static => "staticd",
    }
}

fn service(node: &NodeSpec, what: &str, words: Vec<String>, file: &str) -> RunSpec {
    RunSpec {
        on: node.name.clone(),
        name: Some(name(node, what)),
        command: Argv::Exec(words),
        ready: Some(Ready { when: ReadyWhen::File(file.to_owned()), timeout: STARTS_WITHIN }),
        service: true,
        key: Some(NodeKey::Daemons),
        ..RunSpec::default()
    }
}

/// What a program is called: errors about it are about the key that wants it.
fn name(node: &NodeSpec, what: &str) -> Spanned<String> {
    let Spanned { span, key, .. } = &node.routing.place;
    Spanned { value: format!("{what}-{}", node.name.value), span: *span, key: key.clone() }
}

fn entry(node: &NodeSpec, run: RunSpec) -> EntrySpec {
    EntrySpec { line: node.routing.place.span.line, at: None, action: ActionSpec::Run(Box::new(run)) }
}
