//! The journal: names of links become places.

use super::names::Index;
use super::place;
use crate::errors::Errors;
use crate::journal::JournalSpec;
use crate::plan::JournalPlan;
use crate::spec::LinkSpec;

/// The journal; links that do not exist are noted and left out.
pub(super) fn resolve(
    spec: Option<JournalSpec>,
    index: &Index<'_>,
    links: &[LinkSpec],
    errors: &mut Errors,
) -> Option<JournalPlan> {
    let JournalSpec { pipes, filter, limit } = spec?;
    let links = pipes.map(|pipes| {
        let mut meant = Vec::new();
        for (name, direction) in pipes {
            let Some(link) = place(index, &name, errors) else { continue };
            errors.extend(links[link].without_direction(direction, &name));
            if meant.contains(&(link, direction)) {
                errors.push(name.error(format!("`{}` stands here twice: leave one of them out", name.value)));
            }
            meant.push((link, direction));
        }
        meant
    });
    Some(JournalPlan { links, filter, limit })
}
