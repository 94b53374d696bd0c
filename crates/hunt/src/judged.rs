//! The judgement on a run, which is put together from what each property shows.

use crate::failure::Failure;
use netloom_lab::{Modality, PropertyPlan};

/// The judgement on a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// The properties that did not hold.
    pub(crate) failures: Vec<Failure>,
    /// The texts of what must hold sometimes, and did.
    pub(crate) reached: Vec<String>,
    /// The texts of what programs say must hold sometimes, and did not.
    pub(crate) wanted: Vec<String>,
    /// The texts of what the run does not decide.
    pub(crate) undecided: Vec<String>,
    /// All that its logs show, as numbers.
    pub(crate) behaviours: Vec<u64>,
    /// Why the run shows nothing.
    pub(crate) error: Option<String>,
}

impl Judged {
    pub(crate) fn error(why: impl Into<String>) -> Self {
        Self { error: Some(why.into()), ..Self::default() }
    }

    /// Adds what a property shows.
    pub(crate) fn add(&mut self, property: &PropertyPlan, held: &Held) {
        let Some(holds) = held.holds else {
            self.undecided.push(property.text.clone());
            return;
        };
        let fails = match property.modality {
            Modality::Always | Modality::Eventually => !holds,
            Modality::Never => holds,
            Modality::Sometimes => {
                self.reached.extend(holds.then(|| property.text.clone()));
                false
            }
        };
        if fails {
            self.failures.push(Failure::new(name(property), &held.said));
        }
    }
}

/// The name of a property in failures.
pub(crate) fn name(property: &PropertyPlan) -> String {
    format!("{} {}", property.modality.name(), property.text)
}

/// Whether a property holds, and what was said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Whether it holds; none if the run does not decide it.
    pub(crate) holds: Option<bool>,
    pub(crate) said: String,
}

impl Held {
    pub(crate) fn of(holds: bool, said: &str) -> Self {
        Self { holds: Some(holds), said: said.to_owned() }
    }

    pub(crate) fn undecided(said: &str) -> Self {
        Self { holds: None, said: said.to_owned() }
    }
}
