//! One measured figure beside its goal.

use serde_json::{Value, json};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) finding: Finding,
    /// What else there is to say.
    pub(crate) remark: String,
}

/// What a case found out.
#[derive(Clone, Debug)]
pub(crate) enum Finding {
    /// A number, measured in one or several rounds.
    Number(Figure),
    /// Something that no single number says.
    Told { goal: String, measured: String, met: Option<bool> },
    /// Nothing: the remark says why.
    Absent,
}

/// A number and what it is to be.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Of the samples, and of those that they are compared with.
    pub(crate) unit: &'static str,
    /// One for each round; at least one.
    pub(crate) samples: Vec<f64>,
    /// What was measured beside it, in the same run; the goal is then one for the ratio.
    pub(crate) against: Option<Against>,
    pub(crate) goal: Option<Goal>,
}

/// What a figure is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Against {
    pub(crate) what: &'static str,
    pub(crate) samples: Vec<f64>,
}

/// A bound for a figure, in its unit, or for its ratio to what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Row {
    /// A number without a goal; an error if nothing was measured.
    pub(crate) fn number(what: impl Into<String>, unit: &'static str, samples: Vec<f64>) -> Result<Self, String> {
        let what = what.into();
        if samples.is_empty() {
            return Err(format!("{what}: no value was measured"));
        }
        let finding = Finding::Number(Figure { unit, samples, against: None, goal: None });
        Ok(Self { what, finding, remark: String::new() })
    }

    /// What one number cannot say.
    pub(crate) fn told(
        what: impl Into<String>,
        goal: impl Into<String>,
        measured: impl Into<String>,
        met: Option<bool>,
    ) -> Self {
        let finding = Finding::Told { goal: goal.into(), measured: measured.into(), met };
        Self { what: what.into(), finding, remark: String::new() }
    }

    /// Not measured, for this reason.
    pub(crate) fn absent(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { what: what.into(), finding: Finding::Absent, remark: reason.into() }
    }

    pub(crate) fn goal(mut self, goal: Goal) -> Self {
        if let Finding::Number(figure) = &mut self.finding {
            figure.goal = Some(goal);
        }
        self
    }

    /// Compares with what was measured in the same run, or with what is known; nothing if there is nothing to compare with.
    pub(crate) fn against(mut self, what: &'static str, samples: Vec<f64>) -> Self {
        if let Finding::Number(figure) = &mut self.finding {
            figure.against = (!samples.is_empty()).then_some(Against { what, samples });
        }
        self
    }

    pub(crate) fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = remark.into();
        self
    }

    /// The same row for a table of many cases.
    pub(crate) fn under(&self, case: &str) -> Self {
        Self { what: format!("{case}: {}", self.what), ..self.clone() }
    }

    /// Whether the goal was met; none where there is no goal, or no figure.
    pub(crate) fn met(&self) -> Option<bool> {
        match &self.finding {
            Finding::Number(figure) => figure.met(),
            Finding::Told { met, .. } => *met,
            Finding::Absent => None,
        }
    }

    /// The cells of the table: what, goal, measured, ratio, spread, and the last with all that is said in words.
    pub(crate) fn cells(&self) -> [String; 6] {
        let mut last = vec![self.met().map_or("", |met| if met { "met" } else { "MISSED" }), &self.remark];
        last.retain(|word| !word.is_empty());
        let last = last.join("; ");
        let what = self.what.clone();
        match &self.finding {
            Finding::Number(figure) => {
                let [goal, measured, ratio, spread] = figure.cells();
                [what, goal, measured, ratio, spread, last]
            }
            Finding::Told { goal, measured, .. } => {
                [what, goal.clone(), measured.clone(), String::new(), String::new(), last]
            }
            Finding::Absent => [what, String::new(), "-".to_owned(), String::new(), String::new(), last],
        }
    }

    /// The row for programs: numbers in the unit that it names.
    pub(crate) fn json(&self, case: &str) -> Value {
        let mut value = match &self.finding {
            Finding::Number(figure) => figure.json(),
            Finding::Told { goal, measured, .. } => json!({"told": {"goal": goal, "measured": measured}}),
            Finding::Absent => json!({"measured": null}),
        };
        value["case"] = case.into();
        value["what"] = self.what.as_str().into();
        value["met"] = self.met().into();
        value["remark"] = self.remark.as_str().into();
        value
    }
}

impl Figure {
    pub(crate) fn median(&self) -> f64 {
        middle(&self.samples)
    }

    /// To what it is compared with; else to the goal; none where there is neither.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let median = self.median();
        if let Some(against) = &self.against {
            return Some(median / middle(&against.samples)).filter(|ratio| ratio.is_finite());
        }
        match self.goal? {
            Goal::AtLeast(bound) | Goal::AtMost(bound) => Some(median / bound),
            Goal::Within(_, most) => Some(median.abs() / most),
        }
    }

    /// What the goal is for: the ratio if the figure is compared with something, else the figure.
    fn judged(&self) -> Option<f64> {
        if self.against.is_some() { self.ratio() } else { Some(self.median()) }
    }

    fn met(&self) -> Option<bool> {
        let goal = self.goal?;
        Some(self.judged().is_some_and(|value| goal.is_met(value)))
    }

    /// How far a round was from the goal: from 1 on the goal is met, 2 is twice as good. None without a goal.
    pub(crate) fn margin(&self, sample: f64) -> Option<f64> {
        let goal = self.goal?;
        let value = self.against.as_ref().map_or(sample, |against| sample / middle(&against.samples));
        Some(goal.margin(value)).filter(|margin| margin.is_finite())
    }

    fn cells(&self) -> [String; 4] {
        let of = self.against.as_ref().map(|against| format!(" of {}", against.what));
        let goal = self.goal.map(|goal| goal.words(of.as_deref().unwrap_or(&format!(" {}", self.unit))));
        let ratio = match (&self.against, self.ratio()) {
            (Some(against), Some(ratio)) => {
                format!("{} of {} {}", number(ratio), number(middle(&against.samples)), self.unit)
            }
            (None, Some(ratio)) => number(ratio),
            (_, None) => String::new(),
        };
        let measured = format!("{} {}", number(self.median()), self.unit);
        [goal.unwrap_or_default(), measured, ratio, spread(&self.samples)]
    }

    fn json(&self) -> Value {
        let (least, greatest) = ends(&self.samples);
        json!({
            "unit": self.unit,
            "goal": self.goal.map(|goal| goal.json(self.against.is_some())),
            "measured": self.median(),
            "ratio": self.ratio(),
            "least": least,
            "greatest": greatest,
            "rounds": self.samples.len(),
            "samples": self.samples,
            "compared": self.against.as_ref().map(|against| {
                let (low, high) = ends(&against.samples);
                json!({
                    "what": against.what,
                    "measured": middle(&against.samples),
                    "least": low,
                    "greatest": high,
                    "rounds": against.samples.len(),
                })
            }),
        })
    }
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
            Self::Within(least, most) => (least..=most).contains(&value),
        }
    }

    fn margin(self, value: f64) -> f64 {
        match self {
            Self::AtLeast(least) => value / least,
            // What is better than nothing at all is as good as can be shown.
            Self::AtMost(most) => most / value.max(most / 1e3),
            Self::Within(least, most) => {
                let (centre, half) = (f64::midpoint(least, most), (most - least) / 2.0);
                half / (value - centre).abs().max(half / 1e3)
            }
        }
    }

    /// `of` follows the numbers: a unit, or what a ratio is to.
    fn words(self, of: &str) -> String {
        match self {
            Self::AtLeast(least) => format!("at least {}{of}", number(least)),
            Self::AtMost(most) => format!("at most {}{of}", number(most)),
            Self::Within(least, most) if (least + most).abs() < f64::EPSILON => format!("within ±{}{of}", number(most)),
            Self::Within(least, most) => format!("{} to {}{of}", number(least), number(most)),
        }
    }

    fn json(self, for_ratio: bool) -> Value {
        let judges = if for_ratio { "ratio" } else { "measured" };
        match self {
            Self::AtLeast(least) => json!({"direction": "at-least", "least": least, "of": judges}),
            Self::AtMost(most) => json!({"direction": "at-most", "most": most, "of": judges}),
            Self::Within(least, most) => {
                json!({"direction": "within", "least": least, "most": most, "of": judges})
            }
        }
    }
}

/// The rows as aligned text.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["case", "goal", "measured", "ratio", "spread", ""].map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        // What stands in words is long, and would make the columns of all numbers wide.
        let fits = |cell: &&String| column == 0 || cell.chars().count() <= 36;
        let cells = lines.iter().map(|line| &line[column]);
        cells.filter(fits).map(|cell| cell.chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for line in &lines {
        let padded: Vec<String> =
            line.iter().zip(widths.iter().chain([&0])).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The middle value; the lower of the two middle ones.
pub(crate) fn median(values: &[f64]) -> Result<f64, String> {
    if values.is_empty() { Err("no value was measured".to_owned()) } else { Ok(middle(values)) }
}

fn middle(values: &[f64]) -> f64 {
    crate::quantile::of(values, 0.5).unwrap_or(f64::NAN)
}

/// The least and the greatest.
pub(crate) fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(*value), high.max(*value)))
}

/// The least and the greatest of several rounds, and how many.
fn spread(values: &[f64]) -> String {
    if values.len() < 2 {
        return "one round".to_owned();
    }
    let (least, greatest) = ends(values);
    format!("{} to {} ({})", number(least), number(greatest), values.len())
}

/// With four digits that count at most, and none behind the point that say nothing.
pub(crate) fn number(value: f64) -> String {
    let before = if value.abs() < 1.0 { 1 } else { value.abs().log10() as usize + 1 };
    let text = format!("{value:.0$}", 4_usize.saturating_sub(before).min(3));
    match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(samples: &[f64]) -> Row {
        Row::number("a figure", "Gbit/s", samples.to_vec()).unwrap()
    }

    #[test]
    fn the_median_counts_and_is_judged_by_its_ratio_to_what_it_is_compared_with() {
        let row = row(&[9.0, 8.0, 30.0]).against("plain veth", vec![10.0, 9.0, 12.0]).goal(Goal::AtLeast(0.85));
        assert_eq!(row.met(), Some(true));
        assert_eq!(
            row.cells(),
            ["a figure", "at least 0.85 of plain veth", "9 Gbit/s", "0.9 of 10 Gbit/s", "8 to 30 (3)", "met"]
        );
        let json = row.json("streams");
        assert_eq!((json["measured"].as_f64(), json["ratio"].as_f64()), (Some(9.0), Some(0.9)));
        assert_eq!((json["least"].as_f64(), json["greatest"].as_f64()), (Some(8.0), Some(30.0)));
        assert_eq!((&json["goal"]["direction"], &json["goal"]["of"]), (&"at-least".into(), &"ratio".into()));
        assert_eq!(json["compared"]["what"], "plain veth");
    }

    #[test]
    fn without_a_comparison_the_ratio_is_that_to_the_goal() {
        let slow = row(&[6.0]).goal(Goal::AtLeast(8.0));
        assert_eq!((slow.met(), slow.cells()[3].as_str()), (Some(false), "0.75"));
        let off = row(&[-30.0]).goal(Goal::Within(-20.0, 20.0));
        assert_eq!((off.met(), off.cells()[1].as_str()), (Some(false), "within ±20 Gbit/s"));
        assert_eq!(row(&[1.0]).met(), None);
    }

    #[test]
    fn a_margin_from_one_on_means_met_whatever_the_direction() {
        for (goal, good, bad) in
            [(Goal::AtLeast(8.0), 9.0, 7.0), (Goal::AtMost(8.0), 7.0, 9.0), (Goal::Within(4.0, 8.0), 7.9, 8.1)]
        {
            assert!(goal.margin(good) > 1.0 && goal.is_met(good), "{goal:?}");
            assert!(goal.margin(bad) < 1.0 && !goal.is_met(bad), "{goal:?}");
        }
    }

    #[test]
    fn nothing_measured_is_an_error_or_says_why() {
        assert!(Row::number("a figure", "us", Vec::new()).is_err());
        let absent = Row::absent("mahimahi", "not installed");
        assert_eq!((absent.met(), absent.cells()[5].as_str()), (None, "not installed"));
        assert!(absent.json("emulators")["measured"].is_null());
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.996, 9.5, 24.46, 99.87, 1234.5, 400.0, -0.25].map(number);
        assert_eq!(texts, ["0", "0.996", "9.5", "24.46", "99.87", "1234", "400", "-0.25"]);
    }
}
