//! BonnMotion's own format (`.movements`): a line for each node, of waypoints with time, x and y. Nodes have the numbers of their lines, from 0.

use super::{Found, WrongLine, position, time};
use netloom_radio::{Metres, Waypoint};

pub(super) fn read(text: &str, height: Metres, found: &mut Found) -> Result<(), WrongLine> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
    for ((line, number), node) in lines.zip(0..) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if !words.len().is_multiple_of(3) {
            let message = format!("a waypoint is a time, an x and a y, and here are {} numbers", words.len());
            return Err(WrongLine(number, message));
        }
        let name = format!("{node}");
        for three in words.chunks_exact(3) {
            let (at, position) = (time(number, three[0])?, position(number, (three[1], three[2]), height)?);
            found.push(number, &name, Waypoint { at, position })?;
        }
    }
    Ok(())
}
