//! Networks in which flows meet at bottlenecks, as comparisons of congestion controls use them.
//!
//! Sources: S. Floyd, "Connections with multiple congested gateways in packet-switched networks, part 1", CCR 21(5), 1991;
//! L. Andrew et al., "Towards a common TCP evaluation suite", PFLDnet 2008, which names both.

use super::builder::TopologyBuilder;

/// `dumbbell`: hosts at both sides of a bottleneck.
pub(super) fn dumbbell(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n")?;
    let height = |number: usize| number as f64 - (n as f64 - 1.0) / 2.0;
    let reach = 1.0 + n as f64 / 6.0;
    let one = builder.inner(1, Some([0.0, 0.0]))?;
    let other = builder.inner(2, Some([1.8, 0.0]))?;
    builder.link(one, other, "bottleneck")?;
    for (router, side, x) in [(one, "left", -reach), (other, "right", 1.8 + reach)] {
        for number in 0..n {
            let host = builder.named_host(format!("{side}{}", number + 1), Some([x, 0.8 * height(number)]))?;
            builder.link(host, router, "access")?;
        }
    }
    Some(())
}

/// `parking-lot`: a flow over all of several bottlenecks, and one over each.
pub(super) fn parking_lot(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n")?;
    let step = 1.6;
    let routers: Option<Vec<usize>> =
        (0..=n).map(|number| builder.inner(number + 1, Some([number as f64 * step, 0.0]))).collect();
    let routers = routers?;
    for pair in routers.windows(2) {
        builder.link(pair[0], pair[1], "bottleneck")?;
    }
    for flow in 0..=n {
        // Flow 0 goes all the way.
        let [from, to] = if flow == 0 { [0, n] } else { [flow - 1, flow] };
        let places = match flow {
            0 => [[-1.0, 0.0], [n as f64 * step + 1.0, 0.0]],
            _ => [[from as f64 * step + 0.35, -1.0], [to as f64 * step - 0.35, 1.0]],
        };
        for (side, router, at) in [("src", routers[from], places[0]), ("dst", routers[to], places[1])] {
            let host = builder.named_host(format!("{side}{flow}"), Some(at))?;
            builder.link(host, router, "access")?;
        }
    }
    Some(())
}
