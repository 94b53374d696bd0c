"""Adapts the pages of docs/, which are written for a Git host, to MkDocs.

- A link to a file outside of docs/ leads to a page below `source/` that shows that file.
- Python-Markdown wants an empty line before a list, and nested blocks indented by four blanks; the pages have neither.
- `congestion.html`, a report, would have the name of the page made from `congestion.md`: it is published as
  `congestion-report.html`.
"""

import pathlib
import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

FENCE = re.compile(r"^ *```")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
ITEM = re.compile(r"( *)([-*]|\d+\.) ")
# Languages of code by the ends of file names.
LANGUAGES = {".yaml": "yaml", ".py": "python", ".rs": "rust", ".sh": "sh", ".toml": "toml", ".c": "c"}
# Files whose names in the site are not those that they have in the repository.
RENAMED = {
    "docs/congestion.html": "congestion-report.html",
    "scripts/site/iframe-worker.js": "assets/iframe-worker.js",
    "scripts/site/style.css": "assets/style.css",
}


def in_repository(page: str) -> str:
    """Returns the path in the repository of a file of the site."""
    if page.startswith("source/"):
        return page.removeprefix("source/").removesuffix(".page.md")
    return f"docs/{page}"


def in_site(path: str) -> str:
    """Returns the path in the site's sources of a file of the repository."""
    if path in RENAMED:
        return RENAMED[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.page.md"


def target(page: str, link: str) -> tuple[str, str] | None:
    """Returns the path in the repository that a link of a page leads to, and its anchor; None if it leads elsewhere."""
    place, mark, anchor = link.partition("#")
    if not place or "://" in link or link.startswith("mailto:"):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(page)), place)), mark + anchor


def outside_code(text: str) -> list[tuple[str, bool]]:
    """Returns the lines of a page, each with whether it is prose, not part of a fenced block."""
    lines, fenced = [], False
    for line in text.splitlines():
        border = bool(FENCE.match(line))
        lines.append((line, not fenced and not border))
        fenced ^= border
    return lines


def with_links(page: str, text: str) -> str:
    """Rewrites the links of a page from paths in the repository to paths in the site."""

    def rewritten(match: re.Match[str]) -> str:
        found = target(page, match[2])
        if found is None:
            return match[0]
        relative = posixpath.relpath(in_site(found[0]), posixpath.dirname(page) or ".")
        return f"{match[1]}{relative}{found[1]}{match[3]}"

    return "\n".join(LINK.sub(rewritten, line) if prose else line for line, prose in outside_code(text)) + "\n"


def with_lists(text: str) -> str:
    """Puts an empty line before each list, and indents what belongs to an item by four blanks for each level."""
    lines: list[str] = []
    # The columns at which the contents of the open items begin.
    open_items: list[int] = []
    for line, prose in outside_code(text):
        if not line.strip():
            lines.append(line)
            continue
        column = len(line) - len(line.lstrip())
        while open_items and column < open_items[-1]:
            open_items.pop()
        item = ITEM.match(line) if prose else None
        if item and not open_items and lines and lines[-1].strip() and not ends_item(lines):
            lines.append("")
        levels = len(open_items)
        lines.append(" " * 4 * levels + line[open_items[-1] if levels else 0 :])
        if item:
            open_items.append(item.end())
    return "\n".join(lines) + "\n"


def ends_item(lines: list[str]) -> bool:
    """Whether the last paragraph of these lines belongs to an item of a list."""
    for line in reversed(lines):
        if not line.strip() or line.startswith(("#", "|")):
            return False
        if ITEM.match(line) or line.startswith("    "):
            return True
    return False


def shown(path: str) -> str:
    """Returns a page that shows a file of the repository, or lists a folder."""
    place = ROOT / path
    if place.suffix == ".md":
        return place.read_text()
    # A hit in a file would show all of it.
    head = f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n"
    if place.is_dir():
        names = sorted(one.name for one in place.iterdir() if one.suffix in LANGUAGES)
        return head + "".join(f"- [{name}]({place.name}/{name})\n" for name in names)
    return f"{head}````{LANGUAGES.get(place.suffix, 'text')}\n{place.read_text()}````\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of all files outside of docs/ that some page links to, and those of `RENAMED`."""
    for path, name in RENAMED.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / path)))
    pending = [(file.src_uri, file.content_string) for file in files.documentation_pages()]
    while pending:
        page, text = pending.pop()
        prose = "\n".join(line for line, is_prose in outside_code(text) if is_prose)
        for _, link, _ in LINK.findall(prose):
            found = target(page, link)
            if found is None or found[0].startswith("docs/") or in_site(found[0]) in files.src_uris:
                continue
            if found[0].startswith("..") or not (ROOT / found[0]).exists():
                raise PluginError(f"{in_repository(page)} links to {link}, which does not exist")
            made = File.generated(config, in_site(found[0]), content=shown(found[0]))
            files.append(made)
            pending.append((made.src_uri, made.content_string))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrites links and lists of a page."""
    return with_lists(with_links(page.file.src_uri, markdown))
