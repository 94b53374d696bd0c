"""Repeats the experiments of five papers, and writes one page with our figures beside the published ones.

The experiments are in examples/papers/papers.toml: which lab or sweep each is, what the paper found, and what differs. Every one is
played by `netloom sweep`, so that an interrupted series goes on where it was.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

if sys.version_info < (3, 11):
    sys.exit("papers: this needs Python 3.11 or newer")
# The distribution's Python has the distribution's matplotlib, whichever comes first in PATH.
SYSTEM = "/usr/bin/python3"
if not importlib.util.find_spec("matplotlib"):
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM) or not os.path.exists(SYSTEM):
        sys.exit("papers: python3-matplotlib is missing: scripts/install-deps papers")
    os.execv(SYSTEM, [SYSTEM, *sys.orig_argv[1:]])

import tomllib  # noqa: E402

import extras  # noqa: E402
import page  # noqa: E402
from extras import Failed  # noqa: E402

LIST = ROOT / "examples" / "papers" / "papers.toml"
# Exit codes of `netloom sweep` after which its tables are there: as described, an expectation not met, not as described.
PLAYED = (0, 1, 5)



def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="papers", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="only experiments whose names begin so")
    parser.add_argument("--quick", action="store_true", help="few points and short ones: do the experiments work?")
    parser.add_argument("--out", type=pathlib.Path, help="the folder of the page; default: results/papers")
    parser.add_argument("--netloom", type=pathlib.Path, help="the program; default: $NETLOOM, or target/dist/netloom")
    parser.add_argument("--list", action="store_true", help="print the experiments and play nothing")
    return parser.parse_args()


def lab_text(experiment: dict, quick: bool) -> str:
    """The lab file of an experiment, in its quick form if that is asked for."""
    path = LIST.parent / experiment["lab"]
    text = path.read_text()
    for old, new in experiment.get("quick", []) if quick else []:
        if old not in text:
            raise Failed(f"{path} has no `{old}`, which the quick form replaces")
        text = text.replace(old, new)
    return text


def sweep(netloom: pathlib.Path, lab: pathlib.Path, folder: pathlib.Path, clock: str | None) -> dict:
    """Plays a lab, goes on with it, or reads what it has left."""
    command = [netloom, "sweep", lab, "-o", folder, "--json", "--quiet", "--wall-limit", "30 min"]
    command += ["--clock", clock] if clock else []
    for more in [["--resume"], []] if folder.exists() else [[]]:
        done = subprocess.run([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode in PLAYED:
            return json.loads(done.stdout)
        if not more:
            raise Failed(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
        # It is another lab by now.
        shutil.rmtree(folder)
    raise AssertionError("the last attempt returns or raises")


def play(experiment: dict, options: argparse.Namespace, netloom: pathlib.Path, out: pathlib.Path) -> dict:
    """One experiment: what its sweep found, with what is computed from the files of its runs."""
    lab = out / "labs" / f"{experiment['name']}.yaml"
    lab.parent.mkdir(parents=True, exist_ok=True)
    text = lab_text(experiment, options.quick)
    if not lab.exists() or lab.read_text() != text:
        lab.write_text(text)
    folder = out / "sweeps" / experiment["name"]
    begin = time.monotonic()
    found = sweep(netloom, lab, folder, experiment.get("clock"))
    if found["failed"]:
        raise Failed(f"{found['failed']} of {found['runs']} runs failed: see {folder}/runs.csv")
    extras.add(experiment, found, folder, netloom)
    return {"experiment": experiment, "found": found, "seconds": time.monotonic() - begin}


def machine(netloom: pathlib.Path) -> dict[str, str]:
    """What the figures were measured on."""
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    version = subprocess.run([netloom, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return {
        "processors": f"{os.cpu_count()} x {model}",
        "kernel": f"{platform.system()} {platform.release()}",
        "program": version,
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def span(seconds: float) -> str:
    """A time for people."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def program(options: argparse.Namespace) -> pathlib.Path:
    """The program that plays everything."""
    asked = options.netloom or os.environ.get("NETLOOM")
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    netloom = pathlib.Path(asked) if asked else target / "dist" / "netloom"
    if not netloom.is_file():
        sys.exit(f"papers: there is no program {netloom}: make build, or --netloom PATH")
    return netloom.resolve()


def main() -> int:
    """Plays the experiments one after the other, and writes the page after each."""
    options = arguments()
    experiments = tomllib.loads(LIST.read_text())["experiment"]
    if options.names:
        experiments = [one for one in experiments if one["name"].startswith(tuple(options.names))]
    if not experiments:
        sys.exit(f"papers: no experiment begins with {' or '.join(options.names)}; --list shows them")
    takes = [one["quick_seconds" if options.quick else "seconds"] for one in experiments]
    if options.list:
        for one, seconds in zip(experiments, takes, strict=True):
            print(f"{one['name']:26} {span(seconds):>7}  {one['lab']:34} {one['title']}")
        return 0
    netloom, out = program(options), options.out or ROOT / "results" / ("papers-quick" if options.quick else "papers")
    out.mkdir(parents=True, exist_ok=True)
    told, outcomes, begin, good = machine(netloom), [], time.monotonic(), True
    for place, one in enumerate(experiments):
        gone, left = span(time.monotonic() - begin), span(sum(takes[place:]))
        print(f"[{place + 1}/{len(experiments)}] {one['name']}: {one['title']}; {gone} gone, about {left} left", file=sys.stderr)
        try:
            outcome = play(one, options, netloom, out)
        except Failed as failed:
            print(f"  it could not be measured: {failed}", file=sys.stderr)
            outcome, good = {"experiment": one, "error": str(failed)}, False
        else:
            found = outcome["found"]
            print(f"  {page.told(found)}; {span(outcome['seconds'])}", file=sys.stderr)
            # What a machine that has other work does to a lab in real time says nothing against the experiment.
            good = good and not (found["unmet"] and extras.is_virtual(found))
        outcomes.append(outcome)
        page.write(out, told, outcomes, options.quick)
    print(f"papers: {out / 'papers.html'}", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
