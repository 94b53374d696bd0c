//! What terms about stations of radio media are.

use super::{Measurements, Value};
use netloom_lab::{Measured, PipeMetric, Window};
use netloom_link::StationCounters;
use netloom_units::Duration;

impl Measurements<'_> {
    /// A metric of a station of a radio medium; without a station, of all of them together.
    pub(super) fn of_stations(
        &self,
        pipe: usize,
        station: Option<usize>,
        metric: PipeMetric,
        window: Option<Window>,
    ) -> Value {
        let seconds = self.flow(pipe, window)?.seconds;
        let at = |at: Duration| {
            let look = self.windows.get(&at).ok_or_else(|| format!("the run ended before {at}"))?;
            sum(look.stations.get(&pipe).map_or(&[], Vec::as_slice), station)
        };
        let (before, after) = match window {
            Some(Window { from, to }) => (at(from)?, at(to)?),
            // Everything counts from time zero on.
            None => (StationCounters::default(), sum(&self.last.pipes[pipe].stations, station)?),
        };
        of_counters(&before, &after, seconds, metric).map(Measured::Number)
    }
}

/// The counters of a station, or the sums of all.
fn sum(all: &[StationCounters], station: Option<usize>) -> Result<StationCounters, String> {
    let wanted: Vec<&StationCounters> = match station {
        Some(place) => all.get(place).into_iter().collect(),
        None => all.iter().collect(),
    };
    if wanted.is_empty() {
        return Err("its stations were not counted".into());
    }
    Ok(wanted.into_iter().fold(StationCounters::default(), |sum, own| sum.and(own)))
}

fn of_counters(
    before: &StationCounters,
    after: &StationCounters,
    seconds: f64,
    metric: PipeMetric,
) -> Result<f64, String> {
    let grown = |of: fn(&StationCounters) -> u64| of(after).saturating_sub(of(before)) as f64;
    Ok(match metric {
        PipeMetric::Airtime => grown(|own| own.airtime.as_nanos()) / (seconds * 1e9),
        PipeMetric::Attempts => grown(|own| own.attempts),
        PipeMetric::Collisions => grown(|own| own.collisions),
        PipeMetric::Retries => grown(|own| own.failed_mpdus),
        PipeMetric::Handovers => grown(|own| own.handovers),
        PipeMetric::Clients => after.clients as f64,
        PipeMetric::AirDrops => grown(|own| own.lost),
        PipeMetric::Packets => grown(|own| own.delivered),
        PipeMetric::Bytes => grown(|own| own.delivered_bytes),
        PipeMetric::Throughput => grown(|own| own.delivered_bytes) * 8.0 / seconds,
        PipeMetric::AirRate => {
            let attempts = grown(|own| own.attempts);
            if attempts < 1.0 {
                return Err("nothing was sent on the air".into());
            }
            after.rates.saturating_sub(before.rates) as f64 / attempts
        }
        _ => unreachable!("stations have no other metrics"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_station_or_all_of_them_are_what_their_counters_say() {
        let own = |attempts, airtime| StationCounters {
            attempts,
            airtime: Duration::from_millis(airtime),
            delivered_bytes: 1_000 * attempts,
            rates: u128::from(attempts) * 54_000_000,
            ..StationCounters::default()
        };
        let (before, after) = ([own(2, 10), own(0, 0)], [own(12, 260), own(30, 500)]);
        let value =
            |station, metric| of_counters(&sum(&before, station).unwrap(), &sum(&after, station).unwrap(), 2.0, metric);
        assert_eq!(value(Some(0), PipeMetric::Airtime), Ok(0.125));
        assert_eq!(value(None, PipeMetric::Airtime), Ok(0.375));
        assert_eq!(value(Some(0), PipeMetric::Attempts), Ok(10.0));
        assert_eq!(value(None, PipeMetric::Throughput), Ok(160_000.0));
        assert_eq!(value(None, PipeMetric::AirRate), Ok(54e6));
        let silent = of_counters(&after[0], &after[0], 1.0, PipeMetric::AirRate);
        assert_eq!(silent, Err("nothing was sent on the air".into()));
        assert_eq!(sum(&after, Some(2)), Err("its stations were not counted".into()));
    }
}
