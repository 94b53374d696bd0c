use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    let said = |command: Command| command.words.into_iter().map(|word| word.text).collect();
    commands(text).all.into_iter().map(said).collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    assert_eq!(words("a b 'c d'e >x 2>&1 && f"), vec![vec!["a", "b", "c de"], vec!["f"]]);
    assert_eq!(words("a $(b c) \"d `e f`\""), vec![vec!["b", "c"], vec!["e", "f"], vec!["a", "$(b c)", "d `e f`"]]);
    assert_eq!(words("a=(b c) d; ((e << 2))"), vec![vec!["a=", "d"]]);
    assert_eq!(words("a # b; c\nd#e"), vec![vec!["a"], vec!["d#e"]]);
    assert_eq!(words("sh -c 'a; b' x"), vec![vec!["sh", "-c", "a; b", "x"], vec!["a"], vec!["b"]]);
}

#[test]
fn here_documents_are_no_commands() {
    let text = "cat > f <<E\na; b\nE\nc\n";
    assert_eq!(words(text), vec![vec!["cat"], vec!["c"]]);
    assert_eq!(without_documents(text), "cat > f <<E\nE\nc\n");
    assert_eq!(first_line(text), Some("cat > f <<E\na; b\nE\n".len()));
    let two = "cat <<A - <<-'B c'\n1\nA\n2\n\tB c\nd";
    assert_eq!(words(two), vec![vec!["cat", "-"], vec!["d"]]);
    // What reads it may act on it.
    assert_eq!(without_documents("vtysh <<E\na\nE\n"), "vtysh <<E\na\nE\n");
    assert_eq!(first_line("cat <<E\na\n"), None);
    assert_eq!(words("cat <<E\na\n"), vec![vec!["cat"], vec!["a"]]);
}

#[test]
fn files_that_are_written_are_known() {
    let of = |text: &str| written(text);
    let wanted = |text: &str| Some(("/etc/x".to_owned(), text.to_owned()));
    assert_eq!(of("cat > /etc/x <<EOF\na b\nEOF"), wanted("a b\n"));
    assert_eq!(of("cat <<'EOF' >/etc/x\n$a\nEOF\n"), wanted("$a\n"));
    assert_eq!(of("tee /etc/x <<-E > /dev/null\n\ta\n\tE\n"), wanted("a\n"));
    for other in ["cat > x <<E\n$a\nE\n", "cat >> x <<E\na\nE\n", "cat > x", "cat > x <<E && y\na\nE\n", "sh <<E\na\nE"]
    {
        assert_eq!(of(other), None, "{other}");
    }
}

#[test]
fn any_text_ends() {
    let pieces = [
        "$(", ")", "`", "\"", "'", "\\", "<<E", "\n", "E", "(", "${", "}", "<", ">", "&", "|", ";", "#", " ", "é",
        "sh -c ", "eval ", "$((",
    ];
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let found = commands(&text);
        for span in found.all.iter().flat_map(|command| &command.words).map(|word| &word.span) {
            assert!(text.get(span.clone()).is_some(), "{text:?}: {span:?}");
        }
        assert!(found.documents.iter().all(|span| text.get(span.clone()).is_some()), "{text:?}");
        let _ = (without_documents(&text), first_line(&text), written(&text));
    }
}
