//! Table 2 in our form: dilation and processor shares scaled together leave throughput as it was.

use super::play::{self, Clock};
use super::statistics::Spread;
use crate::row::Row;
use crate::settings::Settings;

const DILATIONS: [u32; 3] = [2, 5, 50];

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let dilations = if settings.quick { &DILATIONS[..2] } else { &DILATIONS[..] };
    let changes: &[(&str, &str)] = if settings.quick { &[("-t 10", "-t 3")] } else { &[] };
    let file = play::example(settings, "cpu-scaling", changes)?;
    let mut rows = Vec::new();
    let mut first: Option<Spread> = None;
    for dilation in dilations {
        let clock = Clock::Dilated(*dilation);
        let played = play::play(settings, &file, clock, 1)?;
        let spread = Spread::of(&played.flows("transfer")?);
        let base = *first.get_or_insert(spread);
        let is_first = dilations[0] == *dilation;
        rows.push(Row::told(
            format!("{}, {:.0} % of a core", clock.name(), 100.0 / f64::from(*dilation)),
            if is_first { "none" } else { "within one standard deviation of dilation 2" },
            format!(
                "{:.2} ± {:.2} Mbit/s per flow; {:.0} s of wall time{}",
                spread.mean,
                spread.deviation,
                played.wall_seconds(),
                played.remark()
            ),
            (!is_first).then_some((spread.mean - base.mean).abs() <= spread.deviation.max(base.deviation)),
        ));
    }
    Ok(rows)
}
