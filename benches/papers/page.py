"""The page: what the papers published, and what was found here, as HTML and Markdown with pictures."""

import html
import json
import pathlib
import re

import pictures

PAPERS = {
    "dummynet": "L. Rizzo: Dummynet: a simple approach to the evaluation of network protocols (CCR 1997)",
    "gine": "A. Ihara, S. Murase, K. Goto: IPv4/v6 network emulator using divert socket (GINE)",
    "vito": "A. Stockmayer, C. Kindermann, M. Menth: VITO: virtual testbed orchestration (VALUETOOLS 2017)",
    "vimage": "M. Zec, M. Mikuc: Real-time IP network simulation at gigabit data rates",
    "time-warp": "D. Gupta and others: To infinity and beyond: time-warped network emulation (NSDI 2006)",
}
STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #8886 }
th:first-child, td:first-child { text-align: left }
td.published, th.published { opacity: .75; font-style: italic }
img { max-width: 100%; background: white; border-radius: 4px }
code { font-size: .9em }
p.played { font-size: .9em; opacity: .8 }
"""
LINK = re.compile(r"`([^`]+)`")


def number(value: float | None, column: dict) -> str:
    """A figure in a cell."""
    return "" if value is None else f"{value * column.get('scale', 1):.{column.get('digits', 2)}f}"


def cell(figure: dict | None, column: dict) -> str:
    """A figure with what it varies by: the interval of the mean, or the deviation where the column asks for it."""
    if figure is None or figure["mean"] is None:
        return "none"
    spread = figure.get(column.get("spread", "ci95"))
    told = number(figure["mean"], column)
    return f"{told} ± {number(spread, column)}" if spread else told


def by_points(experiment: dict, found: dict) -> tuple[list[str], list[list[str]]]:
    """One row for each point of the sweep."""
    shown = experiment["parameters"]
    published = experiment.get("published", {"titles": [], "values": {}})
    head = [*shown.values(), *published["titles"], *(column["title"] for column in experiment["column"])]
    rows = []
    for point in found["points"]:
        values = [str(point["parameters"].get(name, "")) for name in shown]
        theirs = published["values"].get(" | ".join(values), [""] * len(published["titles"]))
        ours = [cell(point["figures"].get(column["figure"]), column) for column in experiment["column"]]
        rows.append([*values, *theirs, *ours])
    return head, rows


def by_figures(experiment: dict, found: dict) -> tuple[list[str], list[list[str]]]:
    """One row for each group of figures of the only run."""
    figures = found["points"][0]["figures"]
    titles = experiment.get("published", {"titles": []})["titles"]
    head = ["", *titles, *(column["title"] for column in experiment["column"])]
    rows = []
    for row in experiment["row"]:
        pairs = zip(row["figures"], experiment["column"], strict=True)
        ours = [cell(figures.get(name), column) if name else "" for name, column in pairs]
        rows.append([row["title"], *row.get("published", [""] * len(titles)), *ours])
    return head, rows


def told(found: dict) -> str:
    """How the runs of a sweep ended."""
    count = "1 run" if found["runs"] == 1 else f"{found['runs']} runs"
    parts = [f"{count} on the clock {', '.join(found['clocks'])}", f"{found['as_described']} as described"]
    if found["not_as_described"]:
        parts.append(f"{found['not_as_described']} not as described")
    if found["unmet"]:
        parts.append(f"{found['unmet']} with expectations that were not met")
    return ", ".join(parts)


def blocks(out: pathlib.Path, machine: dict[str, str], outcomes: list[dict], quick: bool) -> list[tuple]:
    """The page as a list of headings, paragraphs, tables and pictures."""
    page: list[tuple] = [
        ("h1", "The experiments of five papers"),
        ("p", "Each experiment of the papers as a lab or sweep of Netloom, with the published figures (in italics) beside ours."),
        ("p", f"Played on {machine['processors']}, {machine['kernel']}, by {machine['program']}, {machine['date']}; {machine['load']} "
              "processes wanted to run before. Figures in virtual time are the same on every machine."),
    ]
    if quick:
        page.append(("p", "This is the quick form: few points and short ones, to see whether everything works. Do not compare its figures."))
    last = None
    for outcome in outcomes:
        experiment = outcome["experiment"]
        if experiment["paper"] != last:
            last = experiment["paper"]
            page.append(("h2", PAPERS[last]))
        page.append(("h3", experiment["title"]))
        page.append(("p", f"The paper: {experiment['found']}"))
        if experiment.get("differs"):
            page.append(("p", f"What differs here: {experiment['differs']}"))
        if "error" in outcome:
            page.append(("p", f"It could not be measured: {outcome['error']}"))
            continue
        found = outcome["found"]
        layout = by_figures if "row" in experiment else by_points
        head, rows = layout(experiment, found)
        page.append(("table", head, rows, len(experiment.get("published", {"titles": []})["titles"]), len(experiment.get("parameters", [0]))))
        page += [("img", name, experiment["title"]) for name in pictures.draw(experiment, found, out)]
        page.append(("played", f"`netloom sweep examples/papers/{experiment['lab']}`: {told(found)}; {outcome['seconds']:.0f} s of wall time."))
    return page


def as_html(page: list[tuple]) -> str:
    """The page as HTML."""
    parts = []

    def marked(text: str) -> str:
        return LINK.sub(r"<code>\1</code>", html.escape(text))

    for kind, *rest in page:
        match kind:
            case "table":
                head, rows, published, first = rest
                italics = range(first, first + published)
                parts.append("<table><thead>" + row("th", head, italics) + "</thead><tbody>")
                parts += [row("td", cells, italics) for cells in rows]
                parts.append("</tbody></table>")
            case "img":
                parts.append(f'<p><img src="{html.escape(rest[0])}" alt="{html.escape(rest[1])}"></p>')
            case "played":
                parts.append(f'<p class="played">{marked(rest[0])}</p>')
            case _:
                parts.append(f"<{kind}>{marked(rest[0])}</{kind}>")
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The experiments of five papers</title><style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )


def row(tag: str, cells: list[str], italics: range) -> str:
    """A row of a table in HTML."""
    told = (
        f'<{tag}{" class=published" if place in italics else ""}>{html.escape(cell)}</{tag}>' for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(told)}</tr>"


def as_markdown(page: list[tuple]) -> str:
    """The page as Markdown."""
    parts = []
    for kind, *rest in page:
        match kind:
            case "table":
                head, rows, published, first = rest
                lines = [head, ["---"] * len(head), *rows]
                parts.append("\n".join("| " + " | ".join(cells) + " |" for cells in lines))
            case "img":
                parts.append(f"![{rest[1]}]({rest[0]})")
            case "p" | "played":
                parts.append(rest[0])
            case _:
                parts.append(f"{'#' * int(kind[1])} {rest[0]}")
    return "\n\n".join(parts) + "\n"


def write(out: pathlib.Path, machine: dict[str, str], outcomes: list[dict], quick: bool) -> None:
    """Writes the page, and its figures as JSON."""
    page = blocks(out, machine, outcomes, quick)
    (out / "papers.html").write_text(as_html(page))
    (out / "papers.md").write_text(as_markdown(page))
    figures = [
        {"name": one["experiment"]["name"], "error": one.get("error"), "found": one.get("found")} for one in outcomes
    ]
    (out / "papers.json").write_text(json.dumps({"machine": machine, "quick": quick, "experiments": figures}, indent=1) + "\n")
