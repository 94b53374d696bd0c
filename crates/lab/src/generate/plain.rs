//! Regular networks.

use super::ground::{Ground, Point, around, radius};
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
pub(super) fn chain(ground: &mut Ground<'_, '_>) -> Option<()> {
    let n = ground.count("n");
    let everywhere = ground.hosts_everywhere();
    let (n, everywhere) = (n?, everywhere?);
    let nodes = row(ground, n)?;
    if everywhere {
        let hosts = ground.hosts_of(n, 1)?;
        for (node, count) in nodes.into_iter().zip(hosts) {
            ground.add_hosts(node, count, below(ground.at(node), count))?;
        }
        return Some(());
    }
    let hosts = ground.hosts_of(2, 1)?;
    for (node, count, aside) in [(nodes[0], hosts[0], -1.0), (nodes[n - 1], hosts[1], 1.0)] {
        let at = ground.at(node);
        let place =
            |number: usize| at.map(|[x, y]| [x + aside, y + 0.6 * (number as f64 - (count as f64 - 1.0) / 2.0)]);
        ground.add_hosts(node, count, place)?;
    }
    Some(())
}

/// Nodes in a row, each joined to the next.
fn row(ground: &mut Ground<'_, '_>, n: usize) -> Option<Vec<usize>> {
    let nodes: Option<Vec<usize>> = (0..n).map(|number| ground.inner(number + 1, Some([number as f64, 0.0]))).collect();
    let nodes = nodes?;
    for pair in nodes.windows(2) {
        ground.link(pair[0], pair[1], "core")?;
    }
    Some(nodes)
}

/// `star`: hosts around a node.
pub(super) fn star(ground: &mut Ground<'_, '_>) -> Option<()> {
    let n = ground.count("n")?;
    let middle = ground.inner(1, Some([0.0, 0.0]))?;
    let radius = radius(n).max(1.0);
    ground.add_hosts(middle, n, |number| Some(around(number, n, radius)))
}

/// `ring`: routers in a circle, each with hosts.
pub(super) fn ring(ground: &mut Ground<'_, '_>) -> Option<()> {
    let n = ground.count("n")?;
    let hosts = ground.hosts_of(n, 1)?;
    let nodes = circle(ground, n)?;
    for number in 0..n {
        ground.link(nodes[number], nodes[(number + 1) % n], "core")?;
    }
    hosts_outside(ground, &nodes, &hosts)
}

/// `mesh`: each router is joined to all others.
pub(super) fn mesh(ground: &mut Ground<'_, '_>) -> Option<()> {
    let n = ground.count("n")?;
    let hosts = ground.hosts_of(n, 1)?;
    let nodes = circle(ground, n)?;
    for one in 0..n {
        for other in one + 1..n {
            ground.link(nodes[one], nodes[other], "core")?;
        }
    }
    hosts_outside(ground, &nodes, &hosts)
}

fn circle(ground: &mut Ground<'_, '_>, n: usize) -> Option<Vec<usize>> {
    let radius = radius(n);
    (0..n).map(|number| ground.inner(number + 1, Some(around(number, n, radius)))).collect()
}

fn hosts_outside(ground: &mut Ground<'_, '_>, nodes: &[usize], hosts: &[usize]) -> Option<()> {
    for (node, count) in nodes.iter().zip(hosts) {
        ground.add_hosts(*node, *count, outside(ground.at(*node), *count))?;
    }
    Some(())
}

/// `tree`: so many levels of nodes, each with `fanout` below it, and hosts below the last. Numbers are those of Mininet's
/// topology `tree`: each node before what is below it.
pub(super) fn tree(ground: &mut Ground<'_, '_>) -> Option<()> {
    let depth = ground.count("depth");
    let fanout = ground.count("fanout");
    let (depth, fanout) = (depth?, fanout?);
    let leaves = u32::try_from(depth - 1).ok().and_then(|levels| fanout.checked_pow(levels));
    let Some(leaves) = leaves.filter(|leaves| *leaves <= MOST_NODES) else {
        let message = format!("{depth} levels with a fanout of {fanout} are more than {MOST_NODES} nodes: write less");
        return ground.wrong("depth", message);
    };
    let hosts = ground.hosts_of(leaves, fanout)?;
    let mut grown = Grown { fanout, hosts, leaves: 0, numbers: 0, right: 0.0 };
    grown.below(ground, depth).map(|_| ())
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
    fn below(&mut self, ground: &mut Ground<'_, '_>, levels: usize) -> Option<usize> {
        self.numbers += 1;
        let node = ground.inner(self.numbers, None)?;
        let mut children = Vec::new();
        if levels == 1 {
            let count = self.hosts[self.leaves];
            self.leaves += 1;
            let width = 0.6 * (count as f64).max(1.6);
            let at = [self.right + width / 2.0, -1.0];
            self.right += width;
            ground.topology.nodes[node].at = Some(at);
            ground.add_hosts(node, count, below(Some(at), count))?;
            return Some(node);
        }
        for _ in 0..self.fanout {
            let child = self.below(ground, levels - 1)?;
            ground.link(node, child, "core")?;
            children.push(child);
        }
        let ends = [children.first(), children.last()].map(|child| child.and_then(|child| ground.at(*child)));
        if let [Some(first), Some(last)] = ends {
            ground.topology.nodes[node].at = Some([(first[0] + last[0]) / 2.0, -(levels as f64)]);
        }
        Some(node)
    }
}

/// `grid`: routers in rows and columns.
pub(super) fn grid(ground: &mut Ground<'_, '_>) -> Option<()> {
    let rows = ground.count("rows");
    let columns = ground.count("columns");
    let (rows, columns) = (rows?, columns?);
    field(ground, rows, columns, false)
}

/// `torus`: a grid whose rows and columns are rings.
pub(super) fn torus(ground: &mut Ground<'_, '_>) -> Option<()> {
    let rows = ground.count("rows");
    let columns = ground.count("columns");
    let (rows, columns) = (rows?, columns?);
    field(ground, rows, columns, true)
}

fn field(ground: &mut Ground<'_, '_>, rows: usize, columns: usize, is_closed: bool) -> Option<()> {
    if rows.saturating_mul(columns) > MOST_NODES {
        return ground.wrong("rows", format!("{rows} times {columns} are more than {MOST_NODES} nodes: write less"));
    }
    let hosts = ground.hosts_of(rows * columns, 1)?;
    // With hosts between them, nodes need more room.
    let apart = if hosts.iter().any(|count| *count > 0) { 1.6 } else { 1.0 };
    let mut nodes = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let at = [column as f64 * apart, row as f64 * apart];
            nodes.push(ground.inner(format_args!("{}-{}", row + 1, column + 1), (!is_closed).then_some(at))?);
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let node = nodes[row * columns + column];
            if column + 1 < columns || is_closed {
                ground.link(node, nodes[row * columns + (column + 1) % columns], "core")?;
            }
            if row + 1 < rows || is_closed {
                ground.link(node, nodes[(row + 1) % rows * columns + column], "core")?;
            }
        }
    }
    for (node, count) in nodes.into_iter().zip(hosts) {
        let at = ground.at(node);
        ground.add_hosts(node, count, |number| {
            at.map(|[x, y]| [x + 0.6 - 0.3 * number as f64, y + 0.6 + 0.3 * number as f64])
        })?;
    }
    Some(())
}
