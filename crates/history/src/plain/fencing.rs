//! Locks with fencing tokens: each acquisition returns a greater token than those before it, and who has seen a token accepts none below it.

use super::objects::{Object, objects};
use crate::error::WrongHistory;
use crate::history::History;
use crate::outcome::{Contradiction, Outcome};
use crate::values::whole;
use std::collections::BTreeMap;

/// An operation with its token.
struct Token {
    index: usize,
    start: usize,
    end: usize,
    token: i64,
}

/// Checks the tokens of all locks.
pub(crate) fn check(history: &History) -> Result<Outcome, WrongHistory> {
    let mut contradictions = Vec::new();
    for object in objects(history) {
        let acquired = tokens(history, &object, "acquire")?;
        let mut known: BTreeMap<i64, usize> = BTreeMap::new();
        for one in &acquired {
            if let Some(first) = known.insert(one.token, one.index) {
                let (token, before, after) = (one.token, history.describe(first), history.describe(one.index));
                let message = format!("the token {token} was given twice: {before}, and {after}");
                contradictions
                    .push(Contradiction::new("duplicate token", message, vec![first, one.index]).about(object.key));
            }
        }
        for (before, after) in backward(&acquired) {
            let (first, then) = (history.describe(before), history.describe(after));
            let message = format!("tokens go back: {then} began after {first}");
            contradictions.push(Contradiction::new("token went back", message, vec![before, after]).about(object.key));
        }
        for (before, after) in backward(&tokens(history, &object, "use")?) {
            let (first, then) = (history.describe(before), history.describe(after));
            let message = format!("an old token was accepted: {then} began after {first}");
            contradictions.push(Contradiction::new("stale token", message, vec![before, after]).about(object.key));
        }
    }
    Ok(Outcome::new("fencing", contradictions, Vec::new()))
}

/// Returns the tokens of a function's calls, in the order of their invocations.
fn tokens(history: &History, object: &Object<'_>, function: &str) -> Result<Vec<Token>, WrongHistory> {
    let mut tokens = Vec::new();
    for (index, operation) in object.done(function) {
        let value = if function == "acquire" { operation.brought() } else { Ok(operation.given()) };
        let token = value.and_then(|value| whole(value, "the token"));
        let token = token.map_err(|message| history.wrong(operation, message))?;
        tokens.push(Token { index, start: operation.start, end: operation.end.unwrap_or(usize::MAX), token });
    }
    Ok(tokens)
}

/// Returns operations with a lower token than one that had ended before they began, each behind that one.
fn backward(tokens: &[Token]) -> Vec<(usize, usize)> {
    let mut by_end: Vec<&Token> = tokens.iter().collect();
    by_end.sort_unstable_by_key(|one| one.end);
    let mut ended = by_end.into_iter().peekable();
    let mut greatest: Option<&Token> = None;
    let mut found = Vec::new();
    for one in tokens {
        while let Some(before) = ended.next_if(|before| before.end < one.start) {
            if greatest.is_none_or(|known| before.token > known.token) {
                greatest = Some(before);
            }
        }
        found.extend(greatest.filter(|known| known.token > one.token).map(|known| (known.index, one.index)));
    }
    found
}
