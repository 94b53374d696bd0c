//! Media with positions: results depend on instants alone, not on the order of stations nor of calls; what is foreseen comes.

use crate::common::cases_of;
use crate::conservation::{Arrival, STATIONS, arrivals};
use crate::positions::station;
use netloom_radio::{
    AntennaPattern, Beam, Cause, Decibels, Destination, FadingConfig, FadingModel, Interferer, MediumConfig, Metres,
    Mode, Path, Phy, PhyConfig, Place, Position, RadioConfig, RadioMedium, RadioStation, RateControl, Reception,
    ShadowingConfig, Source, Standard, StationId, Wall, Waypoint,
};
use netloom_units::{Bytes, Duration, Instant, Probability, Seed};
use proptest::prelude::*;

/// The description of a random medium.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) config: MediumConfig,
    radio: RadioConfig,
    pub(crate) stations: Vec<RadioStation>,
    seed: Seed,
}

impl Case {
    pub(crate) fn medium(&self) -> RadioMedium<u64> {
        let made = RadioMedium::new(&self.config, &self.radio, &self.stations, self.seed);
        let mut medium = made.expect("the description is right");
        medium.begin_counting(Instant::ZERO);
        medium
    }

    /// The same with the stations in another order: `order[new]` is the old number.
    pub(crate) fn shuffled(&self, order: &[usize]) -> RadioMedium<u64> {
        let stations = order.iter().map(|old| self.stations[*old].clone()).collect();
        Self { stations, ..self.clone() }.medium()
    }
}

/// A path from a place to another one within 20 ms and back.
fn moving(own: RadioStation, (x, y): (f64, f64)) -> RadioStation {
    let begin = own.path.position(Duration::ZERO);
    let end = Position { x: Metres(x), y: Metres(y), ..begin };
    let ends = [begin, end, begin].into_iter().zip([0, 20, 40]);
    let waypoints: Vec<_> = ends.map(|(position, at)| Waypoint { at: Duration::from_millis(at), position }).collect();
    let path = Path::through(&waypoints, Some(Duration::from_millis(40))).expect("slow enough");
    RadioStation { path, ..own }
}

/// Positions on a map of 120 m: some hear one another, some do not. Half of the stations move in every other case.
pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let places = prop::collection::vec((0.0..120.0, 0.0..120.0), STATIONS as usize);
    let ends = prop::option::of((0.0..120.0, 0.0..120.0));
    (any::<(bool, bool, bool)>(), 0..5_usize, (places, ends), any::<u64>()).prop_map(
        |((is_n, has_rts, is_varied), control, (places, end), seed)| {
            let standard = if is_n { Standard::N } else { Standard::A };
            let channel = netloom_radio::Channel::new(36).expect("there is such a channel");
            let phy = Phy::new(&PhyConfig::new(standard, channel)).expect("the layer exists");
            let fixed = if is_n { Mode::mcs(2) } else { Mode::kilobits(12_000) };
            let rate = [
                RateControl::Fixed(fixed),
                RateControl::Ideal,
                RateControl::Arf,
                RateControl::Aarf,
                RateControl::Minstrel,
            ][control];
            let mut radio = RadioConfig::new(5_180_000_000);
            if is_varied {
                radio.shadowing = Some(ShadowingConfig { deviation: Decibels(4.0), correlation: Metres(10.0) });
                let model = if is_n { FadingModel::Rayleigh } else { FadingModel::Nakagami(0.75) };
                radio.fading = Some(FadingConfig { model, speed: 3.0 });
                let place = |x: f64, y: f64| Place { x: Metres(x), y: Metres(y) };
                let wall = Wall { from: place(60.0, 10.0), to: place(70.0, 110.0), loss: Decibels(7.0), height: None };
                radio.walls = vec![wall];
                let near = Position { x: Metres(60.0), y: Metres(60.0), z: Metres(1.5) };
                let duty = Probability::from_parts_per_trillion(200_000_000_000).expect("a fifth");
                let interferer = |name: &str, source, has_preamble| Interferer {
                    name: name.into(),
                    source,
                    has_preamble,
                    duty,
                    burst: Duration::from_micros(700),
                };
                radio.interferers = vec![
                    interferer("upstairs", Source::At(near, Decibels(16.0)), true),
                    interferer("oven", Source::Everywhere(Decibels(-80.0)), false),
                ];
            }
            let beam =
                Beam { azimuth: 45.0, width: 90.0, front_to_back: Decibels(15.0), tilt: 0.0, vertical_width: None };
            let sector = AntennaPattern { gain: Decibels(6.0), beam: Some(beam) };
            let patterns = [AntennaPattern::default(), sector];
            let pattern = |number: usize| patterns[usize::from(is_varied && number.is_multiple_of(3))];
            let made = places
                .iter()
                .enumerate()
                .map(|(number, at)| RadioStation { pattern: pattern(number), ..station(number, *at, rate) });
            let stations = made.enumerate().map(|(number, own)| match end {
                Some(to) if number.is_multiple_of(2) => moving(own, to),
                _ => own,
            });
            let stations = stations.collect();
            let rts_above = has_rts.then_some(Bytes::new(500));
            let config = MediumConfig { rts_above, queue: 20, ..MediumConfig::new(phy) };
            Case { config, radio, stations, seed: Seed::new(seed) }
        },
    )
}

/// Lets all arrivals come, calling the medium whenever it wants if `is_punctual`, else only when something comes.
pub(crate) fn play(medium: &mut RadioMedium<u64>, arrivals: &[Arrival], is_punctual: bool) -> Vec<Reception<u64>> {
    let (mut outcomes, mut now) = (Vec::new(), Instant::ZERO);
    for arrival in arrivals {
        now = now + arrival.gap;
        while let Some(wake) = medium.next_wake().filter(|wake| is_punctual && *wake <= now) {
            medium.advance(wake, |outcome| outcomes.push(outcome));
        }
        medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
    }
    while let Some(wake) = medium.next_wake().filter(|_| outcomes.len() < arrivals.len()) {
        medium.advance(wake.max(now), |outcome| outcomes.push(outcome));
    }
    outcomes
}

pub(crate) type Ending = (u64, Instant, Option<Cause>, Vec<u32>);

/// When each frame was delivered to whom or dropped, by number; `order`: the old number of each station.
pub(crate) fn by_number(outcomes: &[Reception<u64>], order: &[usize]) -> Vec<Ending> {
    let old = |station: &StationId| u32::try_from(order[station.0 as usize]).expect("few stations");
    let ending = |one: &Reception<u64>| {
        let mut heard_by: Vec<u32> = one.heard_by.iter().map(old).collect();
        heard_by.sort_unstable();
        (one.outcome.frame.payload, one.outcome.at, one.outcome.dropped, heard_by)
    };
    let mut all: Vec<Ending> = outcomes.iter().map(ending).collect();
    all.sort_unstable();
    all
}

/// The same arrivals where stations are in another order: `order[new]` is the old number.
pub(crate) fn renumbered(arrivals: &[Arrival], order: &[usize]) -> Vec<Arrival> {
    let new = |old: u32| {
        u32::try_from(order.iter().position(|own| *own == old as usize).expect("all are there")).expect("few")
    };
    let moved = arrivals.iter().cloned().map(|mut one| {
        one.station = new(one.station);
        if let Destination::Station(to) = &mut one.frame.to {
            to.0 = new(to.0);
        }
        one
    });
    moved.collect()
}

pub(crate) const SAME: [usize; 4] = [0, 1, 2, 3];

proptest! {
    #![proptest_config(cases_of(200))]

    #[test]
    fn the_order_of_stations_does_not_matter(case in cases(), arrivals in arrivals(), order in Just(SAME.to_vec()).prop_shuffle()) {
        let moved = renumbered(&arrivals, &order);
        let (mut plain, mut shuffled) = (case.medium(), case.shuffled(&order));
        let one = by_number(&play(&mut plain, &arrivals, true), &SAME);
        let other = by_number(&play(&mut shuffled, &moved, true), &order);
        prop_assert_eq!(one, other);
        prop_assert_eq!(plain.totals(), shuffled.totals());
    }

    #[test]
    fn frames_are_handed_out_once_whoever_calls(case in cases(), arrivals in arrivals()) {
        let (mut punctual, mut late) = (case.medium(), case.medium());
        let outcomes = play(&mut punctual, &arrivals, true);
        prop_assert_eq!(&outcomes, &play(&mut late, &arrivals, false));
        let mut numbers: Vec<u64> = outcomes.iter().map(|one| one.outcome.frame.payload).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..arrivals.len() as u64));
        prop_assert!(outcomes.is_sorted_by_key(|one| one.outcome.at));
        for (counters, number) in punctual.counters().zip(0..) {
            prop_assert_eq!(counters.frames, counters.delivered + counters.dropped);
            prop_assert_eq!(punctual.waiting(StationId(number)), 0);
            prop_assert!(counters.collisions <= counters.attempts);
        }
        // What is for one station is heard there alone, and what is dropped by nobody.
        for one in &outcomes {
            match (one.outcome.dropped, one.outcome.frame.to) {
                (Some(_), _) => prop_assert!(one.heard_by.is_empty()),
                (None, Destination::Station(to)) => prop_assert_eq!(&one.heard_by, &vec![to]),
                (None, Destination::Everybody) => prop_assert!(!one.heard_by.is_empty() && !one.heard_by.contains(&one.outcome.from)),
            }
        }
    }

    /// Two futures that part at one instant agree on all deliveries before the lookahead, and these are the foreseen ones.
    #[test]
    fn deliveries_before_the_lookahead_are_certain(case in cases(), past in arrivals(), one in arrivals(), other in arrivals()) {
        let mut medium = case.medium();
        let mut now = Instant::ZERO;
        for arrival in &past {
            now = now + arrival.gap;
            medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
        }
        medium.advance(now, drop);
        let certain = medium.lookahead_until(now);
        prop_assert!(certain >= now + medium.lookahead());
        let mut foreseen = Vec::new();
        medium.foresee(|at, frame, heard_by| foreseen.push((frame.payload, at, None, heard_by.iter().map(|own| own.0).collect())));
        foreseen.sort_unstable();
        let future = |arrivals: &[Arrival]| {
            let mut copy = medium.clone();
            let mut at = now;
            for arrival in arrivals {
                copy.enqueue(at, StationId(arrival.station), arrival.frame.clone());
                at = at + arrival.gap;
            }
            let mut outcomes = Vec::new();
            copy.advance(at.max(certain), |outcome| outcomes.push(outcome));
            let all = by_number(&outcomes, &SAME);
            all.into_iter().filter(|(_, end, dropped, _)| *end < certain && *dropped != Some(Cause::Full)).collect::<Vec<_>>()
        };
        let known = future(&one);
        prop_assert_eq!(&known, &future(&other));
        let delivered: Vec<Ending> = known.into_iter().filter(|(.., dropped, _)| dropped.is_none()).collect();
        foreseen.retain(|(_, at, ..): &Ending| *at < certain);
        prop_assert_eq!(delivered, foreseen);
    }
}
