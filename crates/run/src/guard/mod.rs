//! The guard: the process that the user started. It forks the lab, passes on what the lab tells, and cleans up what
//! the lab could not. The lab does the same for it: whichever of the two is killed, the other removes everything.
//!
//! ```text
//! netloom, the guard  -- forks -->  lab process  -- forks -->  node process, one per node  -- starts -->  programs
//! the command itself for            PID 1 of the lab's         PID 1 of the node's
//! `run`, a process in the           PID namespace; owns its    PID namespace; configures
//! background for `up`               network namespace, runs    the node, starts and
//!                                   timeline and engine        reaps its programs
//! ```
//!
//! The lab process gets a user namespace of its own when the user is not root. Guard and lab hold the two ends of a
//! socket pair, so each sees the other die. Neither waits for the other: the lab leaves out progress that the guard
//! does not take, and the guard shows it in a thread of its own. When the guard dies, the lab tears down and exits.
//! When the lab dies, the kernel kills everything in its PID namespace, and with the last process the namespaces and
//! interfaces go; the guard then removes cgroups and the runtime folder. A lock file that both hold for life tells a
//! later command which leftovers are stale. A third process, forked before the others (`netloom_host::watcher`), acts
//! as that later command if both are killed at once.

mod daemon;
mod relay;

use crate::lab::lab_main;
use crate::order::Order;
use netloom_commands::planned_commands;
use netloom_host::KernelError;
use netloom_host::cgroup::{Hierarchy, LabGroup, Unavailable};
use netloom_host::lab::{LabOptions, LabSide, Subordinate, spawn_lab};
use netloom_host::neighbors::{Overflows, Room};
use netloom_host::runtime::{LabState, RuntimeDir, RuntimeError, sweep_stale};
use netloom_host::signals::{Signals, watch_process};
use netloom_host::watcher::Watcher;
use netloom_judge::{ExitCode, Report, RunError};
use netloom_lab::{Plan, Stack};
use netloom_provision::job::{Job, Mode};
use netloom_provision::kernels::NodeKernels;
use netloom_provision::parts::image_facts;
use netloom_provision::resource::{Ground, Opening, Releasing};
use netloom_provision::resources::Resources;
use netloom_provision::results_folder::{absolute, results_folder};
use netloom_provision::{
    Event, RunRequest, bare, capture_filters, machine_files, neighbors, preflight, refusal, socket_buffers, way_out,
};
use netloom_results::{Folder, graph, page};
use relay::{Relay, Watched};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Runs a lab to its judged end; one that stays up, until it is stopped. The calling process must have one thread only. A run that
/// fails when its results folder has been made has a report, too: see [`Report::failure`].
///
/// # Errors
/// When the lab is refused before that; [`RunError::exit_code`] says why.
pub fn run(request: &RunRequest, sink: &mut dyn FnMut(&Event)) -> Result<Report, RunError> {
    guard(request, if request.stays { Mode::Up } else { Mode::Run }, Watched::default(), sink)
}

/// Brings a lab up; a process of its own guards it until it is stopped. The calling process must have one thread only. What
/// became of the lab is in its results then.
///
/// # Errors
/// When the lab cannot be set up, or the process with which it is to end has ended; [`RunError::exit_code`] says why.
pub fn up(request: &RunRequest, sink: &mut dyn FnMut(&Event)) -> Result<(), RunError> {
    let parent = request.parent.map(watch_process).transpose().map_err(RunError::Machine)?;
    daemon::detach(sink, |command, told| {
        let watched = Watched { command: Some(command), parent };
        came_up(&guard(request, Mode::Up, watched, told)?)
    })
}

/// The error for the command that waits for a lab, if the lab has ended before it was ready.
fn came_up(report: &Report) -> Result<(), RunError> {
    match report.failure() {
        Some((code, message)) => Err(RunError::Reported { code, message }),
        None if report.interrupted => Err(RunError::Reported {
            code: ExitCode::Interrupted,
            message: "the lab was asked to end before it was ready".into(),
        }),
        None => Ok(()),
    }
}

/// Everything that can be refused is refused before anything is made; what is made is removed in reverse order.
fn guard(request: &RunRequest, mode: Mode, watched: Watched, sink: &mut dyn FnMut(&Event)) -> Result<Report, RunError> {
    let mut resources = Resources::default();
    let plan = resources.find(request, sink)?;
    let request = &RunRequest { plan, ..request.clone() };
    machine_files::check(&request.plan, request.root.as_ref())?;
    preflight::programs_exist(request)?;
    let users = preflight::users(&request.plan, &request.lab_file)?.or_else(|| resources.images.users.clone());
    preflight::processors(&request.plan, &request.lab_file)?;
    preflight::labels(&request.plan, &request.lab_file)?;
    preflight::open_files(&request.plan)?;
    sweep_stale().map_err(cannot_acquire)?;
    let watcher = Watcher::fork(Some(request.own_name())).map_err(refused)?;
    let outcome = watched_over(request, resources, (mode, users), watched, sink);
    watcher.dismiss();
    outcome
}

/// What the guard does while a watcher waits for its death.
fn watched_over(
    request: &RunRequest,
    mut resources: Resources,
    (mode, users): (Mode, Option<Subordinate>),
    watched: Watched,
    sink: &mut dyn FnMut(&Event),
) -> Result<Report, RunError> {
    let ground = Ground { plan: &request.plan, lab_file: &request.lab_file, kernel: None, folder_of_labs: None };
    resources.open(Opening::First, &ground)?;
    let room = neighbors::make_room(&request.plan)?;
    let mut runtime = match RuntimeDir::acquire(request.own_name()) {
        Ok(runtime) => Some(runtime),
        Err(error) => {
            // That the lab is up already is worth more than that the limits could not be put back.
            let _ = room.map_or(Ok(()), Room::release);
            return Err(cannot_acquire(error));
        }
    };
    let mut outcome = guarded(request, &mut resources, (mode, users), watched, sink, &mut runtime);
    let closed = resources.release(Releasing::Last);
    let put_back = room.map_or(Ok(()), Room::release).map_err(|error| RunError::Died(error.to_string()));
    let closed = closed.and(put_back);
    tell(&mut outcome, &closed);
    // Who waits for the end of the lab reads the report as soon as this folder is gone.
    let removed = runtime.map_or(Ok(()), RuntimeDir::remove).map_err(|error| RunError::Died(error.to_string()));
    tell(&mut outcome, &closed.and(removed));
    outcome
}

/// Has the report say what could not be given back, if there is a report.
fn tell(outcome: &mut Result<Report, RunError>, done: &Result<(), RunError>) {
    if let (Ok(report), Err(error)) = (outcome, done) {
        fail(report, error);
        // What the command ends with is reported in any case.
        let _ = Folder::existing(report.results.clone()).and_then(|folder| folder.write_report(report));
    }
}

/// The file with the report, in the results folder.
const REPORT: &str = "report.json";

/// Has a report say why the command fails after all.
fn fail(report: &mut Report, error: &RunError) {
    let code = error.exit_code();
    report.error = Some(error.to_string());
    report.interrupted = code == ExitCode::Interrupted;
    report.exit_code = code.number();
}

/// What the guard does while it holds the lab's runtime folder.
fn guarded(
    request: &RunRequest,
    resources: &mut Resources,
    (mode, users): (Mode, Option<Subordinate>),
    watched: Watched,
    sink: &mut dyn FnMut(&Event),
    runtime: &mut Option<RuntimeDir>,
) -> Result<Report, RunError> {
    let held = runtime.as_ref().expect("the guard holds it");
    let order = match open(request, resources, mode, held) {
        Ok(order) => order,
        Err(error) => {
            // Why the lab is refused is worth more than that something could not be put back.
            let _ = resources.release(Releasing::Ended);
            return Err(error);
        }
    };
    let outcome = live(request, &order, users, resources, watched, sink, runtime);
    let given_back = resources.release(Releasing::Ended);
    let outcome = outcome.and_then(|report| given_back.map(|()| report));
    Ok(outcome.unwrap_or_else(|error| report_of_failure(&order, &error)))
}

/// Opens what belongs to the machine, and makes the files that have to be there before the lab is.
fn open(request: &RunRequest, resources: &mut Resources, mode: Mode, held: &RuntimeDir) -> Result<Order, RunError> {
    let (kernel, folder_of_labs) = (request.kernel.as_deref(), Some(held.folder_of_labs()));
    let ground = Ground { plan: &request.plan, lab_file: &request.lab_file, kernel, folder_of_labs };
    resources.open(Opening::Outside, &ground)?;
    resources.open(Opening::Stacks, &ground)?;
    let order = prepare(request, resources, mode, held)?;
    resources.open(Opening::Last, &Ground { lab_file: &order.job.lab_file, ..ground })?;
    if request.part.is_some() {
        let facts = image_facts(&request.plan, &resources.images)?;
        resources.parts.meet(request.part.as_deref(), facts.into_iter()).map_err(RunError::Machine)?;
    }
    Ok(order)
}

/// What is known of a run whose lab could not say it any more: with what the lab has kept, if it has.
fn report_of_failure(order: &Order, error: &RunError) -> Report {
    let job = &order.job;
    let known = fs::read(job.folder.path().join(REPORT)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let fresh = || Report {
        lab: job.plan.name.clone(),
        results: job.folder.path().to_owned(),
        warnings: order.warnings.clone(),
        page: order.page.then(|| page::FILE.into()),
        ..Report::default()
    };
    let mut report = known.unwrap_or_else(fresh);
    fail(&mut report, error);
    // The failure is reported in any case.
    let _ = job.folder.write_report(&report);
    if order.page {
        let _ = page::write(job.folder.path());
    }
    report
}

/// The lab, from its fork to its exit.
fn live(
    request: &RunRequest,
    order: &Order,
    users: Option<Subordinate>,
    resources: &mut Resources,
    watched: Watched,
    sink: &mut dyn FnMut(&Event),
    runtime: &mut Option<RuntimeDir>,
) -> Result<Report, RunError> {
    let job = &order.job;
    let held = runtime.as_ref().expect("the guard holds it");
    let mut state = first_state(request, order);
    held.write_state(&state).map_err(refused)?;
    let signals = Signals::hold(&[]).map_err(|error| RunError::Machine(format!("holding signals back: {error}")))?;
    let options = LabOptions {
        name: job.own_name().to_owned(),
        hosts_file: Some(job.hosts_file.clone()),
        resolver_file: resolver(&job.plan, held)?,
        memory: memory(job)?,
        users,
        namespaces: bare::namespaces(&job.plan),
    };
    // The lab has a copy of everything here, the runtime folder's lock included, and removes it if this process dies.
    let body = |side: LabSide| lab_main(side, order, resources, runtime.take());
    let spawned = spawn_lab(&options, body);
    let (mut process, channel) = spawned.map_err(|error| refusal::of_lab(&error, &job.plan))?;
    // The lab has them, and they are to end with it.
    resources.let_go();
    resources.way_out.lead_from(process.pid())?;
    state.lab_pid = Some(process.pid().as_raw());
    if let Some(folder) = runtime {
        folder.write_state(&state).map_err(refused)?;
    }
    // While the lab is made: that of a thousand routers has tens of megabytes.
    let written = job.folder.write_json("plan.json", &job.plan.description());
    let drawn = || if order.plots || order.page { graph::write_picture(&job.folder, &job.plan) } else { Ok(()) };
    if let Err(error) = written.and_then(|()| drawn()) {
        // The lab ends when this channel is closed.
        drop(channel);
        let _ = process.wait();
        return Err(error.into());
    }
    sink(&Event::Results { folder: job.folder.path().to_owned() });
    let folder = job.control_socket.parent().unwrap_or(Path::new("/"));
    Relay { process, channel, signals, watched, sink, folder }.until_exit()
}

/// What others may know of the lab. Its cgroups are noted down before they are made.
fn first_state(request: &RunRequest, order: &Order) -> LabState {
    let job = &order.job;
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let group = job.cpu_group.as_ref().and_then(|group| group.as_ref().ok());
    LabState {
        lab_pid: None,
        guard_pid: order.guard_pid,
        started_unix_s: since_epoch.as_secs(),
        lab_file: absolute(&request.lab_file),
        cgroups: group.map(|group| group.path().to_owned()).into_iter().collect(),
        results: Some(job.folder.path().to_owned()),
        stays_up: job.mode == Mode::Up,
        diverts: order.firewall.is_some(),
        is_part: order.gate.is_some(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn refused(error: KernelError) -> RunError {
    RunError::Machine(error.to_string())
}

fn cannot_acquire(error: RuntimeError) -> RunError {
    match error {
        RuntimeError::AlreadyUp { .. } => RunError::Lab(error.to_string()),
        other => RunError::Machine(other.to_string()),
    }
}

/// Makes a file that programs of all users in the nodes read, whatever the umask.
fn write_for_all(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, Permissions::from_mode(0o644))
}

/// Makes the files that have to be there before the lab is.
fn prepare(request: &RunRequest, resources: &Resources, mode: Mode, runtime: &RuntimeDir) -> Result<Order, RunError> {
    let (images, containers) = (resources.images.clone(), resources.containers.found.clone());
    let NodeKernels { kernel, counter, take_samples, have_checkpoint, .. } = &resources.kernels;
    let qemu = &resources.vms.qemu;
    let filters = capture_filters::compile(&request.plan, &request.lab_file)?;
    let mut origins = images.origins(&request.plan);
    origins.extend(containers.origins(&request.plan));
    let folder = results_folder(request, mode.name(), request.plan.clock, kernel.clone(), (qemu.as_ref(), origins))?;
    folder.write_json("commands.json", &planned_commands(&request.plan, mode))?;
    let hosts_file = runtime.hosts();
    write_for_all(&hosts_file, &request.plan.hosts(&[])).map_err(RunError::results(&hosts_file))?;
    let cwd =
        std::env::current_dir().map_err(|error| RunError::Machine(format!("finding the current folder: {error}")))?;
    let job = Job {
        begun: request.begun,
        mode,
        plan: Rc::clone(&request.plan),
        lab_file: absolute(&request.lab_file),
        folder,
        filters,
        hosts_file,
        control_socket: runtime.control_socket(),
        memory: runtime.path().join("memory"),
        keep: keep(request, &cwd),
        cwd,
        images,
        containers,
        kernel: kernel.clone(),
        qemu: qemu.clone(),
        counter: *counter,
        kernel_samples: *take_samples,
        kernel_checkpoint: *have_checkpoint,
        cpu_group: cpu_group(&request.plan, request.own_name()),
        part: request.part.clone(),
        wall_end: request.wall_limit.map(|limit| Instant::now() + limit),
        read_files: machine_files::begin(&request.plan)?,
        root: request.root.clone(),
    };
    Ok(Order {
        job,
        warnings: request.warnings.clone(),
        plots: request.plots,
        page: request.page,
        examination: netloom_doctor::of_this_machine(),
        firewall: resources.diversions.firewall(),
        machine: socket_buffers::note(&request.plan),
        overflows: Rc::new(Overflows::watch()),
        stop_at: request.stop_at,
        gate: request.gate.as_deref().map(absolute),
        guard_pid: std::process::id().cast_signed(),
    })
}

/// What nodes read of name servers; none if they ask nobody.
fn resolver(plan: &Plan, runtime: &RuntimeDir) -> Result<Option<PathBuf>, RunError> {
    let Some(internet) = &plan.internet else { return Ok(None) };
    let path = runtime.resolver();
    write_for_all(&path, &way_out::resolver(internet)).map_err(RunError::results(&path))?;
    Ok(Some(path))
}

/// Where nodes find memory for files of their own, if one needs it.
fn memory(job: &Job) -> Result<Option<PathBuf>, RunError> {
    if !job.plan.nodes.iter().any(|node| node.stack == Stack::Namespace && node.overlay) {
        return Ok(None);
    }
    fs::create_dir(&job.memory).map_err(RunError::results(&job.memory))?;
    Ok(Some(job.memory.clone()))
}

/// Where what nodes keep is, beside the results of the lab's runs.
fn keep(request: &RunRequest, cwd: &Path) -> PathBuf {
    cwd.join(&request.results).join(request.own_name()).join("keep")
}

/// Looks for a place for CPU shares if a node has one.
fn cpu_group(plan: &Plan, name: &str) -> Option<Result<LabGroup, Unavailable>> {
    plan.nodes.iter().any(|node| node.cpus.is_some()).then(|| {
        let hierarchy = Hierarchy::detect()?;
        Ok(hierarchy.plan(name, std::process::id()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_users_of_a_node_may_read_its_hosts_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        // As under umask 077, which would be that of all tests.
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        write_for_all(&path, "127.0.0.1 localhost\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_to_string(&path).unwrap(), "127.0.0.1 localhost\n");
    }
}
