//! Which machine of a cluster plays which machine of a lab.

use super::{Placement, Share, amounts};
use netloom_units::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

/// A machine of a cluster, as the cluster describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// How the cluster calls it.
    pub id: String,
    /// The address by which the others reach it.
    pub address: String,
    /// Its processors, in thousandths.
    #[serde(rename = "processor_thousandths")]
    pub processor: u64,
    /// The memory that the cluster gives to what it runs there, in bytes; none: it is not said.
    #[serde(rename = "memory_bytes")]
    pub memory: Option<u64>,
}

impl Host {
    /// Returns its address, and what it has, as text.
    pub(super) fn text(&self) -> String {
        let memory = self.memory.map_or_else(String::new, |memory| format!(", {}", amounts::size(Bytes::new(memory))));
        format!(", on {} ({} processors{memory})", self.address, amounts::processors(self.processor))
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "id": self.id,
            "address": self.address,
            "processor_thousandths": self.processor,
            "memory_bytes": self.memory,
        })
    }
}

impl Placement {
    /// Gives each machine that plays nodes a host of a cluster, in the order of both: one with as many processors as the lab file says. Hosts that are
    /// missing are among [`Placement::misfits`]; what a host has less of than its nodes may need is in [`Placement::doubts`].
    #[must_use]
    pub fn on(mut self, hosts: &[Host]) -> Self {
        self.cluster = Some(hosts.len());
        let used: Vec<usize> = (0..self.machines.len()).filter(|place| self.machines[*place].nodes > 0).collect();
        if used.len() > hosts.len() {
            let (machines, there) = (used.len(), hosts.len());
            self.misfits.push(format!("the lab is divided among {machines} machines, and the cluster has {there}"));
        }
        let mut free: Vec<&Host> = hosts.iter().collect();
        for (number, place) in used.iter().enumerate() {
            let share = &self.machines[*place];
            let later: Vec<u64> = used[number + 1..].iter().map(|other| wanted(&self.machines[*other])).collect();
            match chosen(&free, wanted(share), &later) {
                Some(at) => self.machines[*place].host = Some(free.remove(at).clone()),
                None if free.is_empty() => {}
                None => {
                    let (processors, name) = (amounts::processors(wanted(share)), &share.machine.name);
                    let why = format!(
                        "no machine of the cluster that is free has the {processors} processors of machine {name}"
                    );
                    self.misfits.push(why);
                }
            }
        }
        self.doubts = self.machines.iter().flat_map(doubts).collect();
        self
    }
}

/// The processors that the lab file says of a machine, in thousandths.
fn wanted(share: &Share) -> u64 {
    share.machine.cpus.map_or(0, |cpus| u64::from(cpus.thousandths()))
}

/// The first host with as many processors that leaves enough to the machines after it; if there is none, the first that has as many.
fn chosen(free: &[&Host], wanted: u64, later: &[u64]) -> Option<usize> {
    let fits = |at: &usize| free[*at].processor >= wanted;
    let leaves_enough = |at: &usize| {
        let mut rest: Vec<u64> =
            free.iter().enumerate().filter(|(other, _)| other != at).map(|(_, host)| host.processor).collect();
        let mut needs = later.to_vec();
        rest.sort_unstable_by(|one, other| other.cmp(one));
        needs.sort_unstable_by(|one, other| other.cmp(one));
        needs.len() <= rest.len() && needs.iter().zip(&rest).all(|(need, has)| need <= has)
    };
    let all = || (0..free.len()).filter(fits);
    all().find(leaves_enough).or_else(|| all().next())
}

/// Says what a host has less of than its nodes may need: estimates, by which nothing is refused.
fn doubts(share: &Share) -> Vec<String> {
    let Some(host) = &share.host else { return Vec::new() };
    let name = format!("machine {} ({})", share.machine.name, host.address);
    let mut all = Vec::new();
    if share.processor > host.processor {
        let [wanted, has] = [share.processor, host.processor].map(amounts::processors);
        all.push(format!("{name}: its nodes may need {wanted} processors, and it has {has}"));
    }
    if let Some(has) = host.memory.filter(|has| share.memory.get() > *has) {
        let [wanted, has] = [share.memory, Bytes::new(has)].map(amounts::size);
        all.push(format!("{name}: its nodes may need {wanted} of memory, and it has {has}"));
    }
    all
}
