//! Counters: a read lies between what must have been added by then and what may have been (Jepsen's `counter`).

use super::objects::{Object, objects};
use crate::error::WrongHistory;
use crate::history::{History, Status};
use crate::outcome::{Contradiction, Outcome};
use crate::values::whole;

/// Checks the bounds of all reads.
pub(crate) fn check(history: &History, initial: i64) -> Result<Outcome, WrongHistory> {
    let mut contradictions = Vec::new();
    for object in objects(history) {
        check_object(history, &object, initial, &mut contradictions)?;
    }
    Ok(Outcome::new("counter", contradictions, Vec::new()))
}

fn check_object(
    history: &History,
    object: &Object<'_>,
    initial: i64,
    contradictions: &mut Vec<Contradiction>,
) -> Result<(), WrongHistory> {
    let mut begun = Sums::default();
    let mut ended = Sums::default();
    for (_, add) in object.perhaps("add") {
        let amount = whole(add.given(), "what is added").map_err(|message| history.wrong(add, message))?;
        begun.steps.push((add.start, amount));
        if add.status == Status::Ok {
            ended.steps.extend(add.end.map(|end| (end, amount)));
        }
    }
    begun.add_up();
    ended.add_up();
    for (index, read) in object.done("read") {
        let found = read.brought().and_then(|value| whole(value, "the counter"));
        let found = i128::from(found.map_err(|message| history.wrong(read, message))?);
        let end = read.end.unwrap_or(usize::MAX);
        // What ended before the read began counts whole; of the rest of what began before it ended, each may count or not.
        let (must_more, must_less) = ended.before(read.start);
        let (may_more, may_less) = begun.before(end);
        let must = i128::from(initial) + must_more + must_less;
        let (least, most) = (must + may_less - must_less, must + may_more - must_more);
        if (least..=most).contains(&found) {
            continue;
        }
        let right = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        let message = format!("the counter must be {right} for {}", history.describe(index));
        contradictions.push(Contradiction::new("out of bounds", message, vec![index]).about(object.key));
    }
    Ok(())
}

/// Sums of what is added by a place in the order of events: of positive and of negative amounts.
#[derive(Default)]
struct Sums {
    steps: Vec<(usize, i64)>,
    sums: Vec<(i128, i128)>,
}

impl Sums {
    fn add_up(&mut self) {
        self.steps.sort_unstable();
        let mut sum = (0, 0);
        self.sums = vec![sum];
        for (_, amount) in &self.steps {
            sum = (sum.0 + i128::from((*amount).max(0)), sum.1 + i128::from((*amount).min(0)));
            self.sums.push(sum);
        }
    }

    fn before(&self, place: usize) -> (i128, i128) {
        self.sums[self.steps.partition_point(|(at, _)| *at < place)]
    }
}
