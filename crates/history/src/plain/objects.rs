//! Operations by the object that they are about.

use crate::history::{History, Operation, Status};
use serde_json::Value;
use std::collections::BTreeMap;

/// The operations on one object, with their numbers, in the order of their invocations.
pub(crate) struct Object<'a> {
    pub(crate) key: Option<&'a Value>,
    pub(crate) operations: Vec<(usize, &'a Operation)>,
}

impl<'a> Object<'a> {
    /// Returns the operations of a function that took effect.
    pub(crate) fn done(&self, function: &str) -> impl Iterator<Item = (usize, &'a Operation)> {
        self.of(function).filter(|(_, one)| one.status == Status::Ok)
    }

    /// Returns the operations of a function that took effect, or may have.
    pub(crate) fn perhaps(&self, function: &str) -> impl Iterator<Item = (usize, &'a Operation)> {
        self.of(function).filter(|(_, one)| one.status != Status::Fail)
    }

    /// Returns the operations of a function.
    pub(crate) fn of(&self, function: &str) -> impl Iterator<Item = (usize, &'a Operation)> {
        self.operations.iter().filter(move |(_, one)| one.function == function).copied()
    }
}

/// Returns the objects of a history, by their keys.
pub(crate) fn objects(history: &History) -> Vec<Object<'_>> {
    let mut objects: BTreeMap<String, Object<'_>> = BTreeMap::new();
    for (index, operation) in history.operations.iter().enumerate() {
        let fresh = || Object { key: operation.key.as_ref(), operations: Vec::new() };
        objects.entry(operation.key_text()).or_insert_with(fresh).operations.push((index, operation));
    }
    objects.into_values().collect()
}
