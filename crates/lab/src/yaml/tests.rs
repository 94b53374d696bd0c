use super::*;

fn right(text: &str) -> Node {
    parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn wrong(text: &str) -> Vec<(usize, String)> {
    let errors = parse(text).expect_err("it is wrong");
    errors.iter().map(|error| (error.line(), error.message().to_owned())).collect()
}

fn entry<'a>(node: &'a Node, name: &str) -> &'a Entry {
    let Content::Map(entries) = &node.content else { panic!("{} is a map", node.key) };
    entries.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("{name} is there"))
}

#[test]
fn nodes_know_their_keys_and_places() {
    let text = "# Größe\nä: [1, {b: 'ß c'}]\nnext: ~\r\nlast: |\n  x\n";
    let root = right(text);
    let Content::List(items) = &entry(&root, "ä").value.content else { panic!("it is a list") };
    let inner = entry(&items[1], "b");
    assert_eq!(inner.value.key, "ä[1].b");
    assert_eq!(&text[inner.span.start..inner.span.end], "b");
    assert_eq!(&text[inner.value.span.start..inner.value.span.end], "'ß c'");
    assert_eq!(inner.value.span.line, 2);
    assert_eq!(inner.value.plain(), None);
    assert_eq!(items[0].plain(), Some("1"));
    assert_eq!(entry(&root, "next").value.content, Content::Empty);
    assert_eq!(entry(&root, "last").value.text(), Some("x\n"));
    assert_eq!(entry(&root, "last").span.line, 4);
}

#[test]
fn literal_blocks_know_the_line_of_their_first_line() {
    let root = right("a: 1\nb: &b |  # why\n  x\n  y\nc: |-\n\n  z\nd: >\n  f\ne: *b\nf:\n  g: |2\n      h\n");
    let block = |name: &str| entry(&root, name).value.block();
    assert_eq!(["a", "b", "c", "d", "e"].map(block), [None, Some(3), Some(6), None, Some(3)]);
    assert_eq!(entry(&root, "c").value.text(), Some("\nz"));
    assert_eq!(entry(&entry(&root, "f").value, "g").value.block(), Some(13));
}

#[test]
fn anchors_and_merge_keys_work() {
    let root = right("base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nx: {b: 9, <<: [*base, *more]}\ny: *base\n");
    let texts = |name: &str| {
        let Content::Map(entries) = &entry(&root, name).value.content else { panic!("it is a map") };
        entries
            .iter()
            .map(|entry| (entry.value.key.clone(), entry.value.text().unwrap_or("").to_owned()))
            .collect::<Vec<_>>()
    };
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
    assert_eq!(texts("x"), pairs(&[("x.b", "9"), ("x.a", "1"), ("x.c", "4")]));
    assert_eq!(texts("y"), pairs(&[("y.a", "1"), ("y.b", "2")]));
}

#[test]
fn all_keys_that_are_there_twice_are_found() {
    let again = "this key is here twice: keep one of them".to_owned();
    assert_eq!(wrong("a: 1\nb: {c: 1, c: 2}\na: 3\na: 4\n"), [(2, again.clone()), (3, again.clone()), (4, again)]);
}

#[test]
fn what_lab_files_do_not_use_is_refused() {
    assert_eq!(wrong("a: !thing 1\n")[0].1, "the tag `!thing` has no meaning here: lab files use no tags");
    assert_eq!(wrong("a: 1\n---\nb: 2\n"), [(2, "a second document begins here: a lab file has one".into())]);
    assert_eq!(wrong("[1]: 2\n")[0].1, "a key is a word, for example `delay`");
    assert_eq!(wrong("<<: 3\n")[0].1, "`<<` takes in other maps: write for example `<<: *defaults`");
    for empty in ["", "# only a comment\n", "---\n", "~\n"] {
        assert_eq!(wrong(empty)[0].0, 0, "{empty:?}");
    }
}

#[test]
fn neither_depth_nor_copies_exhaust_the_machine() {
    let deep = format!("a: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(wrong(&deep).len(), 1);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let alias = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(", ")));
    }
    assert_eq!(wrong(&bomb)[0].1, "more than 1000000 values: aliases multiply them");
}

#[test]
fn editors_of_all_systems_may_have_written_the_file() {
    let text = "\u{feff}a: x\r\nb:\r\n  - y\r\n";
    let root = right(text);
    let place = entry(&root, "b").span;
    assert_eq!((&text[place.start..place.end], place.line), ("b", 2));
    assert_eq!(entry(&root, "a").value.text(), Some("x"));
}

#[test]
fn values_of_several_lines_have_their_ends() {
    let text = "flow: {a: 1,   # one\n  b: 'x }',\n  c: [d,\n    e # }\n  ],\n} # two\nlist:\n  - {f: g}   # three\n  - h\n\nliteral: |-  # four\n  ü {\n    i\n\n  j\n\nfolded: >\n  k\n  l\nplain: m\n  n  # five\nquoted: \"o\n  p\\\" # q\"\nempty:\nlast: &x {}\nalias: *x\nmore: {r: , s: *x}\n# six\n";
    let root = right(text);
    let ends = |name: &str| {
        let value = &entry(&root, name).value;
        text[value.span.start..value.end].to_owned()
    };
    assert_eq!(ends("flow"), "{a: 1,   # one\n  b: 'x }',\n  c: [d,\n    e # }\n  ],\n}");
    assert_eq!(ends("list"), "- {f: g}   # three\n  - h");
    assert!(ends("literal").ends_with("ü {\n    i\n\n  j"), "{}", ends("literal"));
    assert!(ends("folded").ends_with("k\n  l"), "{}", ends("folded"));
    assert_eq!(ends("plain"), "m\n  n");
    assert_eq!(ends("quoted"), "\"o\n  p\\\" # q\"");
    assert_eq!((ends("empty").as_str(), ends("last").as_str(), ends("alias").as_str()), ("", "&x {}", "*x"));
    assert_eq!(ends("more"), "{r: , s: *x}");
    let Content::List(items) = &entry(&root, "list").value.content else { panic!("it is a list") };
    assert_eq!(&text[items[0].span.start..items[0].end], "{f: g}");
    assert!(text[..root.end].ends_with("s: *x}"));
}
