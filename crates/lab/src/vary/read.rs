//! What `vary`, `repeat` and `sweep` say.

use super::values::{MOST_VALUES, Quantity, Scale, spread, steps};
use super::{Group, Parameter, Processors, SweepSettings, Varied, csv, path, placeholder};
use crate::diagnostics::{Diagnostic, nearest};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{Filled, Whole, Word, forms, word_form};
use crate::keyed::{Keyed, sections};
use crate::scalar::{integer, text, word};
use crate::section::{Form, Kind, Section, keys};
use crate::words::{Words, words};
use crate::yaml::{self, Content, Entry, Node};

/// Runs that a file may describe.
const MOST_RUNS: u64 = 10_000_000;
const MOST_REPETITIONS: u64 = 1_000_000;
pub(crate) const PARAMETER_NAME: &str = "^[a-zA-Z][a-zA-Z0-9_-]{0,30}$";

/// The keys of the lab file.
pub(crate) const VARIED: Section = keys! {
    /// What differs between the runs of `netloom sweep`: parameters by name, each with its values.
    vary = Kind::Map { names: PARAMETER_NAME, values: &Kind::OneOf(&[Kind::list(&Kind::Any, 1), Kind::Section(&PARAMETER)])},
        "{rate: {path: links.backbone.rate, values: [1 Mbit/s, 10 Mbit/s]}}";
    /// How often `netloom sweep` runs each point, each time with another seed. Default: 1.
    repeat: Whole<u64, 1, MOST_REPETITIONS>, "10";
    /// How `netloom sweep` counts and packs the runs.
    sweep = Keys::KIND, "{count: all}";
};

word_form! {
    /// Whether all runs that came to an end count.
    struct CountsAll = bool { "as-described" = false, "all" = true }
}

words!(Scale { "linear" = Self::Linear, "log" = Self::Log });

forms! {
    struct ProcessorCount =
        Processors, Kind::OneOf(&[Kind::Word(&["all"]), Kind::Integer { least: 1, most: 1_024 }]), processors;
}

sections! {
    /// A parameter: its values, and what they replace.
    const PARAMETER = "parameter" {
        /// Its values.
        values = Kind::list(&Kind::Any, 1), "[1 Mbit/s, 10 Mbit/s]";
        /// The first value of a range, which has a `step` or a `count`.
        from = Kind::Scalar, "1 Mbit/s";
        /// The last value of a range.
        to = Kind::Scalar, "10 Mbit/s";
        /// From one value of a range to the next.
        step = Kind::Scalar, "1 Mbit/s";
        /// How many values a range has.
        count: Whole<u64, 1, MOST_VALUES>, "10";
        /// How the values of a range with a `count` grow. Default: linear.
        scale: Word<Scale>, "log";
        /// What its values replace in this file, one place or several. Default: ${name} in any text.
        path = Kind::OneOf(&[Filled::KIND, Kind::list(&Filled::KIND, 1)]), "links.backbone.rate";
        /// The parameter beside whose values its own stand, one by one.
        with = Kind::Text(PARAMETER_NAME), "rate";
        /// A table whose columns are parameters, and whose rows are their values.
        csv: Filled, "points.csv";
        /// What columns of a table replace in this file. Default: ${column} in any text.
        paths = Kind::Map { names: PARAMETER_NAME, values: &Filled::KIND }, "{rate: links.backbone.rate}";
    }

    /// How the runs of a sweep are counted and packed.
    struct Keys = "sweep" {
        /// Which runs the statistics have: those whose network was as described, or all that came to an end. Default: as-described.
        count: CountsAll, "all";
        /// The processors that a run takes. Default: 1 in virtual time, else all.
        processors: ProcessorCount, "2";
    }
}

/// What varies; none if the file has nothing of the kind. Errors are noted.
pub(crate) fn read(root: &Node, errors: &mut Errors) -> Option<Varied> {
    super::KEYS.iter().find_map(|key| root.value(key))?;
    let mut varied = Varied { repetitions: 1, ..Varied::default() };
    if let Some(node) = root.value("repeat") {
        varied.repetitions = keep(integer(node, 1, MOST_REPETITIONS), errors).unwrap_or(1);
    }
    if let Some(node) = root.value("sweep") {
        varied.settings = settings(node, errors);
    }
    if let Some(node) = root.value("vary") {
        parameters(node, root, &mut varied, errors);
    }
    let points = varied
        .groups
        .iter()
        .try_fold(varied.repetitions, |all, group| all.checked_mul(group.len as u64).filter(|all| *all <= MOST_RUNS));
    if points.is_none() {
        let node = root.value("vary").or(root.value("repeat")).unwrap_or(root);
        errors.push(node.error(format!("these are more than {MOST_RUNS} runs: no machine would finish them")));
    }
    Some(varied)
}

fn settings(node: &Node, errors: &mut Errors) -> SweepSettings {
    let Some(Keys { count, processors }) = Keys::open(node, errors) else { return SweepSettings::default() };
    SweepSettings { counts_all: count.unwrap_or(false), processors }
}

fn processors(node: &Node) -> Result<Processors, Diagnostic> {
    if node.text() == Some("all") {
        return Ok(Processors::All);
    }
    let count = integer(node, 1, 1_024);
    let count = count.map_err(|_| node.error("write `all`, or how many processors a run takes: 1 to 1024"))?;
    Ok(Processors::Count(u32::try_from(count).unwrap_or(u32::MAX)))
}

fn parameters(node: &Node, root: &Node, varied: &mut Varied, errors: &mut Errors) {
    const WANTED: &str = "a map of parameters, for example {cc: [cubic, reno]}";
    let Some(entries) = map(node, WANTED, errors) else { return };
    if entries.is_empty() {
        return errors.push(node.error("a sweep of nothing: name a parameter, for example {cc: [cubic, reno]}"));
    }
    let (mut beside, mut values): (Vec<(Parameter, &Node)>, usize) = (Vec::new(), 0);
    for entry in entries {
        let before = errors.len();
        let read = parameter(entry, errors, &mut varied.files);
        values += match &read {
            Read::Own(parameter, _) => parameter.values.len(),
            Read::Table(parameters) => parameters.iter().map(|parameter| parameter.values.len()).sum(),
        };
        if let Some(why) = errors.limits().against_values(values) {
            return errors.push(entry.value.error(format!("its parameters have too many values: {why}")));
        }
        if errors.len() > before {
            continue;
        }
        match read {
            Read::Own(parameter, None) => {
                varied.groups.push(Group { len: parameter.values.len(), parameters: vec![parameter] });
            }
            Read::Own(parameter, Some(other)) => beside.push((parameter, other)),
            Read::Table(parameters) => {
                let len = parameters.first().map_or(0, |first| first.values.len());
                varied.groups.push(Group { parameters, len });
            }
        }
    }
    if errors.is_empty() {
        join(beside, varied, errors);
    }
    check(root, varied, errors);
}

/// What an entry of `vary` is.
enum Read<'a> {
    /// A parameter, and the one beside which it stands.
    Own(Parameter, Option<&'a Node>),
    /// Those of a table.
    Table(Vec<Parameter>),
}

fn parameter<'a>(entry: &'a Entry, errors: &mut Errors, files: &mut Vec<std::path::PathBuf>) -> Read<'a> {
    let node = &entry.value;
    let mut own = Parameter { name: entry.name.clone(), node: node.clone(), paths: Vec::new(), values: Vec::new() };
    check_name(&entry.name, node, errors);
    if let Content::List(values) = &node.content {
        own.values = some(values, node, errors);
        return Read::Own(own, None);
    }
    let Some(fields) = Fields::open(node, &PARAMETER, errors) else { return Read::Own(own, None) };
    let has = |name: &str| fields.get(name).is_some();
    if let Some(csv) = fields.get("csv") {
        let without = ["values", "from", "to", "step", "count", "scale", "path", "with"];
        let message = |key| (key, format!("`{key}` does not go with `csv`, whose columns have the values"));
        fields.refuse(without.map(message), errors);
        files.extend(csv.text().map(std::path::PathBuf::from));
        let columns = columns(csv, fields.get("paths"), errors);
        return Read::Table(keep(columns, errors).unwrap_or_default());
    }
    fields.refuse([("paths", "`paths` is for columns of a `csv`: write `path`")], errors);
    own.paths = match fields.get("path") {
        Some(Node { content: Content::List(paths), .. }) => paths.clone(),
        Some(path) => vec![path.clone()],
        None => Vec::new(),
    };
    match fields.get("values") {
        Some(values) => {
            let message = |key| (key, format!("`{key}` is of a range, and `values` are given: keep one"));
            fields.refuse(["from", "to", "step", "count", "scale"].map(message), errors);
            match &values.content {
                Content::List(items) => own.values = some(items, values, errors),
                _ => errors.push(values.expected("a list of values")),
            }
        }
        None if has("from") || has("to") => {
            let values = keep(range(node, &fields), errors).unwrap_or_default();
            let made =
                |text: String| Node { content: Content::Text { text, plain: true, block: None }, ..node.clone() };
            own.values = values.into_iter().map(made).collect();
        }
        None => {
            errors.push(node.error("it has no values: write `values: [...]`, or `from`, `to` and `step` or `count`"));
        }
    }
    Read::Own(own, fields.get("with"))
}

fn check_name(name: &str, node: &Node, errors: &mut Errors) {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 31
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if !is_name {
        errors.push(node.error(format!(
            "`{name}` cannot name a parameter: begin with a letter, go on with letters, digits, _ and -, 31 at most"
        )));
    }
}

/// Values, of which there has to be one.
fn some(values: &[Node], node: &Node, errors: &mut Errors) -> Vec<Node> {
    if values.is_empty() {
        errors.push(node.error("it has no values, so that there would be no run: write at least one"));
    }
    if values.len() as u64 > MOST_VALUES {
        errors.push(node.error(format!("a parameter has at most {MOST_VALUES} values")));
    }
    values.to_vec()
}

fn range(node: &Node, fields: &Fields<'_>) -> Result<Vec<String>, Diagnostic> {
    let quantity = |name: &str| match fields.get(name) {
        Some(value) => Quantity::parse(&text(value)?).map_err(|why| value.error(why)).map(Some),
        None => Ok(None),
    };
    let needed = |name: &str| {
        quantity(name)?.ok_or_else(|| node.error(format!("a range has `from` and `to`: `{name}` is missing")))
    };
    let (from, to) = (needed("from")?, needed("to")?);
    let count = fields.get("count").map(|value| integer(value, 1, MOST_VALUES)).transpose()?;
    let scale = fields.get("scale").map(|value| word(value, Scale::WORDS)).transpose()?;
    match (quantity("step")?, count) {
        (Some(step), None) if scale.is_none_or(|scale| scale == Scale::Linear) => steps(from, to, step),
        (Some(_), None) => Err("a `step` is linear: a logarithmic scale has a `count`".into()),
        (None, Some(count)) => spread(from, to, count, scale.unwrap_or_default()),
        _ => Err("a range has either a `step` or a `count`".into()),
    }
    .map_err(|why| node.error(why))
}

/// The parameters that a table has.
fn columns(csv: &Node, paths: Option<&Node>, errors: &mut Errors) -> Result<Vec<Parameter>, Diagnostic> {
    let text = errors.read_text(csv)?;
    let rows = csv::rows(&text).map_err(|why| csv.error(why))?;
    let Some((names, rows)) = rows.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return Err(csv.error(
            "this table has no values: its first line names the parameters, and each further one has a value of each",
        ));
    };
    if let Some(row) = rows.iter().position(|row| row.len() != names.len()) {
        let message =
            format!("its row {} has {} fields, and {} columns have names", row + 1, rows[row].len(), names.len());
        return Err(csv.error(message));
    }
    let given = match paths.map(|node| (node, &node.content)) {
        None => &[][..],
        Some((_, Content::Map(entries))) => entries,
        Some((node, _)) => {
            return Err(node.expected("a map of columns and paths, for example {rate: links.backbone.rate}"));
        }
    };
    if let Some(entry) = given.iter().find(|entry| !names.contains(&entry.name)) {
        let near = nearest(&entry.name, names.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        return Err(entry.value.error(format!("the table has no column `{}`{hint}", entry.name)));
    }
    if let Some(why) = rows.iter().flatten().find_map(|field| cell(field, csv).err()) {
        return Err(why);
    }
    let made = |field: &String| cell(field, csv).unwrap_or_else(|_| csv.clone());
    let parameter = |(column, name): (usize, &String)| {
        check_name(name, csv, errors);
        let own = given.iter().filter(|entry| entry.name == *name).map(|entry| entry.value.clone()).collect();
        let values = rows.iter().map(|row| made(&row[column])).collect();
        Parameter { name: name.clone(), node: csv.clone(), paths: own, values }
    };
    Ok(names.iter().enumerate().map(parameter).collect())
}

/// The value that a field of a table has: a text, or what a lab file would have in braces or brackets.
fn cell(field: &str, csv: &Node) -> Result<Node, Diagnostic> {
    let plain = || Node { content: Content::Text { text: field.to_owned(), plain: true, block: None }, ..csv.clone() };
    if !field.trim_start().starts_with(['{', '[']) {
        return Ok(plain());
    }
    match yaml::parse(field) {
        Ok(node) => Ok(placed(node, csv)),
        Err(errors) => {
            let why = errors.first().map_or("it is not YAML", Diagnostic::message);
            Err(csv.error(format!("its field \"{field}\" cannot be read: {why}")))
        }
    }
}

/// The same value, standing where the table does.
fn placed(node: Node, csv: &Node) -> Node {
    let content = match node.content {
        Content::Map(entries) => {
            let entry = |Entry { name, value, .. }| Entry { name, span: csv.span, value: placed(value, csv) };
            Content::Map(entries.into_iter().map(entry).collect())
        }
        Content::List(items) => Content::List(items.into_iter().map(|item| placed(item, csv)).collect()),
        other => other,
    };
    Node { content, ..csv.clone() }
}

/// Puts parameters beside others.
fn join(beside: Vec<(Parameter, &Node)>, varied: &mut Varied, errors: &mut Errors) {
    for (parameter, other) in beside {
        let name = other.text().unwrap_or_default();
        let group = varied.groups.iter_mut().find(|group| group.parameters.iter().any(|one| one.name == name));
        match group {
            Some(group) if group.len == parameter.values.len() => group.parameters.push(parameter),
            Some(group) => errors.push(other.error(format!(
                "`{name}` has {} values and `{}` has {}: beside one another they need as many",
                group.len,
                parameter.name,
                parameter.values.len()
            ))),
            None => {
                let known = varied.groups.iter().flat_map(|each| &each.parameters).map(|one| one.name.as_str());
                let near = nearest(name, known).map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
                errors.push(other.error(format!("there is no parameter `{name}` with values of its own{near}")));
            }
        }
    }
}

/// That each parameter changes something, under a name of its own.
fn check(root: &Node, varied: &Varied, errors: &mut Errors) {
    let rest: Vec<&Entry> = root.entries().iter().filter(|entry| !super::KEYS.contains(&entry.name.as_str())).collect();
    let mut names: Vec<&str> = Vec::new();
    for parameter in varied.groups.iter().flat_map(|group| &group.parameters) {
        if names.contains(&parameter.name.as_str()) {
            errors.push(parameter.node.error(format!("`{}` is a parameter already", parameter.name)));
        }
        names.push(&parameter.name);
        for path in &parameter.paths {
            let leads = path.text().unwrap_or_default();
            if super::KEYS.iter().any(|key| leads.split(['.', '[']).next() == Some(key)) {
                errors.push(path.error("what describes the runs cannot be varied itself"));
            } else {
                errors.extend(path::check(root, path).err());
            }
        }
        let is_used =
            !parameter.paths.is_empty() || rest.iter().any(|entry| placeholder::has(&entry.value, &parameter.name));
        if !is_used {
            errors.push(parameter.node.error(format!(
                "`{name}` changes nothing: write `${{{name}}}` where its value is to stand, or a `path` to what it replaces",
                name = parameter.name
            )));
        }
    }
}
