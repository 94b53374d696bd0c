//! Which access points of several have stations, and the ways of flows that follow from that.
//!
//! The network behind access points learns where a station is from the update that its new access point sends in its name, here at once: the ways of all flows change
//! when that update arrives at the access point. Until then what is for the station goes to the access point that it has left, and is lost there. A station without
//! an access point counts as one of the last one that it had.

use crate::SimError;
use crate::flow::FlowSpec;
use crate::source::flow;
use netloom_fabric::PortId;
use netloom_lab::fabric::port_id;
use netloom_lab::{End, EndPlan, Plan};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Roaming {
    plan: Plan,
    points: BTreeSet<PortId>,
    /// The access point of each station.
    with: BTreeMap<PortId, PortId>,
}

impl Roaming {
    /// Returns who is where when time begins; none of a lab in which no medium has several access points.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let mut this = Self { plan: plan.clone(), points: BTreeSet::new(), with: BTreeMap::new() };
        for pipe in plan.pipes() {
            let network = pipe.config.air.as_deref().and_then(|air| air.access_points.as_ref());
            let Some(network) = network else { continue };
            let ends = &plan.links[pipe.link].ends;
            let points: Vec<usize> = network.points.iter().map(|point| point.station).collect();
            let port = |station: usize| port_id(ends[station].end);
            this.points.extend(points.iter().map(|point| port(*point)));
            for station in (0..ends.len()).filter(|station| !points.contains(station)) {
                let kept = network.kept.iter().find(|(own, _)| *own == station).map_or(0, |(_, point)| *point);
                this.with.insert(port(station), port(points[kept]));
            }
        }
        let at_first = plan.roams_until(Duration::ZERO);
        let port = |end: EndPlan| port_id(end.end);
        this.with.extend(at_first.iter().filter_map(|roam| Some((port(roam.station), port(roam.point?)))));
        (!this.points.is_empty()).then_some(this)
    }

    /// Whether what enters a link at one end comes out at another one: a station reaches its access point, and others that are with it.
    fn reaches(&self, entry: End, exit: End) -> bool {
        let [entry, exit] = [entry, exit].map(port_id);
        let point = |port: PortId| if self.points.contains(&port) { Some(port) } else { self.with.get(&port).copied() };
        let are_points = self.points.contains(&entry) && self.points.contains(&exit);
        point(entry) == point(exit) && !are_points
    }

    /// A station has arrived at an access point; says whether it was elsewhere before.
    pub(crate) fn join(&mut self, station: PortId, point: PortId) -> bool {
        self.with.insert(station, point) != Some(point)
    }

    /// Returns the flow of the source at this place of the plan, on the way that it has now.
    ///
    /// # Errors
    /// If there is no way, or one that is too narrow for the source's packets.
    pub(crate) fn flow(&self, number: usize) -> Result<FlowSpec, SimError> {
        flow(&self.plan, number, &|entry, exit| self.reaches(entry, exit))
    }
}
