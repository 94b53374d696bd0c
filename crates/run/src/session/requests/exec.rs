//! Programs that clients start in nodes.

use super::refusals::{Refusal, find_node};
use crate::session::context::Context;
use crate::session::programs::{Launch, Programs, Purpose};
use netloom_control::{ClientId, Exec, SignalProgram};
use netloom_judge::ExitCode;
use netloom_lab::Stack;
use netloom_provision::environment;
use netloom_provision::images::without_personal;
use netloom_provision::kernels::folder_in;
use netloom_provision::vms;
use std::ffi::OsString;
use std::os::fd::OwnedFd;

pub(super) fn execute(
    id: ClientId,
    exec: Exec,
    fds: Vec<OwnedFd>,
    context: &mut Context<'_>,
    programs: &mut Programs,
) -> Result<(), Refusal> {
    let Exec { node: name, mut argv, mut env, mut cwd, terminal, user } = exec;
    let node = find_node(&context.job.plan, &name)?;
    context.job.images.adapt(node, &mut argv, &mut env, &mut cwd);
    if let Some(folder) = context.job.containers.folder(node) {
        cwd = folder.to_string_lossy().into_owned();
        if without_personal(&mut env) {
            adapt_shell(programs, node, &mut argv)?;
        }
    }
    if argv.is_empty() {
        return Err((ExitCode::Usage, "exec needs a program".into()));
    }
    if let Some(why) = programs.why_away(&context.job.plan, node) {
        return Err((ExitCode::Usage, why));
    }
    if let Some(why) = vms::without_commands(&context.job.plan.nodes[node]) {
        return Err((ExitCode::Usage, why));
    }
    let stdio: [OwnedFd; 3] =
        fds.try_into().map_err(|_| (ExitCode::Usage, "exec needs three file descriptors".to_owned()))?;
    if programs.processes.key_of(Purpose::Client(id)).is_some() {
        return Err((ExitCode::Usage, "this connection has started a program already".into()));
    }
    // What the client's folder is called there means nothing, or nothing certain.
    let is_elsewhere = context.job.plan.nodes[node].stack == Stack::Vm || context.job.root.is_some();
    let cwd = if is_elsewhere { folder_in(context.job, node).to_owned() } else { cwd.into() };
    let env = environment::of_program(&context.job.plan, node, user.as_deref(), &env, &cwd);
    let program = argv[0].clone();
    let argv = argv.into_iter().map(OsString::from).collect();
    let key = programs
        .launch(context, Launch { node, argv, env, cwd, stdio, terminal, user })
        .map_err(|error| (ExitCode::Machine, error.to_string()))?;
    context.intervene(false, &format!("program {program} started in {name}"));
    programs.processes.add(key, Purpose::Client(id), context.links.now(), None, context.job.plan.stop);
    Ok(())
}

/// A shell of the container in the place of one that it does not have.
fn adapt_shell(programs: &mut Programs, node: usize, argv: &mut Vec<String>) -> Result<(), Refusal> {
    let wanted = argv.first().cloned().unwrap_or_default();
    for shell in [wanted.as_str(), "/bin/bash"] {
        let is_there = programs.nodes[node].has_file(shell.into());
        if is_there.map_err(|error| (ExitCode::Died, error.to_string()))? {
            if shell != wanted {
                *argv = vec![shell.to_owned()];
            }
            return Ok(());
        }
    }
    *argv = vec!["/bin/sh".to_owned()];
    Ok(())
}

pub(super) fn signal(id: ClientId, wanted: &SignalProgram, programs: &mut Programs) -> Result<(), Refusal> {
    let nothing_runs = || (ExitCode::Usage, "no program of this connection runs".to_owned());
    let key = programs.processes.key_of(Purpose::Client(id)).ok_or_else(nothing_runs)?;
    programs.nodes[key.node].signal(key.process, wanted.signal).map_err(|error| (ExitCode::Usage, error.to_string()))
}
