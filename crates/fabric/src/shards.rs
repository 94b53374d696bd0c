//! A fabric in several shards, each a fabric of its own that another thread may compute.
//!
//! A pipe that leads to a transit router of another shard ends at a [`Border`]: its shard delivers what leaves it
//! there, as at a port, and the driver of the shards gives it to [`Fabric::cross`] of the other one. There an *inlet*
//! takes it, which stands for the pipe and has no model of its own; so packets from elsewhere take their turn among
//! those of the shard by the same rule as in a single fabric: by instant, and then by the number of the pipe.
//!
//! Random numbers do not depend on shards: every pipe draws from a generator of its own, named after the pipe.

mod partition;
mod weight;

use crate::{Fabric, PipeId, PipeSpec, PortId, RouterSpec};
use alloc::{vec, vec::Vec};
use netloom_link::PipeConfig;
use netloom_units::{Duration, Seed};
pub use partition::{Cuts, Partition};

/// A part of a fabric.
#[derive(Debug)]
pub struct Shard {
    /// Its pipes and routers, numbered anew.
    pub fabric: Fabric,
    /// What each of its pipes is in the whole.
    pub pipes: Vec<Place>,
    /// Which routers of the whole its routers are.
    pub routers: Vec<usize>,
    /// Where its packets meet nodes.
    pub ports: Vec<PortId>,
    /// Its pipes that end at routers of other shards.
    pub borders: Vec<Border>,
}

/// What a pipe of a shard is in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This pipe.
    Own(PipeId),
    /// The end of this pipe, which another shard computes.
    Inlet(PipeId),
}

/// The end of a pipe at a router of another shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The pipe, as this shard numbers it.
    pub pipe: PipeId,
    /// The port of the router that it leads to.
    pub port: PortId,
    /// The router's shard.
    pub shard: usize,
    /// The inlet there, as that shard numbers it.
    pub inlet: PipeId,
}

impl Shard {
    /// A whole fabric as its only shard.
    pub fn whole(fabric: Fabric) -> Self {
        let count = u32::try_from(fabric.ends().count()).expect("fewer than 2^32 pipes");
        let routers = (0..fabric.router_counters().count()).collect();
        let pipes = (0..count).map(|pipe| Place::Own(PipeId(pipe))).collect();
        Self { fabric, pipes, routers, ports: Vec::new(), borders: Vec::new() }
    }
}

/// The shards of a fabric of these pipes and transit routers; see [`Fabric::new`] and [`Fabric::with_routers`].
///
/// # Panics
/// If the partition is of other pipes or routers.
pub fn shards(seed: Seed, pipes: &[PipeSpec], routers: &[RouterSpec], partition: &Partition) -> Vec<Shard> {
    let owners = owners(pipes, routers);
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
        let numbers: Vec<usize> = (0..routers.len()).filter(|router| partition.of_router(*router) == shard).collect();
        let specs: Vec<RouterSpec> = numbers.iter().map(|router| routers[*router].clone()).collect();
        let mut borders = Vec::new();
        let mut ports = Vec::new();
        for place in &places[shard] {
            let Place::Own(pipe) = *place else { continue };
            let PipeSpec { from, to, .. } = pipes[pipe.0 as usize];
            match owners[to.0 as usize].map(|router| partition.of_router(router)) {
                Some(other) if other != shard => {
                    let inlet = number(other, Place::Inlet(pipe));
                    borders.push(Border { pipe: number(shard, *place), port: to, shard: other, inlet });
                }
                _ => {}
            }
            ports.extend([from, to].into_iter().filter(|port| owners[port.0 as usize].is_none()));
        }
        ports.sort_unstable();
        ports.dedup();
        let fabric = Fabric::new(seed, &own).with_routers(&own, &specs);
        Shard { fabric, pipes: places[shard].clone(), routers: numbers, ports, borders }
    };
    (0..partition.count()).map(shard).collect()
}

/// Which router is at each port.
fn owners(pipes: &[PipeSpec], routers: &[RouterSpec]) -> Vec<Option<usize>> {
    let ports = pipes.iter().map(|pipe| pipe.from.0.max(pipe.to.0) as usize + 1).max().unwrap_or(0);
    let mut owners = vec![None; ports];
    for (number, router) in routers.iter().enumerate() {
        router.interfaces.iter().for_each(|interface| owners[interface.port.0 as usize] = Some(number));
    }
    owners
}

/// The pipes and inlets of a shard, in order.
fn places(pipes: &[PipeSpec], owners: &[Option<usize>], partition: &Partition, shard: usize) -> Vec<Place> {
    let place = |(pipe, number): (&PipeSpec, u32)| {
        let (id, router) = (PipeId(number), owners[pipe.to.0 as usize]);
        if partition.of_pipe(id) == shard {
            return Some(Place::Own(id));
        }
        router.filter(|router| partition.of_router(*router) == shard).map(|_| Place::Inlet(id))
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
            }
        }
    }
}
