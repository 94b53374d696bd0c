//! Scenarios of ns-2, as its `setdest` and many other tools write them.
//!
//! ```text
//! $node_(3) set X_ 83.3
//! $node_(3) set Y_ 39.7
//! $node_(3) set Z_ 0.0
//! $ns_ at 2.0 "$node_(3) setdest 90.4 44.8 1.37"
//! ```
//! A node stands at its X_ and Y_ until it sets out, straight and with the speed that is said (m/s), for a place, where it stops. A command during
//! another one's way takes its place. Heights (Z_) are those of ns-2, which has none, and are not looked at; neither are comments and what is told
//! to `god_`.

use super::{Found, WrongLine, nanos, number, position, time};
use netloom_radio::{Metres, Position, Waypoint};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// A node while it is read.
#[derive(Default)]
struct Mover<'a> {
    x: Option<&'a str>,
    y: Option<&'a str>,
    /// The line in which something is said of it first.
    line: usize,
    commands: Vec<Command>,
}

/// A way to a place.
#[derive(Clone, Copy)]
struct Command {
    line: usize,
    at: Duration,
    to: Position,
    speed: f64,
}

pub(super) fn read(text: &str, height: Metres, found: &mut Found) -> Result<(), WrongLine> {
    let mut movers: BTreeMap<&str, Mover<'_>> = BTreeMap::new();
    let mut commands = 0;
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.contains("god_") {
            continue;
        }
        let said = said(line, number, height)?;
        let mover = movers.entry(said.0).or_insert_with(|| Mover { line: number, ..Mover::default() });
        match said.1 {
            Said::X(x) => mover.x = Some(x),
            Said::Y(y) => mover.y = Some(y),
            Said::Z => {}
            Said::Goes(command) => {
                commands += 1;
                if commands > found.most {
                    return Err(WrongLine(number, format!("a file has at most {} commands", found.most)));
                }
                mover.commands.push(command);
            }
        }
    }
    movers.into_iter().try_for_each(|(node, mover)| follow(node, mover, height, found))
}

/// A statement of a line about a node.
enum Said<'a> {
    X(&'a str),
    Y(&'a str),
    Z,
    Goes(Command),
}

fn said(line: &str, number: usize, height: Metres) -> Result<(&str, Said<'_>), WrongLine> {
    let plain = line.split(['"', '\'']).map(str::trim).collect::<Vec<_>>();
    let wrong = || {
        let found: String = line.chars().take(80).collect();
        WrongLine(
            number,
            format!(
                "`{found}` is not understood: write `$node_(3) set X_ 12.5`, or `$ns_ at 2.0 \"$node_(3) setdest 90.4 44.8 1.37\"`"
            ),
        )
    };
    let (when, what) = match plain[..] {
        [what] => (None, what),
        [when, what, ""] => (Some(when), what),
        _ => return Err(wrong()),
    };
    let words: Vec<&str> = what.split_ascii_whitespace().collect();
    let node = words.first().and_then(|word| word.strip_prefix("$node_(")?.strip_suffix(')')).ok_or_else(wrong)?;
    let said = match (when.map(|when| when.split_ascii_whitespace().collect::<Vec<_>>()).as_deref(), &words[1..]) {
        (None, ["set", "X_", x]) => Said::X(x),
        (None, ["set", "Y_", y]) => Said::Y(y),
        (None, ["set", "Z_", _]) => Said::Z,
        (Some(["$ns_" | "$ns", "at", at]), ["setdest", x, y, speed]) => Said::Goes(Command {
            line: number,
            at: time(number, at)?,
            to: position(number, (x, y), height)?,
            speed: self::number(number, speed, "a speed in metres per second")?,
        }),
        _ => return Err(wrong()),
    };
    Ok((node, said))
}

/// The path of a node that does what it is told.
fn follow(node: &str, mover: Mover<'_>, height: Metres, found: &mut Found) -> Result<(), WrongLine> {
    let Mover { x, y, line: first, mut commands } = mover;
    let (Some(x), Some(y)) = (x, y) else {
        let message = format!("node `{node}` begins nowhere: write `$node_({node}) set X_ 12.5`, and `Y_`, too");
        return Err(WrongLine(first, message));
    };
    commands.sort_by_key(|command| command.at);
    let mut from = Waypoint { at: Duration::ZERO, position: position(first, (x, y), height)? };
    // The way that it is on, with the line that says so.
    let mut to: Option<(usize, Waypoint)> = None;
    found.push(first, node, from)?;
    for Command { line, at, to: place, speed } in commands {
        if let Some((said, end)) = to.take() {
            if end.at <= at {
                found.push(said, node, end)?;
                from = end;
            } else if at > from.at {
                from = Waypoint { at, position: on_way(from, end, at) };
                found.push(said, node, from)?;
            }
        }
        if at > from.at {
            from = Waypoint { at, ..from };
            found.push(line, node, from)?;
        }
        let (east, north) = (place.x.0 - from.position.x.0, place.y.0 - from.position.y.0);
        let distance = libm::hypot(east, north);
        if speed > 0.0 && distance > 0.0 {
            let takes = nanos(distance / speed).as_nanos().max(1);
            to = Some((
                line,
                Waypoint { at: Duration::from_nanos(at.as_nanos().saturating_add(takes)), position: place },
            ));
        }
    }
    to.map_or(Ok(()), |(said, end)| found.push(said, node, end))
}

/// Where something is at a time on its way.
fn on_way(from: Waypoint, to: Waypoint, at: Duration) -> Position {
    let passed = |until: Duration| (until.as_nanos() - from.at.as_nanos()) as f64;
    let share = passed(at) / passed(to.at);
    let mix = |one: Metres, other: Metres| Metres(one.0 + (other.0 - one.0) * share);
    let (a, b) = (from.position, to.position);
    Position { x: mix(a.x, b.x), y: mix(a.y, b.y), z: a.z }
}
