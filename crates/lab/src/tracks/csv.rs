//! Tables: a line of names, `time`, `x` and `y`, and if they are there `node` and `z`, in any order; then a line for each waypoint.

use super::{Found, WrongLine, number, position, time};
use netloom_radio::{Metres, Position, Waypoint};

/// The places of columns.
struct Columns {
    time: usize,
    x: usize,
    y: usize,
    z: Option<usize>,
    node: Option<usize>,
    count: usize,
}

pub(super) fn read(text: &str, height: Metres, found: &mut Found) -> Result<(), WrongLine> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((header, at)) = lines.next() else { return Ok(()) };
    let columns = columns(header, at)?;
    for (line, place) in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.count {
            let message = format!("here are {} columns, and names of {} in the first line", cells.len(), columns.count);
            return Err(WrongLine(place, message));
        }
        let plain = position(place, (cells[columns.x], cells[columns.y]), height)?;
        let position = match columns.z {
            Some(z) => Position { z: Metres(number(place, cells[z], "a z in metres")?), ..plain },
            None => plain,
        };
        let node = columns.node.map_or("", |node| cells[node]);
        found.push(place, node, Waypoint { at: time(place, cells[columns.time])?, position })?;
    }
    Ok(())
}

fn columns(header: &str, line: usize) -> Result<Columns, WrongLine> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let known = ["time", "x", "y", "z", "node"];
    if let Some(other) = names.iter().find(|name| !known.contains(name)) {
        let other: String = other.chars().take(40).collect();
        let message =
            format!("`{other}` is no name of a column: the first line has `time,x,y`, and perhaps `node` and `z`");
        return Err(WrongLine(line, message));
    }
    if let Some(twice) = known.iter().find(|name| names.iter().filter(|own| own == name).count() > 1) {
        return Err(WrongLine(line, format!("there are two columns `{twice}`")));
    }
    let place = |name: &str| names.iter().position(|own| *own == name);
    let needed = |name: &str| {
        place(name)
            .ok_or_else(|| WrongLine(line, format!("there is no column `{name}`: write for example `time,node,x,y`")))
    };
    let (time, x, y) = (needed("time")?, needed("x")?, needed("y")?);
    Ok(Columns { time, x, y, z: place("z"), node: place("node"), count: names.len() })
}
