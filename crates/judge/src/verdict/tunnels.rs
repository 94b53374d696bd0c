//! What tunnels to other machines did that is not described.

use super::Allowed;
use crate::quantity::{counted, span};
use crate::{Finding, TunnelRow};

/// The findings about a tunnel. Slowing the lab helps against none: the path keeps its own time.
pub(super) fn findings(allowed: &Allowed, tunnel: &TunnelRow) -> Vec<Finding> {
    let finding = |text: String| Finding { subject: format!("tunnel {}", tunnel.node), text, slowing: None };
    let all = [lost(tunnel), absent(tunnel), missed(tunnel), late(allowed, tunnel), jumped(tunnel)];
    all.into_iter().flatten().map(finding).collect()
}

/// Returns by how much one-way delays are off at most, over any of the tunnels, in nanoseconds; none if no far end was there.
pub(super) fn bound(tunnels: &[TunnelRow]) -> Option<u64> {
    tunnels.iter().filter(|tunnel| tunnel.joined).map(|tunnel| tunnel.one_way_bound_ns).max()
}

/// Says that the times of day of both ends are not what the machines say.
pub(super) fn contradiction(tunnel: &TunnelRow) -> Option<String> {
    tunnel.clocks_contradict.then(|| {
        format!(
            "the times of day of both ends of tunnel {}, which are further apart than the machines say: nothing follows from them",
            tunnel.node
        )
    })
}

fn lost(tunnel: &TunnelRow) -> Option<String> {
    let TunnelRow { lost_frames: lost, received_frames: received, lost_in_joining_frames: in_part, .. } = *tunnel;
    (lost > 0).then(|| {
        let all = lost.saturating_add(received);
        let pieces = if in_part > 0 { format!("; of {in_part}, some of the pieces came") } else { String::new() };
        format!(
            "the path lost {lost} of {} from the far end ({:.2} %), outside the models{pieces}",
            counted(usize::try_from(all).unwrap_or(usize::MAX), "frame"),
            lost as f64 / all as f64 * 100.0
        )
    })
}

fn absent(tunnel: &TunnelRow) -> Option<String> {
    if !tunnel.joined {
        return Some("the far end never took frames".into());
    }
    match tunnel.heard_until_ns {
        Some(until) if !tunnel.left => Some(format!("nothing came from the far end any more after {}", span(until))),
        _ if tunnel.gaps > 0 => {
            let times = counted(usize::try_from(tunnel.gaps).unwrap_or(usize::MAX), "time");
            Some(format!("the far end was silent or restarted {times}, for {} in total", span(tunnel.silent_ns)))
        }
        _ => None,
    }
}

fn missed(tunnel: &TunnelRow) -> Option<String> {
    let left = tunnel.heard_until_ns.filter(|_| tunnel.left)?;
    (tunnel.missed_frames > 0).then(|| {
        let count = counted(usize::try_from(tunnel.missed_frames).unwrap_or(usize::MAX), "frame");
        format!("the far end left after {}, and {count} for it could not be sent", span(left))
    })
}

fn late(allowed: &Allowed, tunnel: &TunnelRow) -> Option<String> {
    let TunnelRow { behind_p99_ns: behind, spare_ns: spare, path_p99_ns: path, .. } = *tunnel;
    (behind > spare + allowed.lateness_ns).then(|| {
        format!(
            "1 % of its frames came {} or more after the instant at which they were due there, and the delay from there makes up for {}: \
             the path took up to {}, so describe a delay of that or more, in either lab",
            span(behind),
            span(spare),
            span(path)
        )
    })
}

fn jumped(tunnel: &TunnelRow) -> Option<String> {
    (tunnel.clock_jumps > 0).then(|| {
        let times = counted(usize::try_from(tunnel.clock_jumps).unwrap_or(usize::MAX), "time");
        format!("the clocks of both ends moved apart at once {times}, as after a machine stood still: packets were late or early by that")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::Bounds;

    fn told(tunnel: &TunnelRow) -> String {
        let texts = findings(&Bounds::default().into(), tunnel).into_iter().map(|finding| finding.text);
        texts.collect::<Vec<_>>().join("; ")
    }

    fn fine() -> TunnelRow {
        TunnelRow {
            node: "far".into(),
            joined: true,
            received_frames: 900,
            path_p99_ns: 3_200_000,
            ..TunnelRow::default()
        }
    }

    #[test]
    fn a_tunnel_as_described_is_not_found() {
        assert_eq!(told(&fine()), "");
        // It left in the end, and nothing was for it any more.
        assert_eq!(told(&TunnelRow { heard_until_ns: Some(5), left: true, ..fine() }), "");
        assert_eq!(told(&TunnelRow { behind_p99_ns: 3_000_000, spare_ns: 20_000_000, ..fine() }), "");
    }

    #[test]
    fn the_worst_tunnel_bounds_one_way_delays() {
        let with = |bound| TunnelRow { one_way_bound_ns: bound, ..fine() };
        assert_eq!(bound(&[]), None);
        assert_eq!(bound(&[TunnelRow { joined: false, ..with(9) }]), None);
        assert_eq!(bound(&[with(7), with(38_000), with(0)]), Some(38_000));
        assert_eq!(contradiction(&fine()), None);
        assert!(
            contradiction(&TunnelRow { clocks_contradict: true, ..fine() })
                .is_some_and(|told| told.contains("tunnel far"))
        );
    }

    #[test]
    fn what_the_path_and_the_far_end_did_is_found() {
        assert!(told(&TunnelRow { lost_frames: 100, ..fine() }).contains("lost 100 of 1000 frames"));
        let in_part = told(&TunnelRow { lost_frames: 100, lost_in_joining_frames: 30, ..fine() });
        assert!(in_part.ends_with("outside the models; of 30, some of the pieces came"), "{in_part}");
        assert!(told(&TunnelRow { joined: false, ..fine() }).contains("never took frames"));
        let gone = TunnelRow { heard_until_ns: Some(12_300_000_000), missed_frames: 7, ..fine() };
        assert_eq!(told(&gone), "nothing came from the far end any more after 12.3 s");
        assert!(told(&TunnelRow { left: true, ..gone }).contains("and 7 frames for it could not be sent"));
        assert!(told(&TunnelRow { gaps: 1, silent_ns: 2_000_000_000, ..fine() }).contains("1 time, for 2 s"));
        assert!(told(&TunnelRow { clock_jumps: 2, ..fine() }).contains("moved apart at once 2 times"));
        let late = told(&TunnelRow { behind_p99_ns: 3_000_000, spare_ns: 500_000, ..fine() });
        assert!(late.contains("describe a delay"), "{late}");
    }
}
