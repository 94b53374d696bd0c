//! Commands that run scripts: their arguments keep the lines where they begin.

use super::words::substitute;
use super::{Host, Interpreter, Leave, Procedure, Result_, Word, expr, split_list};

/// Calls the command of this name, if it is one of these.
pub(super) fn call(interpreter: &mut Interpreter, name: &str, words: &[Word], host: &mut dyn Host) -> Option<Result_> {
    Some(match name {
        "if" => branch(interpreter, words, host),
        "while" => repeat(interpreter, words, host),
        "for" => count(interpreter, words, host),
        "foreach" => each(interpreter, words, host),
        "proc" => procedure(interpreter, words),
        "eval" => {
            let script = words[1..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            interpreter.run(&script, words[0].line, host)
        }
        "uplevel" => {
            let is_level = |word: &Word| word.text.trim_start_matches('#').parse::<usize>().is_ok();
            let (level, script) = match words {
                [_, level, script @ ..] if is_level(level) && !script.is_empty() => (Some(level), script),
                _ => (None, &words[1..]),
            };
            match (interpreter.above(level.map(|level| level.text.as_str())), script) {
                (None, _) | (_, []) => interpreter.fail(words[0].line, "`uplevel`: there is no such level"),
                (Some(scope), [script]) => interpreter.run_above(scope, &script.text, script.line, host),
                (Some(scope), parts) => {
                    let joined = parts.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
                    interpreter.run_above(scope, &joined, words[0].line, host)
                }
            }
        }
        "catch" => catch(interpreter, words, host),
        "switch" => switch(interpreter, words, host),
        "subst" => match words {
            [_, options @ .., text] => {
                note(interpreter, host, name, options);
                substitute(interpreter, &text.text, text.line, host)
            }
            _ => Ok(String::new()),
        },
        "time" => match words {
            [_, script, more @ ..] => {
                note(interpreter, host, name, more);
                interpreter.run(&script.text, script.line, host)
            }
            _ => Ok(String::new()),
        },
        _ => return None,
    })
}

/// Notes words that a command does not understand.
fn note(interpreter: &Interpreter, host: &mut dyn Host, name: &str, words: &[Word]) {
    for word in words {
        let said = format!("`{}` of `{name}` is not known here", super::shortened(&word.text));
        host.note(interpreter.place(word.line), said);
    }
}

/// Whether a condition holds.
fn holds(interpreter: &mut Interpreter, condition: &Word, host: &mut dyn Host) -> Result<bool, Leave> {
    let value = expr::evaluate(interpreter, &condition.text, condition.line, host)?;
    expr::truth(&value)
        .map_or_else(|| interpreter.fail(condition.line, format!("{value:?} is neither true nor false")), Ok)
}

fn branch(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let mut rest = &words[1..];
    while let [condition, behind @ ..] = rest {
        let behind = match behind {
            [then, inner @ ..] if then.text == "then" => inner,
            _ => behind,
        };
        let [body, after @ ..] = behind else { break };
        if holds(interpreter, condition, host)? {
            return interpreter.run(&body.text, body.line, host);
        }
        match after {
            [] => return Ok(String::new()),
            [word, otherwise] if word.text == "else" => return interpreter.run(&otherwise.text, otherwise.line, host),
            [word, next @ ..] if word.text == "elseif" => rest = next,
            [otherwise] => return interpreter.run(&otherwise.text, otherwise.line, host),
            _ => break,
        }
    }
    interpreter.fail(words[0].line, "write `if {CONDITION} {SCRIPT} elseif {CONDITION} {SCRIPT} else {SCRIPT}`")
}

/// Runs the body of a loop; false when it is left.
fn body(interpreter: &mut Interpreter, body: &Word, host: &mut dyn Host) -> Result<bool, Leave> {
    interpreter.step(body.line, 0)?;
    match interpreter.run(&body.text, body.line, host) {
        Ok(_) | Err(Leave::Continue) => Ok(true),
        Err(Leave::Break) => Ok(false),
        Err(other) => Err(other),
    }
}

fn repeat(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let [_, condition, script] = words else {
        return interpreter.fail(words[0].line, "write `while {CONDITION} {SCRIPT}`");
    };
    while holds(interpreter, condition, host)? && body(interpreter, script, host)? {}
    Ok(String::new())
}

fn count(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let [_, start, condition, next, script] = words else {
        return interpreter.fail(words[0].line, "write `for {START} {CONDITION} {NEXT} {SCRIPT}`");
    };
    interpreter.run(&start.text, start.line, host)?;
    while holds(interpreter, condition, host)? && body(interpreter, script, host)? {
        interpreter.run(&next.text, next.line, host)?;
    }
    Ok(String::new())
}

fn each(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let [_, pairs @ .., script] = words else { return Ok(String::new()) };
    if pairs.is_empty() || pairs.len() % 2 == 1 {
        return interpreter.fail(words[0].line, "write `foreach VARIABLE LIST {SCRIPT}`");
    }
    let pairs: Vec<(Vec<String>, Vec<String>)> =
        pairs.chunks(2).map(|pair| (split_list(&pair[0].text), split_list(&pair[1].text))).collect();
    let rounds = pairs.iter().map(|(names, items)| items.len().div_ceil(names.len().max(1))).max().unwrap_or(0);
    for round in 0..rounds {
        for (names, items) in &pairs {
            for (place, name) in names.iter().enumerate() {
                let item = items.get(round * names.len() + place).cloned().unwrap_or_default();
                interpreter.set(name, item, words[0].line)?;
            }
        }
        if !body(interpreter, script, host)? {
            break;
        }
    }
    Ok(String::new())
}

fn procedure(interpreter: &mut Interpreter, words: &[Word]) -> Result_ {
    let [_, name, parameters, body] = words else {
        return interpreter.fail(words[0].line, "write `proc NAME {PARAMETERS} {SCRIPT}`");
    };
    interpreter.bytes += body.text.len();
    if interpreter.bytes > super::MOST_BYTES {
        return interpreter.fail(words[0].line, "the procedures of this script take too much memory");
    }
    let procedure = Procedure { parameters: split_list(&parameters.text), body: body.text.clone(), line: body.line };
    interpreter.procedures.insert(name.text.trim_start_matches("::").to_owned(), procedure);
    Ok(String::new())
}

fn catch(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let [_, script, rest @ ..] = words else { return Ok("0".to_owned()) };
    let (code, value) = match interpreter.run(&script.text, script.line, host) {
        Ok(value) => ("0", value),
        Err(Leave::Error(wrong)) if interpreter.steps <= super::MOST_STEPS => {
            host.note(wrong.place, format!("`catch` hides an error: {}", wrong.message));
            ("1", wrong.message)
        }
        Err(Leave::Return(value)) => ("2", value),
        Err(Leave::Break) => ("3", String::new()),
        Err(Leave::Continue) => ("4", String::new()),
        Err(other) => return Err(other),
    };
    if let Some(variable) = rest.first() {
        interpreter.set(&variable.text, value, variable.line)?;
    }
    Ok(code.to_owned())
}

fn switch(interpreter: &mut Interpreter, words: &[Word], host: &mut dyn Host) -> Result_ {
    let mut rest = &words[1..];
    let mut is_glob = false;
    while let [option, behind @ ..] = rest {
        if !option.text.starts_with('-') || behind.len() < 2 {
            break;
        }
        is_glob |= option.text == "-glob";
        if !["-glob", "-exact", "--"].contains(&option.text.as_str()) {
            note(interpreter, host, "switch", std::slice::from_ref(option));
        }
        rest = behind;
        if option.text == "--" {
            break;
        }
    }
    let [value, cases @ ..] = rest else { return Ok(String::new()) };
    let listed: Vec<(String, usize)> = match cases {
        [all] => split_list(&all.text).into_iter().map(|text| (text, all.line)).collect(),
        _ => cases.iter().map(|word| (word.text.clone(), word.line)).collect(),
    };
    let mut is_found = false;
    for pair in listed.chunks_exact(2) {
        let (pattern, (body, line)) = (&pair[0].0, &pair[1]);
        is_found |= pattern == "default"
            || if is_glob { super::strings::matches(pattern, &value.text) } else { *pattern == value.text };
        if is_found && body != "-" {
            return interpreter.run(body, *line, host);
        }
    }
    Ok(String::new())
}
