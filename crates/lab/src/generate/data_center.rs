//! Networks of data centers.

use super::builder::TopologyBuilder;
use super::plain::below;

/// `fat-tree`: `k` pods of `k`-port switches, which carry as much at the top as at the bottom. Switch `j` of a pod's
/// aggregation is joined to the `j`-th group of `k/2` core switches.
///
/// Source: M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008,
/// section 2.2.
pub(super) fn fat_tree(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let k = builder.count("k")?;
    if k % 2 == 1 {
        let message =
            format!("{k} is odd: half of a switch's ports lead up, and half down; write {} or {}", k - 1, k + 1);
        return builder.wrong("k", message);
    }
    let half = k / 2;
    let hosts = builder.hosts_of(k * half, half)?;
    let width = 0.6 * (hosts.iter().copied().max().unwrap_or(0) as f64).max(1.6);
    let pod_width = half as f64 * width + 0.4;
    let middle = (k as f64 * pod_width - 0.4) / 2.0;
    let core_step = (2.0 * middle / (half * half) as f64).max(0.8);
    let mut cores = Vec::new();
    for number in 0..half * half {
        let x = middle + core_step * (number as f64 - ((half * half) as f64 - 1.0) / 2.0);
        cores.push(builder.node(format!("core{}", number + 1), Some([x, -3.2]))?);
    }
    for pod in 0..k {
        let x = |place: usize| pod as f64 * pod_width + (place as f64 + 0.5) * width;
        let named = |what: &str, place: usize| format!("{what}{}-{}", pod + 1, place + 1);
        let mut aggregation = Vec::new();
        for place in 0..half {
            let switch = builder.node(named("agg", place), Some([x(place), -1.4]))?;
            for core in &cores[place * half..(place + 1) * half] {
                builder.link(*core, switch, "core")?;
            }
            aggregation.push(switch);
        }
        for place in 0..half {
            let edge = builder.node(named("edge", place), Some([x(place), 0.0]))?;
            for switch in &aggregation {
                builder.link(*switch, edge, "aggregation")?;
            }
            let count = hosts[pod * half + place];
            builder.add_hosts(edge, count, below(builder.at(edge), count))?;
        }
    }
    Some(())
}

/// `leaf-spine`: each leaf is joined to each spine, a folded Clos network of two stages.
///
/// Source: M. Alizadeh, T. Edsall, "On the data path performance of leaf-spine datacenter fabrics", HOTI 2013.
pub(super) fn leaf_spine(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let leaves = builder.count("leaves");
    let spines = builder.count("spines");
    let (leaves, spines) = (leaves?, spines?);
    let hosts = builder.hosts_of(leaves, 1)?;
    let width = 0.6 * (hosts.iter().copied().max().unwrap_or(0) as f64).max(2.0);
    let middle = leaves as f64 * width / 2.0;
    let step = (2.0 * middle / spines as f64).max(1.2);
    let mut upper = Vec::new();
    for number in 0..spines {
        let x = middle + step * (number as f64 - (spines as f64 - 1.0) / 2.0);
        upper.push(builder.node(format!("spine{}", number + 1), Some([x, -1.6]))?);
    }
    for (number, count) in hosts.into_iter().enumerate() {
        let leaf = builder.node(format!("leaf{}", number + 1), Some([(number as f64 + 0.5) * width, 0.0]))?;
        for spine in &upper {
            builder.link(*spine, leaf, "fabric")?;
        }
        builder.add_hosts(leaf, count, below(builder.at(leaf), count))?;
    }
    Some(())
}
