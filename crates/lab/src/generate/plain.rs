//! Regular networks.

use super::builder::{Point, TopologyBuilder, around, radius};
use crate::limits::MOST_NODES;

/// Hosts below a node, beside one another.
pub(super) fn below(at: Option<Point>, count: usize) -> impl Fn(usize) -> Option<Point> {
    const WIDTH: f64 = 0.6;
    move |number| at.map(|[x, y]| [x + WIDTH * (number as f64 - (count as f64 - 1.0) / 2.0), y + 1.0])
}

/// Hosts outside a circle around the origin, beside one another.
fn outside(at: Option<Point>, count: usize) -> impl Fn(usize) -> Option<Point> {
    move |number| {
        let [x, y] = at?;
        let length = libm::hypot(x, y).max(1e-9);
        let [right, down] = [x / length, y / length];
        let aside = 0.5 * (number as f64 - (count as f64 - 1.0) / 2.0);
        Some([x + right - down * aside, y + down + right * aside])
    }
}

/// `chain`: routers in a row, with hosts at both ends.
pub(super) fn chain(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n");
    let everywhere = builder.hosts_everywhere();
    let (n, everywhere) = (n?, everywhere?);
    let nodes = row(builder, n)?;
    if everywhere {
        let hosts = builder.hosts_of(n, 1)?;
        for (node, count) in nodes.into_iter().zip(hosts) {
            builder.add_hosts(node, count, below(builder.at(node), count))?;
        }
        return Some(());
    }
    let hosts = builder.hosts_of(2, 1)?;
    for (node, count, aside) in [(nodes[0], hosts[0], -1.0), (nodes[n - 1], hosts[1], 1.0)] {
        let at = builder.at(node);
        let place =
            |number: usize| at.map(|[x, y]| [x + aside, y + 0.6 * (number as f64 - (count as f64 - 1.0) / 2.0)]);
        builder.add_hosts(node, count, place)?;
    }
    Some(())
}

/// Nodes in a row, each joined to the next.
fn row(builder: &mut TopologyBuilder<'_, '_>, n: usize) -> Option<Vec<usize>> {
    let nodes: Option<Vec<usize>> =
        (0..n).map(|number| builder.inner(number + 1, Some([number as f64, 0.0]))).collect();
    let nodes = nodes?;
    for pair in nodes.windows(2) {
        builder.link(pair[0], pair[1], "core")?;
    }
    Some(nodes)
}

/// `star`: hosts around a node.
pub(super) fn star(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n")?;
    let middle = builder.inner(1, Some([0.0, 0.0]))?;
    let radius = radius(n).max(1.0);
    builder.add_hosts(middle, n, |number| Some(around(number, n, radius)))
}

/// `ring`: routers in a circle, each with hosts.
pub(super) fn ring(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n")?;
    let hosts = builder.hosts_of(n, 1)?;
    let nodes = circle(builder, n)?;
    for number in 0..n {
        builder.link(nodes[number], nodes[(number + 1) % n], "core")?;
    }
    hosts_outside(builder, &nodes, &hosts)
}

/// `mesh`: each router is joined to all others.
pub(super) fn mesh(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let n = builder.count("n")?;
    let hosts = builder.hosts_of(n, 1)?;
    let nodes = circle(builder, n)?;
    for one in 0..n {
        for other in one + 1..n {
            builder.link(nodes[one], nodes[other], "core")?;
        }
    }
    hosts_outside(builder, &nodes, &hosts)
}

fn circle(builder: &mut TopologyBuilder<'_, '_>, n: usize) -> Option<Vec<usize>> {
    let radius = radius(n);
    (0..n).map(|number| builder.inner(number + 1, Some(around(number, n, radius)))).collect()
}

fn hosts_outside(builder: &mut TopologyBuilder<'_, '_>, nodes: &[usize], hosts: &[usize]) -> Option<()> {
    for (node, count) in nodes.iter().zip(hosts) {
        builder.add_hosts(*node, *count, outside(builder.at(*node), *count))?;
    }
    Some(())
}

/// `tree`: so many levels of nodes, each with `fanout` below it, and hosts below the last. Numbers are those of Mininet's
/// topology `tree`: each node before what is below it.
pub(super) fn tree(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let depth = builder.count("depth");
    let fanout = builder.count("fanout");
    let (depth, fanout) = (depth?, fanout?);
    let leaves = u32::try_from(depth - 1).ok().and_then(|levels| fanout.checked_pow(levels));
    let Some(leaves) = leaves.filter(|leaves| *leaves <= MOST_NODES) else {
        let message = format!("{depth} levels with a fanout of {fanout} are more than {MOST_NODES} nodes: write less");
        return builder.wrong("depth", message);
    };
    let hosts = builder.hosts_of(leaves, fanout)?;
    let mut grown = Grown { fanout, hosts, leaves: 0, numbers: 0, right: 0.0 };
    grown.below(builder, depth).map(|_| ())
}

/// A tree as far as it has grown.
struct Grown {
    fanout: usize,
    hosts: Vec<usize>,
    leaves: usize,
    numbers: usize,
    /// Where the next leaf begins.
    right: f64,
}

impl Grown {
    /// A node with so many levels of nodes, itself included.
    fn below(&mut self, builder: &mut TopologyBuilder<'_, '_>, levels: usize) -> Option<usize> {
        self.numbers += 1;
        let node = builder.inner(self.numbers, None)?;
        let mut children = Vec::new();
        if levels == 1 {
            let count = self.hosts[self.leaves];
            self.leaves += 1;
            let width = 0.6 * (count as f64).max(1.6);
            let at = [self.right + width / 2.0, -1.0];
            self.right += width;
            builder.topology.nodes[node].at = Some(at);
            builder.add_hosts(node, count, below(Some(at), count))?;
            return Some(node);
        }
        for _ in 0..self.fanout {
            let child = self.below(builder, levels - 1)?;
            builder.link(node, child, "core")?;
            children.push(child);
        }
        let ends = [children.first(), children.last()].map(|child| child.and_then(|child| builder.at(*child)));
        if let [Some(first), Some(last)] = ends {
            builder.topology.nodes[node].at = Some([(first[0] + last[0]) / 2.0, -(levels as f64)]);
        }
        Some(node)
    }
}

/// `grid`: routers in rows and columns.
pub(super) fn grid(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let rows = builder.count("rows");
    let columns = builder.count("columns");
    let (rows, columns) = (rows?, columns?);
    field(builder, rows, columns, false)
}

/// `torus`: a grid whose rows and columns are rings.
pub(super) fn torus(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let rows = builder.count("rows");
    let columns = builder.count("columns");
    let (rows, columns) = (rows?, columns?);
    field(builder, rows, columns, true)
}

fn field(builder: &mut TopologyBuilder<'_, '_>, rows: usize, columns: usize, is_closed: bool) -> Option<()> {
    if rows.saturating_mul(columns) > MOST_NODES {
        return builder.wrong("rows", format!("{rows} times {columns} are more than {MOST_NODES} nodes: write less"));
    }
    let hosts = builder.hosts_of(rows * columns, 1)?;
    // With hosts between them, nodes need more room.
    let apart = if hosts.iter().any(|count| *count > 0) { 1.6 } else { 1.0 };
    let mut nodes = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let at = [column as f64 * apart, row as f64 * apart];
            nodes.push(builder.inner(format_args!("{}-{}", row + 1, column + 1), (!is_closed).then_some(at))?);
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let node = nodes[row * columns + column];
            if column + 1 < columns || is_closed {
                builder.link(node, nodes[row * columns + (column + 1) % columns], "core")?;
            }
            if row + 1 < rows || is_closed {
                builder.link(node, nodes[(row + 1) % rows * columns + column], "core")?;
            }
        }
    }
    for (node, count) in nodes.into_iter().zip(hosts) {
        let at = builder.at(node);
        builder.add_hosts(node, count, |number| {
            at.map(|[x, y]| [x + 0.6 - 0.3 * number as f64, y + 0.6 + 0.3 * number as f64])
        })?;
    }
    Some(())
}
