//! A fabric in several shards, each a fabric of its own that another thread may compute.
//!
//! A pipe that leads to a transit device of another shard ends at a [`Border`]: its shard delivers what leaves it
//! there, as at a port, and the driver of the shards gives it to [`Fabric::cross`] of the other one. There an *inlet*
//! takes it, which stands for the pipe and has no model of its own; so packets from elsewhere take their turn among
//! those of the shard by the same rule as in a single fabric: by instant, and then by the number of the pipe.
//!
//! Random numbers do not depend on shards: every pipe draws from a generator of its own, named after the pipe.
//!
//! A link between two shards is cut by direction: each pipe belongs to the device that its packets come from, so that
//! a device with all its decisions is in one shard, and packets cross where a delay leaves time for it. All other
//! links have both directions in one shard. In real time a packet crosses when it is due. `Fabric::take_certain`
//! takes it ahead of time, as far as nothing can change it any more; that is the lookahead of shards in virtual time.

mod partition;
mod weight;

use crate::device::owners;
use crate::{DeviceSpec, Fabric, PipeId, PipeSpec, Place, PortId};
use alloc::vec::Vec;
use netloom_link::{PipeConfig, Subset};
use netloom_units::{Duration, Seed};
pub use partition::{Cuts, Partition};

/// A part of a fabric.
#[derive(Debug)]
pub struct Shard {
    /// The shard's pipes and devices, numbered anew.
    pub fabric: Fabric,
    /// The places of the shard's pipes in the whole fabric.
    pub pipes: Vec<Place>,
    /// The numbers of the shard's routers among the routers of the whole fabric.
    pub routers: Vec<usize>,
    /// The numbers of the shard's switches among the switches of the whole fabric.
    pub switches: Vec<usize>,
    /// The ports at which the shard's packets meet nodes.
    pub ports: Vec<PortId>,
    /// The shard's pipes that end at devices of other shards.
    pub borders: Vec<Border>,
}

/// The end of a pipe at a device of another shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The pipe, as this shard numbers it.
    pub pipe: PipeId,
    /// The port of the device that it leads to.
    pub port: PortId,
    /// The device's shard.
    pub shard: usize,
    /// The inlet there, as that shard numbers it.
    pub inlet: PipeId,
}

impl Shard {
    /// Counts these packets of a pipe separately from now on, if the shard has it; `pipe` is its id in the whole.
    pub fn watch(&mut self, pipe: PipeId, subset: &Subset) {
        for (place, own) in self.pipes.iter().zip(0..) {
            if pipe_of(*place) == pipe {
                self.fabric.watch(PipeId(own), subset.clone());
            }
        }
    }

    /// Returns a whole fabric as its only shard.
    pub fn whole(fabric: Fabric) -> Self {
        let count = u32::try_from(fabric.ends().count()).expect("fewer than 2^32 pipes");
        let routers = (0..fabric.router_counters().count()).collect();
        let switches = (0..fabric.switch_counters().count()).collect();
        let pipes = (0..count).map(|pipe| Place::Own(PipeId(pipe))).collect();
        Self { fabric, pipes, routers, switches, ports: Vec::new(), borders: Vec::new() }
    }
}

/// The shards of a fabric of these pipes and transit devices; see [`Fabric::new`] and [`Fabric::with_devices`].
///
/// # Panics
/// If the partition is of other pipes or devices.
pub fn shards(seed: Seed, pipes: &[PipeSpec], devices: &[DeviceSpec], partition: &Partition) -> Vec<Shard> {
    let owners = owners(pipes, devices);
    let beyond = u32::try_from(owners.len()).expect("fewer than 2^32 ports");
    let places: Vec<Vec<Place>> =
        (0..partition.count()).map(|shard| places(pipes, &owners, partition, shard)).collect();
    let number = |shard: usize, place: Place| {
        // The places of a shard are in the order of pipes.
        let at = places[shard].binary_search_by_key(&pipe_of(place), |other| pipe_of(*other));
        PipeId(u32::try_from(at.expect("every pipe has its places")).expect("fewer than 2^32 pipes"))
    };
    let shard = |shard: usize| {
        let own = places[shard].iter().map(|place| spec(pipes, *place, beyond)).collect::<Vec<_>>();
        let is_own = |device: &usize| partition.of_device(*device) == shard;
        let specs: Vec<DeviceSpec> = (0..devices.len()).filter(is_own).map(|device| devices[device].clone()).collect();
        let own_among = |is_kind: fn(&DeviceSpec) -> bool| {
            let all = (0..devices.len()).filter(|device| is_kind(&devices[*device]));
            all.enumerate().filter(|(_, device)| is_own(device)).map(|(place, _)| place).collect()
        };
        let routers = own_among(|device| device.router().is_some());
        let switches = own_among(DeviceSpec::is_switch);
        let mut borders = Vec::new();
        let mut ports = Vec::new();
        for place in &places[shard] {
            let Place::Own(pipe) = *place else { continue };
            let PipeSpec { ref medium, from, to, .. } = pipes[pipe.0 as usize];
            match owners[to.0 as usize].map(|device| partition.of_device(device)) {
                Some(other) if other != shard => {
                    let inlet = number(other, Place::Inlet(pipe));
                    borders.push(Border { pipe: number(shard, *place), port: to, shard: other, inlet });
                }
                _ => {}
            }
            ports.extend(
                [from, to].into_iter().chain(medium.iter().copied()).filter(|port| owners[port.0 as usize].is_none()),
            );
        }
        ports.sort_unstable();
        ports.dedup();
        let mut fabric = Fabric::new(seed, &own).with_devices(&own, &specs).with_places(places[shard].clone());
        for (place, own_place) in places[shard].iter().zip(0..) {
            let is_further = pipes[pipe_of(*place).0 as usize].filter.is_some();
            if matches!(place, Place::Inlet(_)) && is_further {
                fabric.overhear(PipeId(own_place));
            }
        }
        Shard { fabric, pipes: places[shard].clone(), routers, switches, ports, borders }
    };
    (0..partition.count()).map(shard).collect()
}

/// The pipes and inlets of a shard, in order.
fn places(pipes: &[PipeSpec], owners: &[Option<usize>], partition: &Partition, shard: usize) -> Vec<Place> {
    let place = |(pipe, number): (&PipeSpec, u32)| {
        let (id, device) = (PipeId(number), owners[pipe.to.0 as usize]);
        if partition.of_pipe(id) == shard {
            return Some(Place::Own(id));
        }
        device.filter(|device| partition.of_device(*device) == shard).map(|_| Place::Inlet(id))
    };
    pipes.iter().zip(0..).filter_map(place).collect()
}

fn pipe_of(place: Place) -> PipeId {
    let (Place::Own(pipe) | Place::Inlet(pipe)) = place;
    pipe
}

fn spec(pipes: &[PipeSpec], place: Place, beyond: u32) -> PipeSpec {
    match place {
        Place::Own(pipe) => pipes[pipe.0 as usize].clone(),
        Place::Inlet(pipe) => {
            let whole = &pipes[pipe.0 as usize];
            // Nobody sends into it: it begins at a port that no other pipe has.
            PipeSpec {
                name: whole.name.clone(),
                config: PipeConfig::default(),
                coalesce: Duration::ZERO,
                from: PortId(beyond + pipe.0),
                filter: None,
                to: whole.to,
                medium: Vec::new(),
            }
        }
    }
}
