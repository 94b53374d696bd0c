//! Accounts: transfers between them leave their sum as it is, in every read.

use super::objects::objects;
use crate::error::WrongHistory;
use crate::history::{History, Operation};
use crate::outcome::{Contradiction, Outcome};
use crate::values::{shown, whole};
use netloom_units::quantity;

/// Checks the sum of all reads.
pub(crate) fn check(history: &History, total: Option<i64>) -> Result<Outcome, WrongHistory> {
    let (mut contradictions, mut notes) = (Vec::new(), Vec::new());
    let mut negative = 0;
    for object in objects(history) {
        let mut right = total.map(|total| (i128::from(total), None));
        for (index, read) in object.done("read") {
            let balances = balances(read).map_err(|message| history.wrong(read, message))?;
            let sum: i128 = balances.iter().map(|balance| i128::from(*balance)).sum();
            negative += usize::from(balances.iter().any(|balance| *balance < 0));
            let (wanted, first) = *right.get_or_insert((sum, Some(index)));
            if sum == wanted {
                continue;
            }
            let whence = first.map_or_else(String::new, |first| format!(", as {} had it", history.place(first)));
            let message = format!(
                "the accounts must have {wanted} together{whence}, and have {sum} in {}",
                history.describe(index)
            );
            let operations = first.into_iter().chain([index]).collect();
            contradictions.push(Contradiction::new("wrong total", message, operations).about(object.key));
        }
    }
    if negative > 0 {
        notes.push(format!("{} shows an account below 0", quantity::counted(negative, "read")));
    }
    Ok(Outcome::new("bank", contradictions, notes))
}

/// Returns the balances of a read: an object of them by account.
fn balances(read: &Operation) -> Result<Vec<i64>, String> {
    let value = read.brought()?;
    let wrong =
        || format!("`value` is {}: balances by account, as in {{\"a\": 10, \"b\": 5}}, would be right", shown(value));
    let accounts = value.as_object().ok_or_else(wrong)?;
    accounts.values().map(|balance| whole(balance, "a balance")).collect()
}
