//! What a scheduler knows of the other parts of its lab.

use super::Device;
use super::machine::MachineError;
use super::parts::{Begun, Parted, Reported, Stated, Told, Wire};
use netloom_packet::Pool;
use netloom_units::Instant;
use std::collections::VecDeque;
use std::sync::Arc;

/// The other parts of the lab, as a scheduler knows them.
pub(super) struct Division {
    pub(super) here: usize,
    /// The part of each machine.
    pub(super) homes: Vec<usize>,
    pub(super) wire: Box<dyn Wire>,
    /// The windows that were told and have not begun, by the first machine of their group.
    pub(super) begun: Vec<VecDeque<Begun>>,
    /// The reports that were told and have not been taken, by machine.
    pub(super) reported: Vec<VecDeque<Reported>>,
    /// The statements that have come and have not been taken, by machine.
    pub(super) stated: Vec<VecDeque<Stated>>,
    /// Synchronization rounds so far, and the end of the last one.
    pub(super) sync_rounds: u64,
    pub(super) end: Instant,
    /// Which pipes lead from one group to another, so that all that reaches a window is known when that begins.
    pub(super) is_between: Vec<bool>,
    /// Whether frames are told whole, whoever gets them.
    pub(super) is_whole: bool,
    /// By machine: the devices whose frames no machine of another part gets.
    pub(super) inner: Vec<Arc<[Device]>>,
}

impl Division {
    pub(super) fn new(here: usize, homes: &[usize], wire: Box<dyn Wire>) -> Self {
        Self {
            here,
            homes: homes.to_vec(),
            wire,
            begun: homes.iter().map(|_| VecDeque::new()).collect(),
            reported: homes.iter().map(|_| VecDeque::new()).collect(),
            stated: homes.iter().map(|_| VecDeque::new()).collect(),
            sync_rounds: 0,
            end: Instant::ZERO,
            is_between: Vec::new(),
            is_whole: false,
            inner: homes.iter().map(|_| Arc::default()).collect(),
        }
    }

    pub(super) fn is_elsewhere(&self, machine: usize) -> bool {
        self.homes[machine] != self.here
    }

    /// Returns the report of a machine elsewhere, if it has come.
    pub(super) fn take_report(&mut self, machine: usize, until: Instant) -> Result<Option<Reported>, MachineError> {
        let Some(reported) = self.reported[machine].pop_front() else { return Ok(None) };
        if reported.until != until {
            let (theirs, own) = (reported.until.as_nanos(), until.as_nanos());
            return Err(MachineError::Elsewhere(format!(
                "the parts have diverged: it was let run until {theirs} ns there, and {own} ns here"
            )));
        }
        Ok(Some(reported))
    }

    pub(super) fn tell(&mut self, told: &Told) -> Result<(), MachineError> {
        self.wire.tell(told).map_err(|parted| MachineError::Elsewhere(parted.what))
    }

    /// Takes in what has come; says whether something has.
    pub(super) fn hear(&mut self, pool: &mut Pool) -> Result<bool, Parted> {
        let mut has_come = false;
        while let Some(told) = self.wire.hear(pool)? {
            has_come = true;
            match told {
                Told::Begun(begun) if begun.leader < self.begun.len() => self.begun[begun.leader].push_back(begun),
                Told::Reported(reported) if reported.machine < self.reported.len() => {
                    self.reported[reported.machine].push_back(reported);
                }
                Told::Stated(stated) if stated.machine < self.stated.len() => {
                    self.stated[stated.machine].push_back(stated);
                }
                Told::Begun(Begun { leader: machine, .. })
                | Told::Reported(Reported { machine, .. })
                | Told::Stated(Stated { machine, .. }) => {
                    let what = format!(
                        "the parts have diverged: another part tells of a machine {machine}, which there is not"
                    );
                    return Err(Parted { part: self.here, what });
                }
            }
        }
        Ok(has_come)
    }
}
