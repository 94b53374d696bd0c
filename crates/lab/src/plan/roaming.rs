//! Which stations of radio media are with which access points, and when: that follows from positions, seed and time alone.

use super::{EndPlan, Plan};
use netloom_units::Duration;

/// For so long ahead it is found out if the lab has no end.
const USUAL: Duration = Duration::from_secs(3_600);

/// From when on a station is with an access point of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoamPlan {
    /// The time behind time zero.
    pub at: Duration,
    /// The place of the link.
    pub link: usize,
    /// The end of the station.
    pub station: EndPlan,
    /// The end of the access point; none: it is with none from then on.
    pub point: Option<EndPlan>,
}

impl Plan {
    /// Returns which stations are with which access points: all of them at time zero, then each change up to the end of the lab, in order of time. Of a lab without an
    /// end, an hour is looked at.
    pub fn roams(&self) -> Vec<RoamPlan> {
        self.roams_until(self.duration.unwrap_or(USUAL))
    }

    /// Returns which stations are with which access points: all of them at time zero, then each change up to a time, in order.
    pub fn roams_until(&self, until: Duration) -> Vec<RoamPlan> {
        let mut all = Vec::new();
        for pipe in self.pipes() {
            let Some(air) = pipe.config.air.as_deref().filter(|air| air.access_points.is_some()) else { continue };
            let ends = &self.links[pipe.link].ends;
            let seed = self.seed.derive(&pipe.to_string()).derive("air");
            let roam = |one: netloom_radio::Associated| RoamPlan {
                at: one.at,
                link: pipe.link,
                station: ends[one.station.0 as usize],
                point: one.point.map(|point| ends[point.0 as usize]),
            };
            all.extend(air.associations(seed, until).into_iter().map(roam));
        }
        // Access points are with themselves.
        all.retain(|one| one.point != Some(one.station));
        all.sort_by_key(|one| one.at);
        all
    }
}
