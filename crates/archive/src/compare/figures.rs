//! Figures of then and now, where time is real.

use netloom_sweep::{student, welch};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// By how much a delay may differ whatever it is, in nanoseconds: what a busy machine makes of a short one.
const LEAST_DELAY_NS: f64 = 500_000.0;

/// A figure of earlier results beside that of new ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The point of a sweep, from 1; none for a run.
    pub point: Option<u64>,
    /// The figure's name.
    pub name: String,
    /// The unit of the figure.
    pub unit: String,
    /// The value in the earlier results, or the mean of several; none if it was not measured.
    pub then: Option<f64>,
    /// The value in the new results, or the mean of several; none if it was not measured.
    pub now: Option<f64>,
    /// The criterion by which the two values were compared.
    pub how: How,
    /// Whether the two values are the same.
    pub same: bool,
}

/// The criterion by which two values are the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The values may differ by so much, in the unit of the figure.
    Tolerance(f64),
    /// The 95 % confidence interval of the difference of the means, new less earlier.
    Interval(f64, f64),
}

/// What is known of a figure.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    n: u64,
    mean: f64,
    /// The standard deviation; none of fewer than two.
    deviation: Option<f64>,
}

/// The figures of a run then, and of one or several now.
pub(super) fn of_runs(then: &Value, now: &[Value], tolerance: f64) -> Vec<Figure> {
    let before = values(then);
    let mut after: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for report in now {
        for (name, value) in values(report) {
            after.entry(name).or_default().push(value);
        }
    }
    let names: std::collections::BTreeSet<&(String, String)> = before.keys().chain(after.keys()).collect();
    let one = |name: &&(String, String)| {
        let old = before.get(*name).map(|value| Sample { n: 1, mean: *value, deviation: None });
        let new = after.get(*name).map(|values| sample(values));
        judge(None, name, old, new, tolerance)
    };
    names.iter().map(one).collect()
}

/// The figures of all points of two sweeps.
pub(super) fn of_sweeps(then: &Value, now: &Value, tolerance: f64) -> Vec<Figure> {
    let [before, after] = [then, now].map(|sweep| sweep["points"].as_array().map(Vec::as_slice).unwrap_or_default());
    let mut found = Vec::new();
    for place in 0..before.len().max(after.len()) {
        let [old, new] = [before, after].map(|points| points.get(place).map(of_point).unwrap_or_default());
        let names: std::collections::BTreeSet<&(String, String)> = old.keys().chain(new.keys()).collect();
        found.extend(names.into_iter().map(|name| {
            judge(Some(place as u64 + 1), name, old.get(name).copied(), new.get(name).copied(), tolerance)
        }));
    }
    found
}

fn of_point(point: &Value) -> BTreeMap<(String, String), Sample> {
    let figures = point["figures"].as_object().into_iter().flatten();
    let sample = |(name, figure): (&String, &Value)| {
        let name = (name.clone(), super::text(&figure["unit"]));
        let (n, mean) = (figure["n"].as_u64().filter(|n| *n > 0)?, figure["mean"].as_f64()?);
        Some((name, Sample { n, mean, deviation: figure["deviation"].as_f64() }))
    };
    figures.filter_map(sample).collect()
}

fn sample(values: &[f64]) -> Sample {
    let mut moments = netloom_sweep::Moments::default();
    values.iter().for_each(|value| moments.add(*value));
    Sample { n: moments.count(), mean: moments.mean().unwrap_or(0.0), deviation: moments.deviation() }
}

/// The figures of a report by name and unit: those of its pipes, and those that the lab file names.
fn values(report: &Value) -> BTreeMap<(String, String), f64> {
    let mut all = BTreeMap::new();
    for pipe in report["pipes"].as_array().into_iter().flatten().filter(|pipe| pipe["joined_in_kernel"] != true) {
        let further = pipe["pipe"].as_str().map_or_else(String::new, |name| format!(".{name}"));
        let name = format!("{}.{}{further}", super::text(&pipe["link"]), super::text(&pipe["direction"]));
        let mut add = |metric: &str, unit: &str, value: Option<f64>| {
            all.extend(value.map(|value| ((format!("{name}.{metric}"), unit.to_owned()), value)));
        };
        add("throughput", "bit/s", pipe["throughput_bits_per_second"].as_f64());
        let causes = ["queue", "loss", "early", "down"];
        let drops = causes.iter().map(|cause| pipe[format!("dropped_{cause}_packets")].as_f64().unwrap_or(0.0)).sum();
        add("drops", "packets", Some(drops));
        add("delay_mean", "ns", pipe["measured_delay_mean_ns"].as_f64());
        add("delay_p99", "ns", pipe["measured_delay_p99_ns"].as_f64());
    }
    for figure in report["figures"].as_array().into_iter().flatten() {
        let name = (super::text(&figure["name"]), super::text(&figure["unit"]));
        all.extend(figure["value"].as_f64().map(|value| (name, value)));
    }
    all
}

fn judge(
    point: Option<u64>,
    (name, unit): &(String, String),
    then: Option<Sample>,
    now: Option<Sample>,
    tolerance: f64,
) -> Figure {
    let (how, same) = match (then, now) {
        (Some(then), Some(now)) => {
            let allowed = allowed(&then, &now, unit, tolerance);
            let difference = now.mean - then.mean;
            match half_width(&then, &now) {
                Some(half) => {
                    let interval = How::Interval(difference - half, difference + half);
                    (interval, difference.abs() <= half || difference.abs() <= allowed)
                }
                None => (How::Tolerance(allowed), difference.abs() <= allowed),
            }
        }
        _ => (How::Tolerance(0.0), false),
    };
    let (then, now) = (then.map(|then| then.mean), now.map(|now| now.mean));
    Figure { point, name: name.clone(), unit: unit.clone(), then, now, how, same }
}

/// By how much two values may differ: by a share of the larger, and by what chance makes of counts and a busy machine of delays.
fn allowed(then: &Sample, now: &Sample, unit: &str, tolerance: f64) -> f64 {
    let share = tolerance * then.mean.abs().max(now.mean.abs());
    let floor = match unit {
        // Two standard deviations of the difference of two Poisson counts.
        "packets" => 2.0 * (then.mean.abs() + now.mean.abs()).sqrt(),
        "ns" => LEAST_DELAY_NS,
        _ => 0.0,
    };
    share.max(floor)
}

/// Half of the interval that has the difference of two means with 95 % confidence: Welch (1947); if one of them is a single value,
/// with the deviation of the others (Student 1908). None of two single values.
fn half_width(then: &Sample, now: &Sample) -> Option<f64> {
    match (then.deviation, now.deviation) {
        (Some(one), Some(other)) => welch((then.n, one), (now.n, other)),
        (None, None) => None,
        _ => {
            let many = if then.deviation.is_some() { then } else { now };
            let spread = (1.0 + 1.0 / many.n as f64).sqrt();
            Some(student((many.n - 1) as f64) * many.deviation? * spread)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Sample {
        sample(values)
    }

    #[test]
    fn differences_of_means_have_the_intervals_of_the_textbook() {
        // 1, 2, 3 against 4, 6, 8, 10: variances 1/3 and 20/3/4; 2^2/(1/18 + 25/27) = 4.0755 degrees of freedom; SciPy has 3.897975.
        let half = half_width(&of(&[1.0, 2.0, 3.0]), &of(&[4.0, 6.0, 8.0, 10.0])).unwrap();
        assert!((half - 3.897_975).abs() < 1e-6, "{half}");
        // A single value against 1, 2, 3: t(2) sqrt(4/3).
        let single = half_width(&of(&[9.0]), &of(&[1.0, 2.0, 3.0])).unwrap();
        assert!((single - 4.302_653 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-6, "{single}");
        assert_eq!(half_width(&of(&[1.0]), &of(&[2.0])), None);
        assert_eq!(half_width(&of(&[1.0, 1.0]), &of(&[2.0, 2.0])), None);
    }

    #[test]
    fn what_differs_is_told() {
        let same = |then: &[f64], now: &[f64], unit: &str| {
            let name = ("x".to_owned(), unit.to_owned());
            judge(None, &name, Some(of(then)), Some(of(now)), 0.05).same
        };
        assert!(same(&[100.0], &[104.0], "bit/s") && !same(&[100.0], &[106.0], "bit/s"));
        assert!(
            same(&[1e6], &[1.4e6], "ns") && !same(&[1e6], &[1.6e6], "ns"),
            "a busy machine makes short delays longer"
        );
        assert!(same(&[100.0], &[128.0], "packets") && !same(&[100.0], &[140.0], "packets"));
        assert!(same(&[100.0], &[90.0, 120.0, 110.0], "bit/s"), "it is one of them");
        assert!(!same(&[200.0], &[90.0, 120.0, 110.0], "bit/s"));
        assert!(!same(&[100.0, 100.1, 99.9], &[110.0, 110.1, 109.9], "bit/s"));
        assert!(
            same(&[100.0, 100.1, 99.9], &[102.0, 102.1, 101.9], "bit/s"),
            "the interval says no, the tolerance yes"
        );
    }
}
