//! `string` and `format`.

/// Letters of a number's width.
const WIDEST: usize = 1_000;

/// The value of `string OPTION ...`; none if there is no such option.
pub(super) fn string(words: &[String]) -> Option<String> {
    if let [first, option @ ("equal" | "compare" | "match"), flag, rest @ ..] =
        &words.iter().map(String::as_str).collect::<Vec<_>>()[..]
        && *flag == "-nocase"
    {
        let lower = rest.iter().map(|word| word.to_lowercase());
        let plain: Vec<String> = [first, option].into_iter().map(|word| (*word).to_owned()).chain(lower).collect();
        return string(&plain);
    }
    let text = words.get(2).map_or("", String::as_str);
    let argument = words.get(3).map_or("", String::as_str);
    let flag = |flag: bool| Some(i32::from(flag).to_string());
    let letters = || text.chars().collect::<Vec<char>>();
    match words.get(1)?.as_str() {
        "length" => Some(text.chars().count().to_string()),
        "tolower" => Some(text.to_lowercase()),
        "toupper" => Some(text.to_uppercase()),
        "trim" => Some(text.trim_matches(set(argument)).to_owned()),
        "trimleft" => Some(text.trim_start_matches(set(argument)).to_owned()),
        "trimright" => Some(text.trim_end_matches(set(argument)).to_owned()),
        "equal" => flag(text == argument),
        "compare" => Some((text.cmp(argument) as i32).to_string()),
        "match" => flag(matches(text, argument)),
        "first" => Some(argument.find(text).map_or(-1, |at| argument[..at].chars().count() as i64).to_string()),
        "last" => Some(argument.rfind(text).map_or(-1, |at| argument[..at].chars().count() as i64).to_string()),
        "index" => {
            let letters = letters();
            let at = index(argument, letters.len())?;
            Some(usize::try_from(at).ok().and_then(|at| letters.get(at)).map_or_else(String::new, char::to_string))
        }
        "range" => {
            let letters = letters();
            let (from, to) = (index(argument, letters.len())?, index(words.get(4)?, letters.len())?);
            let from = usize::try_from(from).unwrap_or(0);
            let to = usize::try_from(to + 1).unwrap_or(0).min(letters.len());
            Some(letters.get(from..to).map_or_else(String::new, |part| part.iter().collect()))
        }
        "repeat" => {
            let times: usize = argument.parse().ok()?;
            (times.saturating_mul(text.len()) <= 1 << 20).then(|| text.repeat(times))
        }
        "is" => {
            let value = words.last()?.trim();
            match text {
                "integer" => flag(value.parse::<i64>().is_ok()),
                "double" => flag(value.parse::<f64>().is_ok()),
                "alpha" => flag(!value.is_empty() && value.chars().all(char::is_alphabetic)),
                "digit" => flag(!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())),
                _ => None,
            }
        }
        _ => None,
    }
}

fn set(letters: &str) -> impl Fn(char) -> bool + '_ {
    move |letter| if letters.is_empty() { letter.is_whitespace() } else { letters.contains(letter) }
}

/// A place in a list: a number, `end`, `end-1`.
pub(super) fn index(text: &str, length: usize) -> Option<i64> {
    let text = text.trim();
    let last = i64::try_from(length).ok()? - 1;
    match text.strip_prefix("end") {
        Some("") => Some(last),
        Some(behind) => last.checked_add(behind.parse().ok()?),
        None => text.parse().ok().filter(|at: &i64| at.abs() < i64::MAX / 2),
    }
}

/// Whether a text matches a pattern of `*`, `?` and sets in brackets.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let one = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => pattern[p..].iter().position(|letter| *letter == ']').and_then(|end| {
                let inner = &pattern[p + 1..p + end.max(1)];
                let ranged = inner.windows(3).any(|three| three[1] == '-' && (three[0]..=three[2]).contains(&text[t]));
                (inner.contains(&text[t]) || ranged).then_some(p + end + 1)
            }),
            Some('\\') => (pattern.get(p + 1) == Some(&text[t])).then_some(p + 2),
            Some(letter) => (*letter == text[t]).then_some(p + 1),
            None => None,
        };
        match (one, star) {
            (Some(next), _) => {
                p = next;
                t += 1;
            }
            (None, Some((behind, from))) => {
                star = Some((behind, from + 1));
                p = behind;
                t = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

/// The value of `format`: what C's `printf` makes of numbers and texts.
pub(super) fn format(words: &[String]) -> Option<String> {
    let mut arguments = words.get(2..)?.iter();
    let mut result = String::new();
    let mut rest = words.get(1)?.as_str();
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            result.push('%');
            rest = behind;
            continue;
        }
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic() && !"lh".contains(letter))?;
        let (options, kind) = (rest[..end].trim_end_matches(['l', 'h']), rest[end..].chars().next()?);
        rest = &rest[end + 1..];
        result.push_str(&one(options, kind, arguments.next()?)?);
        if result.len() > 1 << 20 {
            return None;
        }
    }
    result.push_str(rest);
    Some(result)
}

fn one(options: &str, kind: char, argument: &str) -> Option<String> {
    let flags: String = options.chars().take_while(|letter| "-0+ #".contains(*letter)).collect();
    let (width, precision) = options[flags.len()..].split_once('.').unwrap_or((&options[flags.len()..], ""));
    let width: usize = if width.is_empty() { 0 } else { width.parse().ok()? };
    let precision: Option<usize> = if precision.is_empty() { None } else { Some(precision.parse().ok()?) };
    if width > WIDEST || precision.is_some_and(|digits| digits > WIDEST) {
        return None;
    }
    let float = || argument.trim().parse::<f64>().ok();
    let int = || argument.trim().parse::<i64>().ok().or_else(|| float().map(|value| value as i64));
    let text = match kind {
        'd' | 'i' | 'u' => int()?.to_string(),
        'x' => format!("{:x}", int()?),
        'X' => format!("{:X}", int()?),
        'o' => format!("{:o}", int()?),
        'c' => char::from_u32(u32::try_from(int()?).ok()?)?.to_string(),
        'f' => format!("{:.*}", precision.unwrap_or(6), float()?),
        'e' => format!("{:.*e}", precision.unwrap_or(6), float()?),
        'g' => format!("{}", float()?),
        's' => argument.chars().take(precision.unwrap_or(usize::MAX)).collect(),
        _ => return None,
    };
    let missing = width.saturating_sub(text.chars().count());
    Some(if flags.contains('-') {
        format!("{text}{}", " ".repeat(missing))
    } else if flags.contains('0') && kind != 's' {
        let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
        format!("{sign}{}{digits}", "0".repeat(missing))
    } else {
        format!("{}{text}", " ".repeat(missing))
    })
}
