//! The shares of processors that nodes have by `cpus`.

use crate::job::Job;
use crate::setup_error::SetupError;
use netloom_host::cgroup::{Grain, Throttling};
use netloom_lab::{Cpus, NodePlan};
use netloom_units::{Dilation, Duration};
use std::path::PathBuf;
use std::time::Duration as RealDuration;

/// A share is handed out anew in periods of this at least; lab time.
const LEAST_PERIOD: Duration = Duration::from_millis(1);

/// The cgroup of every node that has a CPU share; none where that cannot be enforced, which the verdict will say.
pub(crate) fn cpu_shares(job: &Job) -> Result<Vec<Option<PathBuf>>, SetupError> {
    let Some(Ok(group)) = &job.cpu_group else { return Ok(vec![None; job.plan.nodes.len()]) };
    group.create().map_err(SetupError::Machine)?;
    let dilation = job.plan.clock.dilation().unwrap_or_default();
    let share = |node: &NodePlan| match node.cpus {
        Some(cpus) => {
            let part = millionths(cpus.thousandths(), dilation);
            let share = group.share(&node.name, part, dilation.to_real(LEAST_PERIOD));
            share.map(|share| Some(share.path().to_owned()))
        }
        None => Ok(None),
    };
    job.plan.nodes.iter().map(share).collect::<Result<_, _>>().map_err(SetupError::Machine)
}

/// Of a core of this machine. "To Infinity and Beyond", section 3.4: a processor that is slowed with everything else is as fast
/// as a real one.
fn millionths(thousandths: u32, dilation: Dilation) -> u64 {
    let (numerator, denominator) = (u128::from(dilation.numerator()), u128::from(dilation.denominator()));
    u64::try_from(u128::from(thousandths) * 1000 * denominator / numerator).unwrap_or(u64::MAX).max(1)
}

/// How often each node was throttled so far, by its place; none of those without a share that is enforced.
pub fn throttling(job: &Job) -> Vec<Option<Throttling>> {
    let Some(Ok(group)) = &job.cpu_group else { return vec![None; job.plan.nodes.len()] };
    let of = |node: &NodePlan| node.cpus.and_then(|_| group.share_of(&node.name).throttling().ok());
    job.plan.nodes.iter().map(of).collect()
}

/// How long a node of this share stands still each time that it has used its share up, as described; wall time.
pub fn pause(cpus: Option<Cpus>, dilation: Dilation) -> RealDuration {
    let grain = |share: Cpus| Grain::of(millionths(share.thousandths(), dilation), dilation.to_real(LEAST_PERIOD));
    cpus.and_then(grain).map_or(RealDuration::ZERO, |grain| grain.pause())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a processor at dilation 2 runs for 1 ms of 4.
    #[test]
    fn the_grain_of_a_share_follows_from_the_slowed_share() {
        let dilation = Dilation::from_whole(2).unwrap();
        assert_eq!(millionths(500, dilation), 250_000);
        let grain = Grain::of(millionths(500, dilation), dilation.to_real(LEAST_PERIOD)).unwrap();
        assert_eq!((grain.quota_us, grain.period_us), (1_000, 4_000));
        assert_eq!(pause(None, dilation), RealDuration::ZERO);
    }
}
