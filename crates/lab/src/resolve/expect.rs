//! Expectations and figures: what their names mean in this lab.

use crate::decode::exercise::TaskSpec;
use crate::diagnostics::Spanned;
use crate::errors::{Errors, LeftOut};
use crate::expect::{
    self, ExpectError, Expectation, Figure, Names, OnAir, OverRuns, Parsed, Sampled, Subject, Term, Wrong,
};
use crate::plan::{Action, Event, ExercisePlan, MeasurePlan, TaskPlan, Treatment};
use crate::spec::{LinkSpec, MediumSpec, NodeSpec, Spec};

/// What is expected, and what is measured by name.
pub(super) struct Expected {
    pub(super) expect: Vec<Expectation>,
    pub(super) over_runs: Vec<OverRuns>,
    pub(super) figures: Vec<Figure>,
    pub(super) exercise: Option<ExercisePlan>,
}

/// Reads all of them.
pub(super) fn resolve(
    (lab, spec): (&str, &Spec),
    timeline: &[Event],
    left_out: &LeftOut,
    errors: &mut Errors,
) -> Expected {
    let commands: Vec<(String, usize, usize)> = timeline
        .iter()
        .enumerate()
        .filter_map(|(index, event)| match &event.action {
            Action::Run(run) => Some((run.name.clone(), index, run.node)),
            _ => None,
        })
        .collect();
    let of_pipe = |treatment: &Treatment| treatment.name.clone();
    let of_link = |link: &LinkSpec| link.treatments.each_ref().map(|further| further.iter().map(of_pipe).collect());
    let pipes: Vec<[Vec<String>; 2]> = spec.links.iter().map(of_link).collect();
    let links: Vec<String> = spec.links.iter().map(|link| link.name.value.clone()).collect();
    let nodes: Vec<_> = spec.nodes.iter().map(|node| (node.name.value.clone(), sampled(node, spec.measure))).collect();
    let air: Vec<_> = spec.links.iter().map(on_air).collect();
    let addresses = errors.nodes().cloned();
    let mut reader = Reader { spec, is_complete: !left_out.commands && !left_out.links && !left_out.nodes, errors };
    let without_figures = Names {
        commands: &commands,
        links: &links,
        pipes: &pipes,
        nodes: &nodes,
        air: &air,
        figures: &[],
        points: &spec.points,
        addresses: addresses.as_ref(),
    };
    let mut figures: Vec<Figure> = Vec::new();
    for (name, text) in &spec.figures {
        let figure = reader.figure(name, text, &Names { figures: &figures, ..without_figures });
        figures.extend(figure);
    }
    let names = Names { figures: &figures, ..without_figures };
    let (mut expect, mut over_runs) = (Vec::new(), Vec::new());
    for (item, written) in spec.expect.iter().enumerate() {
        let (line, text) = (written.span.line, written.value.trim().to_owned());
        match reader.expectation(written, &names) {
            Some(Parsed::Run(term, test)) => expect.push(Expectation { line, text, term: *term, test }),
            Some(Parsed::Runs(test)) => over_runs.push(OverRuns { item, line, text, test }),
            None => {}
        }
    }
    for written in spec.hunt.iter().flat_map(super::hunt::expectations) {
        if let Some(Parsed::Runs(_)) = reader.expectation(written, &names) {
            reader.errors.push(
                written.error("a property of a hunt is of one run: say what must hold in it, without `over runs`"),
            );
        }
    }
    let exercise = spec.exercise.as_ref().map(|exercise| ExercisePlan {
        title: exercise.title.clone().unwrap_or_else(|| lab.to_owned()),
        text: exercise.text.clone(),
        tasks: exercise.tasks.iter().map(|task| reader.task(task, &names)).collect(),
    });
    Expected { expect, over_runs, figures, exercise }
}

/// The stations of a link that is a radio medium.
fn on_air(link: &LinkSpec) -> Option<OnAir> {
    let medium = &link.shared.as_ref()?.value;
    let stations = link.ends.iter().map(|end| end.node.value.clone()).collect();
    let has_signals = matches!(medium, MediumSpec::Wifi(wifi) if wifi.signals.is_some());
    medium.is_radio().then_some(OnAir { stations, has_signals })
}

fn sampled(node: &NodeSpec, usual: MeasurePlan) -> Sampled {
    let measured = node.measured(usual);
    Sampled { tcp: measured.tcp.is_some(), node: measured.node.is_some() }
}

struct Reader<'a> {
    spec: &'a Spec,
    /// Whether everything that has a name could be read.
    is_complete: bool,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn expectation(&mut self, text: &Spanned<String>, names: &Names<'_>) -> Option<Parsed> {
        let parsed = self.known(expect::parse(&text.value, names), text)?;
        let (left, test) = match &parsed {
            Parsed::Run(left, test) | Parsed::Runs(expect::RunsTest::Holds(left, test)) => (&**left, test),
            Parsed::Runs(expect::RunsTest::AllAsDescribed) => return Some(parsed),
        };
        std::iter::once(left).chain(test.terms()).for_each(|term| self.check(term, text));
        Some(parsed)
    }

    /// What could not be read of it is left out; the errors are noted.
    fn task(&mut self, task: &TaskSpec, names: &Names<'_>) -> TaskPlan {
        let checks = task.check.iter().filter_map(|written| self.task_check(task, written, names)).collect();
        TaskPlan {
            line: task.title.span.line,
            title: task.title.value.clone(),
            text: task.text.clone(),
            checks,
            last: task.last,
            hints: task.hints.clone(),
        }
    }

    fn task_check(&mut self, task: &TaskSpec, written: &Spanned<String>, names: &Names<'_>) -> Option<Expectation> {
        let Parsed::Run(term, test) = self.expectation(written, names)? else {
            self.errors.push(written.error("a task is of one run: say what must hold in it, without `over runs`"));
            return None;
        };
        let (line, text) = (written.span.line, written.value.trim().to_owned());
        let check = Expectation { line, text, term: *term, test };
        if task.last.is_some() && check.terms().any(|own| own.window.is_some()) {
            self.errors.push(written.error("`during` and the task's `last` both say what to look at: leave one out"));
        }
        Some(check)
    }

    fn figure(&mut self, name: &str, text: &Spanned<String>, names: &Names<'_>) -> Option<Figure> {
        let (term, unit) = self.known(expect::parse_figure(&text.value, names), text)?;
        self.check(&term, text);
        // The lab files of a sweep's runs have these; nothing varies in them.
        if name.starts_with(OverRuns::FIGURE) && !self.spec.points.groups.is_empty() {
            let own = OverRuns::FIGURE;
            self.errors.push(text.error(format!(
                "figure `{name}`: names that begin with `{own}` are those of what is expected over runs: choose another"
            )));
        }
        Some(Figure { name: name.to_owned(), line: text.span.line, text: text.value.trim().to_owned(), term, unit })
    }

    /// That a link has such a direction, and that the run lasts as long.
    fn check(&mut self, term: &Term, text: &Spanned<String>) {
        if let Subject::Link { link, direction, .. } = &term.subject {
            self.errors.extend(self.spec.links[*link].without_direction(*direction, text));
        }
        let late = term.window.zip(self.spec.duration).filter(|(window, duration)| window.to > *duration);
        self.errors.extend(
            late.map(|(late, duration)| {
                text.error(format!("`during` ends at {}, after the run's {duration}", late.to))
            }),
        );
    }

    /// What was read, or none after an error was noted.
    fn known<T>(&mut self, read: Result<T, ExpectError>, text: &Spanned<String>) -> Option<T> {
        let error = match read {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let is_told = match error.kind {
            Wrong::Other => true,
            // What it names may be what could not be read.
            Wrong::Subject => self.is_complete,
            Wrong::Elsewhere => false,
        };
        if is_told {
            self.errors.push(text.error_at(error.at, error.message));
        }
        None
    }
}
