//! The links of a running lab: what is in force on them, and the driver that makes it so.

use crate::drive_error::DriveError;
use crate::driver::Driver;
use crate::port_name::port_of;
use netloom_dataplane::{Act, ExecutedEvent, IfLate, Sampled, ScheduledEvent};
use netloom_fabric::{PipeId, Tap, TapId};
use netloom_figures::Snapshot;
use netloom_host::KernelError;
use netloom_host::bridges::Bridges;
use netloom_host::netlink::{InterfaceCounters, Link, Netlink};
use netloom_judge::losses::{PortCount, PortCounters, bridge_losses, port_losses, worst_first};
use netloom_judge::{LinkName, PipePlace, PipeState, PortLoss};
use netloom_lab::Direction;
use netloom_lab::fabric::pipe_id;
use netloom_link::{ConfigError, Firing, PartitionSet, PipeChange, PipeConfig, PipeCounters, SampledPackets};
use netloom_units::{Bytes, Duration, Instant};
use std::collections::BTreeMap;

/// The links of a running lab, with what is in force on them.
pub struct Links {
    driver: Driver,
    names: Vec<LinkName>,
    pipes: Vec<PipeState>,
    /// What the kernel had counted of the ports before the driver listened.
    before: PortCounters,
    /// The switches that are bridges of the kernel: they last as long as this.
    bridges: Option<Bridges>,
    /// Events that the driver has executed, until the session asks for them.
    executed: BTreeMap<u64, ExecutedEvent>,
}

impl Links {
    /// Takes over a driver with these pipes, which listens since the kernel had counted `before`.
    pub(crate) fn new(
        driver: Driver,
        names: Vec<LinkName>,
        pipes: Vec<(PipePlace, PipeConfig)>,
        before: PortCounters,
    ) -> Self {
        let state = |(place, config)| PipeState { place, config, up: true, stopped_nodes: 0, delay_changed: false };
        let pipes = pipes.into_iter().map(state).collect();
        Self { driver, names, pipes, before, bridges: None, executed: BTreeMap::new() }
    }

    /// The same with the bridges of the kernel that some links lead to.
    pub(crate) fn with(self, bridges: Option<Bridges>) -> Self {
        Self { bridges, ..self }
    }

    /// Lab time.
    pub fn now(&self) -> Instant {
        self.driver.now()
    }

    /// Returns what moves the packets.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The same, to change it.
    pub fn driver_mut(&mut self) -> &mut Driver {
        &mut self.driver
    }

    /// The name of every pipe's link, and where the pipe belongs.
    pub fn places(&self) -> Vec<(String, PipePlace)> {
        let place = |state: &PipeState| (self.names[state.place.link].name.clone(), state.place.clone());
        self.pipes.iter().map(place).collect()
    }

    /// Returns the names of the links and of the nodes at their ends.
    pub fn names(&self) -> &[LinkName] {
        &self.names
    }

    /// Returns the pipes with what is in force on them, by their numbers.
    pub fn pipes(&self) -> &[PipeState] {
        &self.pipes
    }

    /// The number of the link with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|link| link.name == name)
    }

    /// Whether a link is a shared medium.
    pub fn is_shared(&self, link: usize) -> bool {
        self.pipes.iter().any(|state| state.place.is_of(link, Some(Direction::Shared)))
    }

    /// The names of the links that are joined in the kernel.
    pub fn joined(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|link| link.joined).map(|link| link.name.as_str())
    }

    /// The names of the further pipes of a link, or of one direction of it.
    pub fn further_pipes(&self, link: usize, direction: Option<Direction>) -> Vec<&str> {
        let own = self.pipes.iter().filter(|state| state.place.is_of(link, direction));
        own.filter_map(|state| state.place.pipe.as_deref()).collect()
    }

    /// Whether the pipes that [`Links::change`] would change make sense afterwards. `mtu`: the link's largest packet.
    pub fn check(
        &self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        change: &PipeChange,
        mtu: Bytes,
    ) -> Result<(), ConfigError> {
        let meant = self.numbers(|place| place.is_of(link, direction) && place.pipe.as_deref() == further);
        meant.into_iter().try_for_each(|pipe| change.applied_to(&self.pipes[pipe].config).check(mtu))
    }

    /// Changes one direction of a link, or both: its own pipe, or the further one of this name.
    pub fn change(
        &mut self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        change: &PipeChange,
    ) -> Result<(), DriveError> {
        for pipe in self.changed(link, direction, further) {
            self.driver.change(pipe_id(pipe), change.clone())?;
        }
        self.note_change(link, direction, further, change);
        Ok(())
    }

    /// Returns what [`Links::change`] would do to which pipes.
    pub fn changes(
        &self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        change: &PipeChange,
    ) -> Vec<(PipeId, Act)> {
        let pipes = self.changed(link, direction, further).into_iter();
        pipes.map(|pipe| (pipe_id(pipe), Act::Change(Box::new(change.clone())))).collect()
    }

    /// Returns what puts these partitions in force, and no others, in all pipes of these links.
    pub fn partitions(&self, links: &[usize], in_force: &PartitionSet) -> Vec<(PipeId, Act)> {
        let change = PipeChange { partition_set: Some(in_force.clone()), ..PipeChange::default() };
        let pipes = self.numbers(|place| links.binary_search(&place.link).is_ok()).into_iter();
        pipes.map(|pipe| (pipe_id(pipe), Act::Change(Box::new(change.clone())))).collect()
    }

    /// Puts these partitions of clients in force now, and no others, in all pipes of these links.
    pub fn part(&mut self, links: &[usize], in_force: &PartitionSet) -> Result<(), DriveError> {
        let change = PipeChange { client_partitions: Some(in_force.clone()), ..PipeChange::default() };
        for pipe in self.numbers(|place| links.binary_search(&place.link).is_ok()) {
            self.driver.change(pipe_id(pipe), change.clone())?;
        }
        Ok(())
    }

    /// Takes note that what [`Links::change`] would do is done.
    pub fn note_change(
        &mut self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        change: &PipeChange,
    ) {
        for pipe in self.changed(link, direction, further) {
            let state = &mut self.pipes[pipe];
            state.delay_changed |= change.delay.as_ref().is_some_and(|delay| *delay != state.config.delay);
            state.delay_changed |= change.reorder.is_some_and(|reorder| reorder != state.config.reorder);
            // A schedule that ends leaves the delay that it had set.
            state.delay_changed |= change.schedule.is_some() && state.config.schedule.changes_delay();
            state.config = change.applied_to(&state.config);
        }
    }

    fn changed(&self, link: usize, direction: Option<Direction>, further: Option<&str>) -> Vec<usize> {
        self.numbers(|place| place.is_of(link, direction) && place.pipe.as_deref() == further)
    }

    /// Cuts a direction of a link, or both, or restores it: all its pipes, or the further one of this name.
    pub fn set_up(
        &mut self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        up: bool,
    ) -> Result<(), DriveError> {
        for pipe in self.switched(link, direction, further) {
            self.driver.set_up(pipe_id(pipe), up)?;
        }
        self.note_state(link, direction, further, up);
        Ok(())
    }

    /// Cuts all pipes of a link whose interfaces lose their carrier.
    pub fn unplug(&mut self, link: usize) -> Result<(), DriveError> {
        for pipe in self.switched(link, None, None) {
            self.driver.unplug(pipe_id(pipe))?;
        }
        self.note_state(link, None, None, false);
        Ok(())
    }

    /// A node at a link stops, or runs again: while any has stopped, all of the link's pipes are cut, and what was on the wire is lost.
    pub fn hold(&mut self, link: usize, stopped: bool) -> Result<(), DriveError> {
        for pipe in self.switched(link, None, None) {
            self.driver.hold(pipe_id(pipe), stopped)?;
            let count = &mut self.pipes[pipe].stopped_nodes;
            *count = if stopped { *count + 1 } else { count.saturating_sub(1) };
        }
        Ok(())
    }

    /// Whether nobody has cut a link, or a part of it, by hand or by the timeline.
    pub fn is_whole(&self, link: usize) -> bool {
        self.pipes.iter().all(|state| !state.place.is_of(link, None) || state.up)
    }

    /// Returns what [`Links::set_up`] would do to which pipes.
    pub fn states(
        &self,
        link: usize,
        direction: Option<Direction>,
        further: Option<&str>,
        up: bool,
    ) -> Vec<(PipeId, Act)> {
        self.switched(link, direction, further).into_iter().map(|pipe| (pipe_id(pipe), Act::SetUp(up))).collect()
    }

    /// Returns what cuts all pipes of a link whose interfaces lose their carrier.
    pub fn unplugged(&self, link: usize) -> Vec<(PipeId, Act)> {
        self.switched(link, None, None).into_iter().map(|pipe| (pipe_id(pipe), Act::Unplug)).collect()
    }

    /// Gives the interfaces of kernel nodes at a link their carrier, or takes it. A node's own carriers are its kernel's business elsewhere.
    pub fn set_carrier(&mut self, link: usize, on: bool) -> Result<(), DriveError> {
        for (pipe, _) in self.carriers(link, on) {
            self.driver.set_carrier(pipe, on)?;
        }
        Ok(())
    }

    /// Returns what [`Links::set_carrier`] would do.
    pub fn carriers(&self, link: usize, on: bool) -> Vec<(PipeId, Act)> {
        let own = self.numbers(|place| place.is_of(link, None) && place.pipe.is_none());
        own.into_iter().map(|pipe| (pipe_id(pipe), Act::SetCarrier(on))).collect()
    }

    /// Takes note that what [`Links::set_up`] would do is done.
    pub fn note_state(&mut self, link: usize, direction: Option<Direction>, further: Option<&str>, up: bool) {
        for pipe in self.switched(link, direction, further) {
            self.pipes[pipe].up = up;
        }
    }

    /// Restores these pipes.
    pub fn restore(&mut self, pipes: &[usize]) -> Result<(), DriveError> {
        for pipe in pipes {
            self.driver.set_up(pipe_id(*pipe), true)?;
            self.pipes[*pipe].up = true;
        }
        Ok(())
    }

    /// The numbers of the pipes that [`Links::set_up`] cuts or restores.
    pub fn switched(&self, link: usize, direction: Option<Direction>, further: Option<&str>) -> Vec<usize> {
        let is_meant = |pipe: Option<&str>| further.is_none() || pipe == further;
        self.numbers(|place| place.is_of(link, direction) && is_meant(place.pipe.as_deref()))
    }

    /// The numbers of some pipes.
    fn numbers(&self, is_meant: impl Fn(&PipePlace) -> bool) -> Vec<usize> {
        (0..self.pipes.len()).filter(|pipe| is_meant(&self.pipes[*pipe].place)).collect()
    }

    /// Returns the changes that let everything that pipes do by themselves begin anew.
    pub fn restarts(&self) -> Vec<(PipeId, Act)> {
        let plain = PipeConfig::default();
        let restart = |(pipe, PipeState { config, .. }): (usize, &PipeState)| {
            let again = PipeChange {
                schedule: Some(config.schedule.clone()).filter(|schedule| *schedule != plain.schedule),
                state: Some(config.state.clone()).filter(|state| *state != plain.state),
                cross: Some(config.cross.clone()).filter(|cross| *cross != plain.cross),
                ..PipeChange::default()
            };
            (!again.is_empty()).then(|| (pipe_id(pipe), Act::Change(Box::new(again))))
        };
        self.pipes.iter().enumerate().filter_map(restart).collect()
    }

    /// Schedules events with the driver; false if they came too late, and were to be forgotten then.
    pub fn plan(&mut self, scheduled_events: Vec<ScheduledEvent>, if_late: IfLate) -> Result<bool, DriveError> {
        self.driver.plan(scheduled_events, if_late)
    }

    /// Has the driver execute the events that are due, unless it is far behind, and learns of those that it has executed.
    pub fn look_for_kept(&mut self) -> Result<(), DriveError> {
        // It answers when it has come to the present.
        self.driver.counters()?;
        self.learn_of_kept();
        Ok(())
    }

    fn learn_of_kept(&mut self) {
        self.executed.extend(self.driver.executed().into_iter().map(|executed| (executed.number, executed)));
    }

    /// The event of this number, if it is known to have been executed; returned once.
    pub fn take_executed(&mut self, number: u64) -> Option<ExecutedEvent> {
        self.executed.remove(&number)
    }

    /// Returns what was measured at the scheduled event of this number, and how late that was; if it was not executed yet though it is due,
    /// what is measured now.
    pub fn measured(&mut self, number: u64) -> Result<(Snapshot, Option<Duration>), DriveError> {
        self.look_for_kept()?;
        match self.take_executed(number) {
            Some(ExecutedEvent { snapshot: Some(snapshot), late, .. }) => Ok((snapshot, Some(late))),
            _ => Ok((self.driver.snapshot()?, None)),
        }
    }

    /// Returns what faults of the timeline have done to packets since the last call, in order.
    pub fn firings(&mut self) -> Result<Vec<Firing>, DriveError> {
        self.driver.firings()
    }

    /// Shows `tap` every packet from now on.
    pub fn add_tap(&mut self, tap: Box<dyn Tap + Send>) -> Result<TapId, DriveError> {
        self.driver.add_tap(tap)
    }

    /// Drops a tap.
    pub fn remove_tap(&mut self, id: TapId) -> Result<(), DriveError> {
        self.driver.remove_tap(id)
    }

    /// The samples that were taken since the last call. Who has [asked for counters](Links::counters) before gets all that were due until then.
    pub fn samples(&mut self) -> Vec<Sampled> {
        self.driver.samples()
    }

    /// From now on each pipe picks packets that come in at least so long after one another; or none any more. It has no effect on packets.
    pub fn sample_packets(&mut self, step: Option<Duration>) -> Result<(), DriveError> {
        self.driver.sample_packets(step)
    }

    /// Returns what has become of picked packets since the last call.
    pub fn sampled_packets(&mut self) -> Result<SampledPackets, DriveError> {
        self.driver.sampled_packets()
    }

    /// Returns what every pipe has counted, and when.
    pub fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), DriveError> {
        self.driver.counters()
    }

    /// All that was measured.
    pub fn snapshot(&mut self) -> Result<Snapshot, DriveError> {
        self.driver.snapshot()
    }

    /// Nothing more is asked of what moves the packets: it ends beside whatever is done next.
    pub fn begin_end(&mut self) {
        if let Driver::Engine(engine) = &mut self.driver {
            engine.begin_end();
        }
    }

    /// Returns what each port had lost outside the models when `last` was taken, the worst first.
    pub fn port_losses(&mut self, last: &Snapshot) -> Result<Vec<PortLoss>, DriveError> {
        if matches!(self.driver, Driver::Virtual(_)) {
            return Ok(Vec::new());
        }
        let mut engine = last.engine.clone();
        let earlier = read_port_counters()?;
        // What crossed is compared with what the kernel counts at this moment.
        match self.driver.snapshot() {
            Ok(now) => {
                let ports = engine.ports.iter_mut().zip(&now.engine.ports);
                ports.for_each(|(port, latest)| (port.received, port.taken) = (latest.received, latest.taken));
            }
            // A driver that has died cannot be asked any more: whatever the kernel dropped may have been lost.
            Err(_) => engine.ports.iter_mut().for_each(|port| port.taken = u64::MAX),
        }
        let mut losses = port_losses(&self.names, &engine, &self.before, &earlier, &read_port_counters()?);
        if let Some(bridges) = &mut self.bridges {
            losses.extend(bridge_losses(&self.names, &counters_of(bridges.links())?));
        }
        Ok(worst_first(losses))
    }
}

/// What the kernel has counted of the ports so far. The current network namespace must be the lab's own.
pub(crate) fn read_port_counters() -> Result<PortCounters, DriveError> {
    counters_of(Netlink::open().and_then(|mut netlink| netlink.links()))
}

fn counters_of(interfaces: Result<Vec<Link>, KernelError>) -> Result<PortCounters, DriveError> {
    let interfaces = interfaces.map_err(DriveError::Counters)?;
    let count = |InterfaceCounters { rx_packets, tx_packets, tx_dropped, tx_errors, .. }: InterfaceCounters| {
        PortCount { came: rx_packets, refused: tx_dropped + tx_errors, went: tx_packets }
    };
    Ok(interfaces.iter().filter_map(|link| Some((port_of(&link.name)?, count(link.counters)))).collect())
}
