//! Terms: what is measured, in which unit, and how one number becomes of it.

use super::{Figure, FigureUnit, Function, Subject, Window};

/// A measured quantity: a subject, and the functions that reduce its values to one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The text of the term, as the lab file has it.
    pub text: String,
    /// The part of the lab that is measured, with its metric.
    pub subject: Subject,
    /// The functions that reduce the many values of a run to one, the inner function first.
    pub functions: Vec<Function>,
    /// The part of the run that counts; none: all of it.
    pub window: Option<Window>,
    /// The factor by which the value is multiplied to be in the unit of its dimension: the lab file gives it for what a program prints.
    pub factor: f64,
    /// The aggregation of the values of many runs; none: the term is of a single run.
    pub over: Option<Over>,
    /// The dimension of the result.
    pub dimension: Dimension,
}

/// An aggregation of the values of many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// The function that reduces the values to one.
    pub function: Function,
    /// The conditions that all hold at the runs that count.
    pub conditions: Vec<Condition>,
    /// Whether the conditions hold at the point that was read.
    pub is_here: bool,
    /// The text of the term that each run has a value of.
    pub inner: String,
    /// The name of the figure that this term is; none: the term has no name.
    pub figure: Option<String>,
}

/// How many values something has within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// One.
    One,
    /// Many, of which one is made in a known way if no function is named.
    Optional,
    /// Many, of which a function has to make one.
    Needed,
}

impl Term {
    /// Looks at this part of the run, if it has parts and none is named.
    pub(super) fn limit(&mut self, window: Window) {
        if self.window.is_none() && self.subject.can_be_windowed() {
            self.window = Some(window);
        }
    }

    /// What is measured as it is, over a whole run.
    pub(crate) fn plain(text: &str, subject: Subject) -> Self {
        let dimension = subject.dimension();
        Self { text: text.to_owned(), subject, functions: Vec::new(), window: None, factor: 1.0, over: None, dimension }
    }

    /// What a figure is, under its name.
    pub(crate) fn of_figure(figure: &Figure) -> Self {
        let dimension =
            if figure.term.dimension == Dimension::Json { figure.unit.dimension() } else { figure.term.dimension };
        Self { text: figure.name.clone(), factor: figure.unit.factor, dimension, ..figure.term.clone() }
    }

    /// Returns the function that reduces the values over time to one, and the function that reduces the values of all flows to one.
    pub fn steps(&self) -> (Option<Function>, Option<Function>) {
        let flows = usize::from(self.subject.is_of_flows());
        let (series, flows) = self.functions.split_at(self.functions.len().saturating_sub(flows));
        (series.first().copied(), flows.first().copied())
    }

    /// Takes in what is around it.
    pub(super) fn reduce(&mut self, function: Function) {
        self.functions.push(function);
        if function.is_bare() {
            self.dimension = Dimension::Number;
        }
    }

    /// Moves the outermost function to what becomes of the values of many runs.
    pub(super) fn over_runs(&mut self, over: impl FnOnce(Function) -> Over) -> Result<(), String> {
        let function = self.functions.pop();
        let function = function.ok_or_else(|| {
            let own = &self.text;
            format!("`{own}` has a value in each run: say what becomes of them, for example mean({own}) or min({own})")
        })?;
        self.over = Some(over(function));
        Ok(())
    }

    /// Whether the functions make one number of what a run has.
    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        if self.dimension == Dimension::Text && self.over.is_some() {
            return Err(format!("`{name}` is a text, of which nothing can be reckoned"));
        }
        let spread = self.subject.spread();
        let flows = usize::from(self.subject.is_of_flows());
        let least = flows + usize::from(spread == Spread::Needed);
        let most = flows + usize::from(spread != Spread::One);
        let count = self.functions.len();
        if count < least {
            return Err(self.too_few(name, flows == 1, spread));
        }
        if count > most {
            let outer = self.functions[count - 1];
            return Err(match most {
                0 => {
                    format!("`{name}` is one value in a run: {outer} needs many, as `over runs` at the end gives them")
                }
                _ => format!(
                    "`{name}` has one value left for {outer}, which needs many: `over runs` at the end gives them"
                ),
            });
        }
        match self.steps().0.filter(|function| !function.is_of_series()) {
            Some(function) if flows == 0 => {
                Err(format!("{function} means nothing of `{name}`: it is for flows and for runs"))
            }
            Some(function) => Err(format!("{function} means nothing within a flow: it is for flows and for runs")),
            None => Ok(()),
        }
    }

    fn too_few(&self, name: &str, of_flows: bool, spread: Spread) -> String {
        if of_flows && (self.functions.len() == 1 || spread != Spread::Needed) {
            let inner = if spread == Spread::Needed { format!("max({name})") } else { name.to_owned() };
            return format!(
                "`{name}` has a value for each flow: say what becomes of them, for example min({inner}) or jain({inner})"
            );
        }
        if of_flows {
            return format!(
                "`{name}` has many values for each flow: say what becomes of them, for example max(mean({name}))"
            );
        }
        format!(
            "`{name}` has many values in a run: say which one, for example max({name}), mean({name}) or p99({name})"
        )
    }
}

impl Subject {
    /// How many values it has within a run, or within each flow.
    pub(crate) fn spread(&self) -> Spread {
        match self {
            Self::Command { .. } => Spread::One,
            Self::Link { station: Some(_), .. } => Spread::One,
            Self::Link { metric, .. } => metric.spread(),
            Self::Node { metric, .. } => metric.spread(),
            Self::Tcp { metric, .. } => metric.spread(),
        }
    }

    /// Whether each of several flows has a value.
    pub fn is_of_flows(&self) -> bool {
        matches!(self, Self::Tcp { each: true, .. })
    }

    /// Whether a part of the run can be looked at.
    pub(crate) fn can_be_windowed(&self) -> bool {
        !matches!(self, Self::Command { .. })
    }
}

impl FigureUnit {
    /// The unit of what has this dimension, if the lab file says nothing of it.
    pub(crate) fn of(dimension: Dimension) -> Self {
        let name = match dimension {
            Dimension::Rate => "bit/s",
            Dimension::Duration => "ns",
            Dimension::Share => "share",
            Dimension::Packets => "packets",
            Dimension::Bytes => "B",
            Dimension::Number | Dimension::Text | Dimension::Json => "",
        };
        Self { name, factor: 1.0 }
    }

    /// The dimension of what has this unit.
    pub(crate) fn dimension(self) -> Dimension {
        match self.name {
            "bit/s" => Dimension::Rate,
            "ns" => Dimension::Duration,
            "share" => Dimension::Share,
            "packets" => Dimension::Packets,
            "B" => Dimension::Bytes,
            _ => Dimension::Json,
        }
    }
}

/// A condition on the runs of a sweep: a parameter has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The parameter.
    pub parameter: String,
    /// The value of the parameter, as tables show it.
    pub value: String,
}

/// The unit in which something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A bare number.
    Number,
    /// Bits per second.
    Rate,
    /// Nanoseconds.
    Duration,
    /// A share: 1 is all of it.
    Share,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// A text.
    Text,
    /// A number or a text from a JSON document.
    Json,
}
