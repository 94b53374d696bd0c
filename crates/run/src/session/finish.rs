//! The end: everything that was measured is put together, judged and written.

use super::carriers::unsent;
use super::context::Context;
use super::doubles;
use super::phases::Stopwatch;
use super::programs::Programs;
use super::stage::{RunState, Stage, Stop, Why};
use super::state::Session;
use super::write_errors::WriteErrors;
use crate::order::Order;
use netloom_commands::Command;
use netloom_figures::Snapshot;
use netloom_guest::backend::SLICE;
use netloom_host::netlink::InterfaceCounters;
use netloom_host::node::{Account, Effect, NetworkChange, NodeError};
use netloom_judge::expectations;
use netloom_judge::measure::{Mark, engine_evidence, pipe_evidence, pipe_rows, slow_receivers};
use netloom_judge::quantity::{counted, span};
use netloom_judge::verdict::{self, Evidence, InterfaceDrops, NodeEvidence, ProcessorShare, judge};
use netloom_judge::{
    Advance, CommandRow, ExitCode, ExpectationRow, FigureRow, JournalRow, Judgement, Report, RouterRow, RunError,
    Spent, StationRow, SwitchRow, TunnelRow,
};
use netloom_lab::{Clock, End, NodeKind, Stack};
use netloom_provision::Event;
use netloom_provision::driver::Driver;
use netloom_provision::guard_link::GuardLink;
use netloom_provision::job::{Job, Mode};
use netloom_provision::machine_files;
use netloom_provision::resources::describe;
use netloom_results::{INTERVAL, SampleSettings, Sampler, WriteError, page, plots};
use netloom_simulate::write_measured;
use netloom_units::Instant;
use std::collections::BTreeMap;

impl Session<'_> {
    /// Writes what there is to be written, and says how it ended; gives the way to the guard back.
    pub(super) fn finish(mut self, stopped: Result<(), RunError>) -> (GuardLink, Event) {
        let event = self.last_event(stopped).unwrap_or_else(|error| failed(&error));
        // Before its process ends: else they would take it for lost.
        if let Driver::Virtual(time) = self.context.links.driver() {
            time.leave_parts();
        }
        let Self { context: Context { guard, job, .. }, programs: Programs { nodes, .. }, guard_is_gone, .. } = self;
        if !guard_is_gone && job.cpu_group.is_none() {
            // The kernel ends all nodes at once when this process exits, which is faster than one after the other. But
            // before a cgroup can be removed, the nodes in it must have ended.
            std::mem::forget(nodes);
        }
        (guard, event)
    }

    fn last_event(&mut self, stopped: Result<(), RunError>) -> Result<Event, RunError> {
        stopped?;
        self.log_times.look(&self.context, &self.programs.commands, true)?;
        let stage = std::mem::replace(&mut self.context.stage, Stage::Starting);
        let Stage::Stopping(Stop { why, played }) = stage else {
            unreachable!("a lab stops before it is finished");
        };
        self.context.guard.step("collecting results");
        let stopwatch = Stopwatch::start(&self.context, played.as_ref().map(|(run_state, _)| run_state));
        let mut write_errors = WriteErrors::default();
        write_errors.keep(machine_files::record(self.context.job))?;
        let captured = self.finish_captures();
        let journal = self.finish_journal();
        let mut report = self.report(&why, played, &mut write_errors)?;
        report.journal = journal.as_ref().ok().cloned().flatten();
        write_errors.keep(captured)?;
        write_errors.keep(journal)?;
        // Everything is measured: nodes and engine end while it is written.
        self.programs.nodes.iter_mut().for_each(|node| node.begin_end());
        self.context.links.begin_end();
        write_errors.keep(self.context.job.folder.write_tables(&report))?;
        // Pictures come last: whatever keeps them from being drawn, the rest is there.
        let Order { job: Job { folder, plan, .. }, plots, page, .. } = self.context.order;
        let drawn = if *plots { plots::draw(folder, plan, SampleSettings::of(plan, INTERVAL).step) } else { Ok(None) };
        report.plots = drawn.as_ref().ok().cloned().flatten();
        write_errors.keep(drawn)?;
        report.page = page.then(|| page::FILE.into());
        write_errors.report(&mut report);
        stopwatch.note(&mut report);
        write_errors.keep(folder.write_report(&report))?;
        if *page && write_errors.keep(page::write(folder.path()))?.is_none() {
            report.page = None;
        }
        if write_errors.report(&mut report) | *page {
            // It is to say how the command ends, and how long the page took. Perhaps there is room for it now.
            stopwatch.note(&mut report);
            let _ = folder.write_report(&report);
        }
        Ok(Event::Finished { report: Box::new(report) })
    }

    /// All packets are on the disk before anything is said of the run.
    fn finish_captures(&mut self) -> Result<(), WriteError> {
        let missing = self.recording.finish_captures(&mut self.context.links)?;
        self.context.notes.extend(missing);
        Ok(())
    }

    /// The same of what is written down of each packet.
    fn finish_journal(&mut self) -> Result<Option<JournalRow>, WriteError> {
        let row = self.recording.finish_journal(&mut self.context.links)?;
        self.context.notes.extend(row.as_ref().and_then(JournalRow::loss));
        self.context.warnings.extend(row.as_ref().and_then(JournalRow::remark));
        Ok(row)
    }

    /// All that was found out. Of a run that never reached time zero that is little.
    fn report(
        &mut self,
        why: &Why,
        played: Option<(RunState, Box<Snapshot>)>,
        write_errors: &mut WriteErrors,
    ) -> Result<Report, RunError> {
        let interrupted = matches!(why, Why::Interrupted);
        let mut report = Report {
            lab: self.context.job.plan.name.clone(),
            results: self.context.job.folder.path().to_owned(),
            error: match why {
                Why::Failed(error) => Some(error.to_string()),
                Why::Over | Why::TakenDown | Why::Interrupted | Why::WallLimit => None,
            },
            interrupted,
            wall_limit_reached: matches!(why, Why::WallLimit),
            commands: self.command_rows(played.as_ref().map(|(run_state, _)| run_state.zero)),
            warnings: self.context.warnings.clone(),
            events: self.context.punctuality.clone(),
            ..Report::default()
        };
        if let Some((mut run_state, last)) = played {
            let samples = run_state.sampler.take().map(Sampler::finish).transpose();
            report.samples = write_errors.keep(samples)?.flatten();
            self.fill(&mut report, &run_state, &last, write_errors)?;
        }
        report.exit_code = match why {
            Why::Failed(error) => error.exit_code().number(),
            Why::Interrupted => ExitCode::Interrupted.number(),
            Why::WallLimit => ExitCode::WallLimit.number(),
            Why::Over | Why::TakenDown => judged(&report, self.context.job.mode).number(),
        };
        Ok(report)
    }

    fn fill(
        &mut self,
        report: &mut Report,
        run_state: &RunState,
        last: &Snapshot,
        write_errors: &mut WriteErrors,
    ) -> Result<(), RunError> {
        let (names, pipes) = (self.context.links.names(), self.context.links.pipes());
        report.duration_ns = last.at.since(run_state.zero).as_nanos();
        report.pipes = pipe_rows(names, pipes, &run_state.first, last);
        let routers = self.context.job.plan.nodes.iter().filter(|node| node.kind == NodeKind::Transit);
        write_errors.keep(write_measured(&self.context.job.folder, &self.context.job.plan, pipes, last))?;
        report.routers =
            routers.zip(&last.routers).map(|(node, counted)| RouterRow::new(node.name.clone(), counted)).collect();
        report.switches = SwitchRow::of_plan(&self.context.job.plan, last.at, &last.switches);
        report.stations = StationRow::of_reports(&self.context.job.plan, &last.pipes);
        report.tunnels = TunnelRow::of_plan(&self.context.job.plan, &last.engine.tunnels, run_state.zero);
        let measured = self.measuring.end(&mut self.context, &mut self.programs, run_state.zero);
        (report.tcp, report.nodes) = write_errors.keep(measured)?.unwrap_or_default();
        write_errors.keep(self.programs.write_disk_journals(&self.context, run_state.zero))?;
        (report.expectations, report.figures) = self.expectations(last, &run_state.first);
        // With what was measured in nodes, more may be met than was known before.
        self.tasks_met_by(last, &run_state.first);
        report.exercise = self.tasks_report();
        let nodes = self.context.job.plan.nodes.iter().map(|node| node.name.as_str());
        report.effort = Some(run_state.spent.effort(self.context.job.plan.clock, nodes));
        report.losses = self.context.links.port_losses(last)?;
        report.advanced = self.advanced();
        report.interventions = self.context.interventions.list().into_iter().map(|one| one.what).collect();
        report.verdict = judge(&self.context.job.plan.bounds.into(), &self.evidence(last, &run_state.spent, report)?);
        let plan = &self.context.job.plan;
        let has_wires = plan.nodes.iter().any(|node| node.external.is_some());
        let has_vms = plan.nodes.iter().any(|node| node.vm.is_some());
        if plan.diversion.is_some() || plan.internet.is_some() || has_wires || has_vms || !report.tunnels.is_empty() {
            // The time of the world outside cannot be slowed, nor can that of virtual machines.
            report.verdict.dilation = None;
        }
        Ok(())
    }

    /// They are of the timeline, which a lab that is up does not run.
    fn expectations(&self, last: &Snapshot, first: &[Mark]) -> (Vec<ExpectationRow>, Vec<FigureRow>) {
        if self.context.job.mode == Mode::Up {
            return Default::default();
        }
        self.with_measurements(last, first, |measured| (expectations::judge(measured), expectations::figures(measured)))
    }

    fn command_rows(&self, zero: Option<Instant>) -> Vec<CommandRow> {
        let (mode, plan) = (self.context.job.mode, &self.context.job.plan);
        let mut started: Vec<&Command> =
            self.programs.commands.iter().filter(|one| one.belongs_to(mode, plan) && one.had_occasion()).collect();
        started.sort_by_key(|command| command.started.map_or(u64::MAX, |(at, _)| at.as_nanos()));
        let zero = zero.unwrap_or(Instant::ZERO);
        started.into_iter().map(|command| command.row_with_last_words(zero, &self.context.job.folder)).collect()
    }

    fn evidence(&mut self, last: &Snapshot, spent: &Spent, report: &Report) -> Result<Evidence, RunError> {
        let end = || format!("the rest of the run, which was interrupted after {}", span(report.duration_ns));
        let cut_short = (report.interrupted || report.wall_limit_reached).then(end);
        Ok(Evidence {
            clock: self.context.job.plan.clock,
            precision: self.context.job.plan.precision,
            examination: self.context.order.examination.clone(),
            pipes: pipe_evidence(self.context.links.names(), self.context.links.pipes(), last),
            engine: engine_evidence(last, spent, &report.losses),
            nodes: self.node_evidence(spent)?,
            events: self.context.punctuality.clone(),
            tunnels: report.tunnels.clone(),
            interventions: self.context.interventions.list(),
            overflows: self.context.overflows_since(),
            notes: self
                .context
                .notes
                .iter()
                .cloned()
                .chain(self.joined_links())
                .chain(cut_short)
                .chain(self.context.order.machine.clone())
                .chain(describe(&self.context.job.plan, &last.engine.tunnels))
                .chain(slow_receivers(self.context.links.names(), &last.engine))
                .chain(self.not_repeatable())
                .collect(),
        })
    }

    /// By how much lab time went on while programs computed, by nodes.
    fn advanced(&self) -> Vec<Advance> {
        let Driver::Virtual(time) = self.context.links.driver() else { return Vec::new() };
        let advance = |(node, slices)| Advance { node, advanced_ns: slices * SLICE.as_nanos() };
        time.slices().into_iter().map(advance).collect()
    }

    /// That the run cannot be repeated for that reason.
    fn not_repeatable(&self) -> Option<String> {
        let advanced = self.advanced();
        let nodes: Vec<String> =
            advanced.iter().map(|row| format!("{} by {}", row.node, span(row.advanced_ns))).collect();
        let why = "lab time went on while programs computed (`on_spin: advance`)";
        (!nodes.is_empty())
            .then(|| format!("whether another run gives the same results: {why}, in {}", nodes.join(", ")))
    }

    /// The links that cannot be judged, since the engine did not see their packets.
    fn joined_links(&self) -> Option<String> {
        const NAMED: usize = 5;
        let joined: Vec<&str> = self.context.links.joined().collect();
        let (count, named) = (joined.len(), joined.iter().take(NAMED).copied().collect::<Vec<_>>().join(", "));
        let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
        let of_all = counted(self.context.links.names().len(), "link");
        let plan = &self.context.job.plan;
        let bridges = plan.nodes.iter().filter(|node| plan.is_bridge(node)).count();
        let at_bridges = match bridges {
            0 => String::new(),
            1 => "; a switch, which is a bridge of the kernel".into(),
            _ => format!("; {bridges} switches, which are bridges of the kernel"),
        };
        (count > 0)
            .then(|| format!("{count} of {of_all}, joined in the kernel and not measured: {named}{more}{at_bridges}"))
    }

    /// What the nodes' interfaces dropped is lost outside all models.
    fn node_evidence(&mut self, spent: &Spent) -> Result<Vec<NodeEvidence>, RunError> {
        let unenforced = self.unenforced_shares();
        let processors = self.judged_processors(spent);
        let (standstills, unheard) = self.heartbeats.standstills(&self.context.job.plan);
        self.context.notes.extend(unheard);
        let carriers = &self.carriers;
        let (plan, pipes) = (&self.context.job.plan, self.context.links.pipes());
        // A node whose link is cut cannot have kept what it has from a server: that is described.
        let is_cut = |node: usize, interface: usize| {
            let own = &plan.nodes[node].interfaces[interface];
            let mut links = std::iter::once(own.end).chain(own.lender).map(End::link);
            let is_down = |link| {
                pipes.iter().any(|pipe| pipe.place.is_of(link, None) && pipe.place.pipe.is_none() && !pipe.is_up())
            };
            links.any(is_down)
        };
        let Programs { nodes, gone, .. } = &mut self.programs;
        let mut alive: Vec<_> = nodes.iter_mut().enumerate().filter(|(index, _)| !gone.contains(index)).collect();
        let died = |error: NodeError| RunError::Died(error.to_string());
        // All of them are asked before the first is waited for: they look side by side.
        alive.iter_mut().try_for_each(|(_, node)| node.begin_account()).map_err(died)?;
        let each = alive.into_iter().map(|(index, node)| {
            let Account { counters, changes } = node.finish_account().map_err(died)?;
            let described = |name: &str| plan.nodes[index].interfaces.iter().any(|own| own.name == name);
            let (dropped, dropped_elsewhere) =
                drops(&counters, described, |name| carriers.excused(index, name, &counters));
            let is_lost = |change: &NetworkChange| matches!(change.effect, Effect::Lease(at) if !is_cut(index, at));
            let (lost, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_lost);
            let (short, others): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|change| change.effect == Effect::Stack);
            let (discarded, others): (Vec<_>, Vec<_>) =
                others.into_iter().partition(|change| change.effect == Effect::Discards);
            let change = |NetworkChange { effect, what }| verdict::NetworkChange {
                alters_link: effect == Effect::Link,
                what: doubles::told(plan, index, what),
            };
            Ok(NodeEvidence {
                name: node.name().to_owned(),
                changes: others.into_iter().map(change).collect(),
                lost_leases: lost.into_iter().map(|lease| lease.what).collect(),
                shortages: short.into_iter().map(|shortage| shortage.what).collect(),
                discards: discarded.into_iter().map(|discard| discard.what).collect(),
                has_own_neighbors: plan.nodes[index].stack != Stack::Namespace,
                dropped,
                dropped_elsewhere,
                unenforced_share: unenforced.get(&index).cloned(),
                processor: processors[index],
                throttled: spent.shares.get(index).copied().flatten(),
                standstill: standstills[index],
            })
        });
        each.collect()
    }

    /// What each node had of its processor, where that can spoil a run: in virtual time nothing waits for a processor, and
    /// a node with `cpus` has the processor that is described.
    fn judged_processors(&self, spent: &Spent) -> Vec<Option<ProcessorShare>> {
        let plan = &self.context.job.plan;
        let is_judged = |place: usize| plan.clock != Clock::Virtual && plan.nodes[place].cpus.is_none();
        let share = |place: usize| spent.nodes.get(place).copied().flatten().filter(|_| is_judged(place));
        (0..plan.nodes.len()).map(share).collect()
    }

    /// The nodes whose CPU shares could not be enforced, and why.
    fn unenforced_shares(&self) -> BTreeMap<usize, String> {
        let Some(Err(reason)) = &self.context.job.cpu_group else { return BTreeMap::new() };
        let nodes = self.context.job.plan.nodes.iter().enumerate().filter(|(_, node)| node.cpus.is_some());
        nodes.map(|(index, _)| (index, reason.to_string())).collect()
    }
}

/// What the interfaces of a node dropped: those of described links, and others, which are no matter of the links. `excused`: what one
/// could not send for a reason that is described.
///
/// What an interface received and dropped is mostly of protocols that no program uses, so of that only what was lost in its driver counts.
fn drops(
    counters: &[(String, InterfaceCounters)],
    is_described: impl Fn(&str) -> bool,
    excused: impl Fn(&str) -> u64,
) -> (Vec<InterfaceDrops>, Vec<InterfaceDrops>) {
    let of_interface = |(name, counted): &(String, InterfaceCounters)| InterfaceDrops {
        interface: name.clone(),
        sending: unsent(counted).saturating_sub(excused(name)),
        receiving: counted.rx_lost,
    };
    let all = counters.iter().map(of_interface).filter(|drops| !drops.is_none());
    all.partition(|drops| is_described(&drops.interface))
}

fn failed(error: &RunError) -> Event {
    Event::Failed { code: error.exit_code().number(), message: error.to_string() }
}

/// Whether the run's `duration` ended programs, or kept them from being started. If not, the run is what it was to be, with packets or
/// without.
fn was_cut_off(report: &Report) -> bool {
    report.commands.iter().any(|command| !command.service && (command.stopped || command.start_ns.is_none()))
}

/// The exit code of a run that came to its end. That the network was not as described comes first: over another network
/// than the described one, neither success nor failure of a program says anything.
fn judged(report: &Report, mode: Mode) -> ExitCode {
    let missed = |expectation: &ExpectationRow| !expectation.met;
    if report.verdict.judgement == Judgement::NotAsDescribed {
        ExitCode::NotAsDescribed
    } else if report.expectations.iter().any(missed) || report.commands.iter().any(|command| command.failed) {
        ExitCode::Unmet
    } else if report.verdict.judgement == Judgement::NotJudged && mode == Mode::Run && was_cut_off(report) {
        ExitCode::NotJudged
    } else {
        ExitCode::Success
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_interfaces_of_links_lose_packets_of_links() {
        let counted = |name: &str, tx_dropped, rx_lost| {
            (name.to_owned(), InterfaceCounters { tx_dropped, rx_lost, rx_dropped: 9, ..InterfaceCounters::default() })
        };
        // A tunnel without a far end, an interface without a carrier, one whose frames were redirected in vain, and one at rest.
        let all = [counted("vx10", 4, 0), counted("eth0", 3, 0), counted("eth1", 7, 5), counted("eth2", 0, 0)];
        let excused = |name: &str| if name == "eth0" { 3 } else { 0 };
        let (own, others) = drops(&all, |name| name.starts_with("eth"), excused);
        let told =
            |interface: &str, sending, receiving| InterfaceDrops { interface: interface.into(), sending, receiving };
        assert_eq!((own, others), (vec![told("eth1", 7, 5)], vec![told("vx10", 4, 0)]));
    }
}
