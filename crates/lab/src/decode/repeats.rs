//! When entries of the timeline happen, and where.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, LinkName, Word};
use crate::keys::{DRAWN, Times};
use crate::names::name_of;
use crate::plan::Direction;
use crate::scalar::{duration_or_zero, positive_duration};
use crate::spec::{AgainSpec, PartSpec, SpanSpec, When};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// When an entry happens.
pub(super) fn when(fields: &Fields<'_>, errors: &mut Errors) -> When {
    When { again: again(fields, errors), ..once(fields, errors) }
}

/// When an entry happens that cannot happen again.
pub(super) fn once(fields: &Fields<'_>, errors: &mut Errors) -> When {
    When { at: fields.get("at").and_then(|value| span(value, duration_or_zero, errors)), ..When::default() }
}

/// The time of this key; if it is drawn, that goes to `drawn`, and what is here stands for it.
pub(super) fn length(
    fields: &Fields<'_>,
    key: &str,
    drawn: &mut Option<SpanSpec>,
    errors: &mut Errors,
) -> Option<Duration> {
    let span = fields.get(key).and_then(|value| span(value, positive_duration, errors))?;
    let stands_for = match span {
        SpanSpec::Fixed(time) => return Some(time),
        SpanSpec::Uniform(_, most) => most,
        SpanSpec::Exponential(mean) => mean,
    };
    *drawn = Some(span);
    Some(stands_for)
}

fn again(fields: &Fields<'_>, errors: &mut Errors) -> Option<AgainSpec> {
    let times = fields.form::<Times>("times", errors);
    let until = fields.form::<AboveZero<Duration>>("until", errors);
    let Some(node) = fields.get("every") else {
        for key in ["times", "until"] {
            errors
                .extend(fields.get(key).map(|value| value.error(format!("`{key}` needs `every`, as in `every: 5 s`"))));
        }
        return None;
    };
    let every = node.spanned(span(node, positive_duration, errors)?);
    if fields.get("times").is_none() && fields.get("until").is_none() {
        errors.push(node.error("how often? Add `times: 10` or `until: 60 s`"));
    }
    if times.is_none() && until.is_none() {
        return None;
    }
    Some(AgainSpec { every, times, until })
}

/// A span of time, or how it is drawn.
fn span(node: &Node, fixed: impl Fn(&Node) -> Result<Duration, Diagnostic>, errors: &mut Errors) -> Option<SpanSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(fixed(node), errors).map(SpanSpec::Fixed);
    }
    let before = errors.len();
    let fields = Fields::open(node, &DRAWN, errors)?;
    let uniform = fields.get("uniform").and_then(|value| uniform(value, errors));
    let mean = fields.form::<AboveZero<Duration>>("mean", errors);
    if errors.len() > before {
        return None;
    }
    match (uniform, mean) {
        (Some(uniform), None) => Some(uniform),
        (None, Some(mean)) => Some(SpanSpec::Exponential(mean)),
        _ => errors.reject(node.error("write one of `uniform: [1 s, 5 s]` and `mean: 2 s`")),
    }
}

fn uniform(node: &Node, errors: &mut Errors) -> Option<SpanSpec> {
    let ends: Vec<_> = list(node, errors).iter().map(|end| keep(duration_or_zero(end), errors)).collect();
    match ends[..] {
        [Some(least), Some(most)] if least < most => Some(SpanSpec::Uniform(least, most)),
        [None, _] | [_, None] => None,
        _ => errors.reject(node.error("write two times, the shorter one first: `[1 s, 5 s]`")),
    }
}

/// Reads which part of a link is changed, cut or restored.
pub(super) fn part(fields: &Fields<'_>, errors: &mut Errors) -> Option<PartSpec> {
    let direction = fields.form::<Word<Direction>>("direction", errors);
    let pipe = fields.read("pipe", name_of("a further pipe"), errors);
    let link = fields.form::<LinkName>("link", errors)?;
    Some(PartSpec { link, direction, pipe })
}

/// The nodes of a command: one name or pattern, or a list of them.
pub(super) fn places(node: &Node, errors: &mut Errors) -> Vec<Spanned<String>> {
    match &node.content {
        Content::List(items) if items.is_empty() => {
            errors.push(node.expected("the nodes that it runs on, like `[c1, c2]`"));
            Vec::new()
        }
        Content::List(items) => items.iter().filter_map(|item| keep(name_of("a node")(item), errors)).collect(),
        _ => keep(name_of("a node")(node), errors).into_iter().collect(),
    }
}
