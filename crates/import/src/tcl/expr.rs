//! Expressions: what `expr`, `if` and loops compute.

use super::words::Reader;
use super::{Host, Interpreter, Leave, Result_};

/// Levels of parentheses and operators.
const MOST_LEVELS: usize = 40;

/// The value of an expression as a text.
pub(super) fn evaluate(interpreter: &mut Interpreter, text: &str, line: usize, host: &mut dyn Host) -> Result_ {
    interpreter.step(line, text.len())?;
    let reader = Reader { text, at: 0, line };
    let mut parser = Parser { interpreter, host, reader, level: 0 };
    let value = parser.choice(true)?;
    parser.space();
    if parser.reader.peek().is_some() {
        return parser.fail("this is no expression");
    }
    Ok(value.text())
}

/// Whether a text is true; none if it is neither.
pub(super) fn truth(text: &str) -> Option<bool> {
    match number(text) {
        Some(Value::Int(value)) => Some(value != 0),
        Some(Value::Float(value)) => Some(value != 0.0),
        _ => match text.trim().to_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        },
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(i64),
    Float(f64),
    Text(String),
}

impl Value {
    fn text(self) -> String {
        match self {
            Self::Int(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::Text(text) => text,
        }
    }

    /// The number that a text is, if it is one.
    fn numeric(self) -> Self {
        match self {
            Self::Text(text) => number(&text).unwrap_or(Self::Text(text)),
            other => other,
        }
    }

    fn float(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Text(_) => None,
        }
    }
}

/// The number that `text` is.
fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(hexadecimal) = digits.strip_prefix("0x") {
        let value = i64::from_str_radix(hexadecimal, 16).ok()?;
        return Some(Value::Int(if text.starts_with('-') { -value } else { value }));
    }
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let int = text.parse().ok().map(Value::Int);
    int.or_else(|| text.parse().ok().filter(|value: &f64| value.is_finite()).map(Value::Float))
}

/// Operators with two sides, those that bind least first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "eq", "ne"],
    &["<=", ">=", "<<", ">>", "<", ">"],
    &["+", "-"],
    &["**"],
    &["*", "/", "%"],
];

struct Parser<'a, 'b> {
    interpreter: &'a mut Interpreter,
    host: &'a mut dyn Host,
    reader: Reader<'b>,
    level: usize,
}

type Evaluated = Result<Value, Leave>;

impl Parser<'_, '_> {
    fn fail<T>(&self, message: &str) -> Result<T, Leave> {
        let text = super::shortened(self.reader.text);
        self.interpreter.fail(self.reader.line, format!("{message}: {text:?}"))
    }

    /// White space; a backslash at the end of a line is some, too (Tcl(n), rule 9).
    fn space(&mut self) {
        while self.reader.peek().is_some_and(char::is_whitespace) || self.rest().starts_with("\\\n") {
            self.reader.take();
        }
    }

    fn rest(&self) -> &str {
        &self.reader.text[self.reader.at..]
    }

    /// Takes `mark` if it comes next.
    fn eat(&mut self, mark: &str) -> bool {
        self.space();
        let comes = self.rest().starts_with(mark);
        if comes {
            self.reader.at += mark.len();
        }
        comes
    }

    /// `CONDITION ? THIS : THAT`. What is not `active` is read and not computed.
    fn choice(&mut self, active: bool) -> Evaluated {
        self.level += 1;
        if self.level > MOST_LEVELS {
            return self.fail("parentheses are nested too deeply");
        }
        let mut value = self.binary(0, active)?;
        if self.eat("?") {
            let is_true = active && self.truth(value)?;
            let this = self.choice(active && is_true)?;
            if !self.eat(":") {
                return self.fail("a `:` is missing");
            }
            let that = self.choice(active && !is_true)?;
            value = if is_true { this } else { that };
        }
        self.level -= 1;
        Ok(value)
    }

    fn truth(&self, value: Value) -> Result<bool, Leave> {
        let text = value.text();
        truth(&text).map_or_else(|| self.fail("neither true nor false"), Ok)
    }

    fn operator(&mut self, level: usize) -> Option<&'static str> {
        self.space();
        let rest = self.rest();
        let found = OPERATORS[level].iter().copied().find(|operator| rest.starts_with(operator))?;
        let behind = &rest[found.len()..];
        let is_other = match found {
            "|" | "&" => behind.starts_with(found),
            "*" => behind.starts_with('*'),
            "<" | ">" => behind.starts_with(found),
            "eq" | "ne" => behind.starts_with(|next: char| next.is_ascii_alphanumeric()),
            _ => false,
        };
        if is_other {
            return None;
        }
        self.reader.at += found.len();
        Some(found)
    }

    fn binary(&mut self, level: usize, active: bool) -> Evaluated {
        // `**` binds more than `*`, and to the right; nobody writes both without parentheses.
        if level == OPERATORS.len() {
            return self.unary(active);
        }
        let mut left = self.binary(level + 1, active)?;
        while let Some(operator) = self.operator(level) {
            self.interpreter.step(self.reader.line, 0)?;
            let goes_on = match operator {
                "||" => active && !self.truth(left.clone())?,
                "&&" => active && self.truth(left.clone())?,
                _ => active,
            };
            let right = self.binary(level + 1, goes_on)?;
            if !active {
                continue;
            }
            left = match operator {
                "||" => Value::Int(i64::from(!goes_on || self.truth(right)?)),
                "&&" => Value::Int(i64::from(goes_on && self.truth(right)?)),
                _ => match apply(operator, left.numeric(), right.numeric()) {
                    Some(value) => value,
                    None => return self.fail(&format!("`{operator}` cannot be computed")),
                },
            };
        }
        Ok(left)
    }

    fn unary(&mut self, active: bool) -> Evaluated {
        self.level += 1;
        if self.level > MOST_LEVELS {
            return self.fail("operators are nested too deeply");
        }
        self.space();
        let value = match self.reader.peek() {
            Some(sign @ ('-' | '+' | '!' | '~')) => {
                self.reader.take();
                let value = self.unary(active)?.numeric();
                match (sign, value) {
                    _ if !active => Value::Int(0),
                    ('-', Value::Int(value)) => Value::Int(value.wrapping_neg()),
                    ('-', Value::Float(value)) => Value::Float(-value),
                    ('+', value @ (Value::Int(_) | Value::Float(_))) => value,
                    ('~', Value::Int(value)) => Value::Int(!value),
                    ('!', value) => Value::Int(i64::from(!self.truth(value)?)),
                    _ => return self.fail("a number is needed"),
                }
            }
            _ => self.operand(active)?,
        };
        self.level -= 1;
        Ok(value)
    }

    fn operand(&mut self, active: bool) -> Evaluated {
        match self.reader.peek() {
            Some('(') => {
                self.reader.take();
                let value = self.choice(active)?;
                if self.eat(")") { Ok(value) } else { self.fail("a `)` is missing") }
            }
            Some('$') if active => Ok(Value::Text(self.reader.variable(self.interpreter, self.host)?)),
            Some('[') if active => Ok(Value::Text(self.reader.bracketed(self.interpreter, self.host)?)),
            Some('"') if active => Ok(Value::Text(self.reader.quoted(self.interpreter, self.host)?)),
            Some('{') => Ok(Value::Text(self.reader.braced(self.interpreter)?)),
            Some('$' | '[' | '"') => self.skip(),
            Some(letter) if letter.is_ascii_digit() || letter == '.' => self.number(),
            Some(letter) if letter.is_ascii_alphabetic() => self.function(active),
            _ => self.fail("this is no expression"),
        }
    }

    /// An operand that is not computed.
    fn skip(&mut self) -> Evaluated {
        let (mut depth, mut in_text) = (0, false);
        while let Some(letter) = self.reader.peek() {
            match letter {
                '\\' if depth == 0 && !in_text && self.rest().starts_with("\\\n") => break,
                '\\' => drop(self.reader.take()),
                '"' if depth == 0 => in_text = !in_text,
                '[' | '(' if !in_text => depth += 1,
                ']' | ')' if !in_text && depth == 0 => break,
                ']' | ')' if !in_text => depth -= 1,
                _ if depth == 0 && !in_text && (letter.is_whitespace() || "<>=!&|+*/%?:,".contains(letter)) => break,
                _ => {}
            }
            self.reader.take();
        }
        Ok(Value::Int(0))
    }

    fn number(&mut self) -> Evaluated {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let is_hexadecimal = rest.starts_with("0x");
        let part = |at: usize| {
            let letter = bytes[at];
            letter.is_ascii_digit()
                || letter == b'.'
                || (is_hexadecimal && (letter.is_ascii_hexdigit() || at == 1))
                || (matches!(letter, b'e' | b'E')
                    && bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || b"+-".contains(next)))
                || (matches!(letter, b'+' | b'-') && at > 0 && matches!(bytes[at - 1], b'e' | b'E') && !is_hexadecimal)
        };
        let end = (0..bytes.len()).find(|at| !part(*at)).unwrap_or(bytes.len());
        let found = number(&rest[..end]);
        self.reader.at += end;
        found.map_or_else(|| self.fail("this is no number"), Ok)
    }

    /// A function with its arguments, or a word.
    fn function(&mut self, active: bool) -> Evaluated {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        self.reader.at += end;
        if !self.eat("(") {
            return Ok(Value::Text(name));
        }
        let mut arguments = Vec::new();
        while !self.eat(")") {
            let argument = self.choice(active)?;
            arguments.push(argument.numeric());
            self.eat(",");
        }
        if !active {
            return Ok(Value::Int(0));
        }
        if name == "rand" || name == "srand" {
            return Ok(Value::Float(self.interpreter.draw()));
        }
        function(&name, &arguments).map_or_else(|| self.fail(&format!("`{name}` cannot be computed")), Ok)
    }
}

fn apply(operator: &str, left: Value, right: Value) -> Option<Value> {
    let flag = |flag: bool| Some(Value::Int(i64::from(flag)));
    match (operator, &left, &right) {
        ("eq", ..) => return flag(left.text() == right.text()),
        ("ne", ..) => return flag(left.text() != right.text()),
        (_, Value::Int(a), Value::Int(b)) => return whole(operator, *a, *b),
        _ => {}
    }
    let (Some(a), Some(b)) = (left.float(), right.float()) else {
        let (a, b) = (left.text(), right.text());
        return match operator {
            "==" => flag(a == b),
            "!=" => flag(a != b),
            "<" => flag(a < b),
            ">" => flag(a > b),
            "<=" => flag(a <= b),
            ">=" => flag(a >= b),
            _ => None,
        };
    };
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "**" => libm::pow(a, b),
        "==" => return flag(a == b),
        "!=" => return flag(a != b),
        "<" => return flag(a < b),
        ">" => return flag(a > b),
        "<=" => return flag(a <= b),
        ">=" => return flag(a >= b),
        _ => return None,
    };
    value.is_finite().then_some(Value::Float(value))
}

/// Whole numbers; division rounds down, as in Tcl.
fn whole(operator: &str, a: i64, b: i64) -> Option<Value> {
    let float = |value: f64| value.is_finite().then_some(Value::Float(value));
    let shift = || u32::try_from(b).ok().filter(|bits| *bits < 64);
    let value = match operator {
        "+" => return a.checked_add(b).map(Value::Int).or_else(|| float(a as f64 + b as f64)),
        "-" => return a.checked_sub(b).map(Value::Int).or_else(|| float(a as f64 - b as f64)),
        "*" => return a.checked_mul(b).map(Value::Int).or_else(|| float(a as f64 * b as f64)),
        "**" => {
            let exact = u32::try_from(b).ok().and_then(|power| a.checked_pow(power)).map(Value::Int);
            return exact.or_else(|| float(libm::pow(a as f64, b as f64)));
        }
        "/" => {
            let quotient = a.checked_div(b)?;
            quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))
        }
        "%" => {
            let rest = a.checked_rem(b)?;
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
        "<<" => a.wrapping_shl(shift()?),
        ">>" => a.wrapping_shr(shift()?),
        "|" => a | b,
        "&" => a & b,
        "^" => a ^ b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        _ => return None,
    };
    Some(Value::Int(value))
}

fn function(name: &str, arguments: &[Value]) -> Option<Value> {
    let first = arguments.first()?;
    let x = first.float()?;
    let int = |value: f64| (value.abs() < 9e18).then_some(Value::Int(value as i64));
    let second = || arguments.get(1).and_then(Value::float);
    let value = match name {
        "int" | "wide" | "entier" => {
            return if let Value::Int(_) = first { Some(first.clone()) } else { int(libm::trunc(x)) };
        }
        "round" => return if let Value::Int(_) = first { Some(first.clone()) } else { int(libm::round(x)) },
        "bool" => return Some(Value::Int(i64::from(x != 0.0))),
        "abs" => match first {
            Value::Int(value) => return value.checked_abs().map(Value::Int),
            _ => x.abs(),
        },
        "min" | "max" => {
            let values: Option<Vec<f64>> = arguments.iter().map(Value::float).collect();
            let values = values?;
            let best = values.iter().copied().reduce(if name == "min" { f64::min } else { f64::max })?;
            let at = values.iter().position(|value| *value == best)?;
            return arguments.get(at).cloned();
        }
        "double" => x,
        "sqrt" => libm::sqrt(x),
        "exp" => libm::exp(x),
        "log" => libm::log(x),
        "log10" => libm::log10(x),
        "sin" => libm::sin(x),
        "cos" => libm::cos(x),
        "tan" => libm::tan(x),
        "asin" => libm::asin(x),
        "acos" => libm::acos(x),
        "atan" => libm::atan(x),
        "atan2" => libm::atan2(x, second()?),
        "hypot" => libm::hypot(x, second()?),
        "fmod" => libm::fmod(x, second()?),
        "pow" => libm::pow(x, second()?),
        "floor" => libm::floor(x),
        "ceil" => libm::ceil(x),
        _ => return None,
    };
    value.is_finite().then_some(Value::Float(value))
}
