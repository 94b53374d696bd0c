//! Numbers of the page: many, so each is as short as it can be.

use serde::Serializer;
use serde::ser::SerializeSeq;

/// A whole number without a point, others with what digits they have.
pub(super) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // All whole numbers below 2^53 are exact.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

/// A column of them; null where there is none.
pub(super) fn column<S: Serializer>(values: &[Option<f64>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(values.len()))?;
    for value in values {
        match value {
            Some(value) if value.fract() == 0.0 && value.abs() < 9e15 => list.serialize_element(&(*value as i64))?,
            other => list.serialize_element(other)?,
        }
    }
    list.end()
}

/// A column in which each has a value.
pub(super) fn full<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let all: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    column(&all, serializer)
}

/// Seconds to the microsecond: more digits would only be those of binary fractions.
pub(super) fn seconds(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
