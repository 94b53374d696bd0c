//! Values from a file of comma-separated values (RFC 4180).

/// The rows of a table: fields may be in double quotes, which are doubled within. Empty lines are left out.
pub(super) fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    let (mut field, mut is_quoted, mut line) = (String::new(), false, 1);
    let mut chars = text.chars().peekable();
    let end = |row: &mut Vec<String>, done: &mut String| row.push(std::mem::take(done).trim().to_owned());
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        let row = rows.last_mut().expect("there is always a row");
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => field.push(chars.next().unwrap_or_default()),
            '"' if is_quoted || field.trim().is_empty() => is_quoted = !is_quoted,
            _ if is_quoted => field.push(c),
            '"' => {
                return Err(format!(
                    "line {line}: a quote inside a field: put the field into quotes, and double those in it"
                ));
            }
            ',' => end(row, &mut field),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                end(row, &mut field);
                rows.push(Vec::new());
            }
            _ => field.push(c),
        }
    }
    if is_quoted {
        return Err("a quote is not closed".into());
    }
    end(rows.last_mut().expect("there is always a row"), &mut field);
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn fields_may_be_quoted() {
        let read = rows("cc,rate\ncubic, 1 Mbit/s\r\n\n\"a, \"\"b\"\"\",2\n").unwrap();
        assert_eq!(read, [["cc", "rate"], ["cubic", "1 Mbit/s"], ["a, \"b\"", "2"]]);
        assert!(rows("a\n\"b").unwrap_err().contains("not closed"));
        assert!(rows("a\nb\"c\n").unwrap_err().contains("line 2"));
        assert_eq!(rows("\n\n").unwrap(), Vec::<Vec<String>>::new());
    }
}
