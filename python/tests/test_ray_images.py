"""Images of nodes on Ray: a machine that has not the image of a node gets it from where the lab comes from, once."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ray_cluster

from netloom import _left, _program, _ray_worker
from netloom._ray_images import Images
from netloom._ray_worker import Image, Lab, Part, Work, digest_of, play_lab_with, play_with

MAKE_IMAGE = Path(__file__).parents[2] / "tests" / "system" / "image.py"

LAB = """
name: shop
CLOCK
machines: {a: {}, b: {}}
nodes: {web: {machine: a}, db: {machine: b, image: "tools:1.0", entrypoint: none}}
links: {line: {ends: [web, db], rate: 20 Mbit/s, delay: 10 ms}}
timeline:
  - {on: db, run: "sh -c 'cat /etc/os-release; echo $WORD'", as: said}
"""


def made_image(home: Path, word: str, name: str = "tools:1.0") -> tuple[dict[str, str], str]:
    """A cache of its own with an image whose programs have this word: the environment of who uses it, and the image's ID."""
    config = json.dumps({"Env": [f"WORD={word}", "PATH=/bin"], "Cmd": ["sh"]})
    subprocess.run([sys.executable, str(MAKE_IMAGE), str(home / word), config, "sh", "cat"], check=True)
    environment = {**kernel(), **os.environ, "XDG_CACHE_HOME": str(home / "cache")}
    words = [_program.program(), "image", "import", f"oci:{home / word}", "--name", name]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return environment, done.stdout.strip()


def kernel() -> dict[str, str]:
    """The kernel that is in the usual cache, for commands that have another one."""
    done = subprocess.run([_program.program(), "kernel", "list", "--json"], capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    return {"NETLOOM_KERNEL": listed[0]["path"]} if listed else {}


def made_root(environment: dict[str, str], folder: Path) -> None:
    """Makes a folder with what is in an image of this cache, and another file."""
    trees = Path(environment["XDG_CACHE_HOME"], "netloom", "images", "trees")
    [tree] = trees.iterdir()
    shutil.copytree(tree, folder, symlinks=True)
    (folder / "etc" / "os-release").write_text("ID=folder\n")


def images(environment: dict[str, str]) -> dict[str, list[str]]:
    """The names of all images in a cache, by their IDs."""
    words = [_program.program(), "image", "list", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return {image["id"]: image["names"] for image in json.loads(done.stdout)}


def packed(environment: dict[str, str], image: str) -> bytes:
    words = [_program.program(), "image", "pack", image]
    return subprocess.run(words, env=environment, capture_output=True, check=True).stdout


def test_a_machine_takes_an_image_that_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asker, image = made_image(tmp_path / "one", "asked")
    other, another = made_image(tmp_path / "other", "another")
    data, program = packed(asker, image), Path(_program.program()).read_bytes()
    store = {"image": data, "program": program}
    fetched: list[str] = []

    def get(reference: str) -> bytes:
        fetched.append(reference)
        return store[reference]

    origins = {"db": [{"source": "tools:1.0", "id": image, "manifest": None}]}
    text = LAB.replace("CLOCK\n", "").replace("machines: {a: {}, b: {}}\n", "").replace("machine: a", "")
    text = text.replace("machine: b, ", "").replace("timeline:", "bounds: {lateness: 100 s, starts: 100 s}\ntimeline:")
    lab = Lab(
        "shop.yaml",
        text,
        Part(digest_of(program), "program"),
        images=[Image(image, Part(digest_of(data), "image"))],
        origins=origins,
    )
    monkeypatch.setenv("XDG_CACHE_HOME", other["XDG_CACHE_HOME"])
    for run in range(2):
        ended = play_lab_with(lab, text, ["--json", "--no-report"], get)
        assert ended["code"] in (0, 5), ended["said"]
        _left.unpack(ended["archive"], tmp_path / "parts", f"run-{run}")
    logs = [path.read_text() for path in tmp_path.glob("parts/run-*/logs/*-said.stdout")]
    # The name means another image on that machine, and goes on to do so.
    assert logs == ["ID=image\nasked\n"] * 2
    assert images(other) == {image: [], another: ["tools:1.0"]}
    assert fetched.count("image") == 1, "the image is fetched once per machine"


def test_an_image_that_arrives_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asker, image = made_image(tmp_path / "one", "asked")
    data, program = packed(asker, image), Path(_program.program()).read_bytes()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    changed = {"image": data[:-1] + bytes([data[-1] ^ 1]), "program": program}
    part = Part(digest_of(program), "program")
    lab = Lab("shop.yaml", LAB, part, images=[Image(image, Part(digest_of(data), "image"))])
    with pytest.raises(RuntimeError, match=f"the image {image} did not arrive as it was sent"):
        _ray_worker.programs(lab, changed.__getitem__)
    lab = replace(lab, origins={"db": [{"source": "tools:1.0", "id": image}]})
    with pytest.raises(RuntimeError, match=f"machine {socket.gethostname()}: the image tools:1.0 did not arrive"):
        play_lab_with(lab, LAB, [], changed.__getitem__)
    assert images({**os.environ, "XDG_CACHE_HOME": str(tmp_path / "empty")}) == {}


VARIED = """
name: varied
vary: {image: ["tools:1.0", "tools:2.0", "rootfs:root"]}
nodes: {db: {image: "${image}", entrypoint: none}, web: {}}
links: {line: {ends: [db, web], delay: 10 ms}}
timeline:
  - {on: db, run: "sh -c 'cat /etc/os-release; echo $WORD'", as: said}
"""


def test_a_run_of_a_sweep_says_which_images_its_machine_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asker, one = made_image(tmp_path, "first")
    _, two = made_image(tmp_path, "second", "tools:2.0")
    monkeypatch.setenv("XDG_CACHE_HOME", asker["XDG_CACHE_HOME"])
    store: dict[str, bytes] = {"program": Path(_program.program()).read_bytes()}

    class Ray:
        def put(self, data: bytes) -> str:
            store[digest_of(data)] = data
            return digest_of(data)

    told: list[str] = []
    made_root(asker, tmp_path / "root")
    (tmp_path / "varied.yaml").write_text(VARIED)
    images = Images(Ray(), ["varied.yaml"], told.append)
    ids = [origin["id"] for origin in images.origins["db"]]
    assert list(images.origins) == ["db"] and ids[:2] == [one, two] and len(set(ids)) == 3
    assert [text for text in told if not text.startswith("copying rootfs:root to the cache (")] == [] and len(told) == 1
    told.clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    lab = Lab("varied.yaml", VARIED, Part(digest_of(store["program"]), "program"), origins=images.origins)
    missing = play_with(Work(lab, []), 3, store.__getitem__)
    assert isinstance(missing, list) and sorted(missing) == sorted(ids)
    assert not told, "what no machine lacks is not packed"
    monkeypatch.setenv("XDG_CACHE_HOME", asker["XDG_CACHE_HOME"])
    lab = images.given(lab, missing)
    assert images.given(lab, missing) == lab and len(told) == 3
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    for number, said in ((2, "ID=image\nsecond\n"), (3, "ID=folder\n\n")):
        played = play_with(Work(lab, ["--no-report"]), number, store.__getitem__)
        assert isinstance(played, bytes)
        _left.unpack(played, tmp_path / "runs", str(number))
        [log] = (tmp_path / "runs" / str(number)).rglob("*-said.stdout")
        assert log.read_text() == said


@pytest.mark.skipif(not os.environ.get("NETLOOM_TEST_RAY"), reason="only with NETLOOM_TEST_RAY=1: Ray has 80 MB")
def test_images_travel_to_machines_of_a_cluster_once(tmp_path: Path) -> None:
    asker, image = made_image(tmp_path / "one", "asked")
    other, another = made_image(tmp_path / "other", "another")
    # Credentials of registries stay where they are.
    secret = "c2VjcmV0LW9mLXRoZS1hc2tlcg=="
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "config.json").write_text(json.dumps({"auths": {"registry.test": {"auth": secret}}}))
    # An image that is a folder here, and nowhere else.
    made_root(asker, tmp_path / "root")
    text = LAB.replace("CLOCK", "clock: virtual").replace(
        "nodes: {", 'nodes: {files: {machine: b, image: "rootfs:root", entrypoint: none}, '
    )
    text = text.replace("links: {", "links: {more: {ends: [files, db], delay: 1 ms}, ")
    (tmp_path / "lab.yaml").write_text(text + '  - {on: files, run: "cat /etc/os-release", as: told}\n')
    cluster = ray_cluster([asker["XDG_CACHE_HOME"], other["XDG_CACHE_HOME"]])
    try:
        environment = {**asker, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}
        environment["DOCKER_CONFIG"] = str(tmp_path / "docker")
        found: list[tuple[Path, str]] = []
        for name, more in (("whole", []), ("first", ["--on", "ray"]), ("second", ["--on", "ray"])):
            words = [_program.program(), "run", "lab.yaml", "--json", "--results", name, *more]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=600)
            report: dict[str, Any] = json.loads(done.stdout or "{}")
            assert done.returncode == 0, done.stderr
            # What is told of the machines is in the results: `--json` shows no progress.
            log = Path(report["results"]) / "machines.log"
            found.append((Path(report["results"]), log.read_text() if more else ""))
    finally:
        cluster.shutdown()
    logs = [next((folder / "logs").glob("*-said.stdout")).read_text() for folder, _ in found]
    assert logs == ["ID=image\nasked\n"] * 3
    logs = [next((folder / "logs").glob("*-told.stdout")).read_text() for folder, _ in found]
    assert logs == ["ID=folder\n"] * 3
    for source in ("tools:1.0", "rootfs:root"):
        assert [f"packing the image {source}" in said for _, said in found] == [False, True, False]
    # The other machine's own name means what it meant.
    copied = images(other)
    assert copied.pop(image) == [] and copied.pop(another) == ["tools:1.0"] and list(copied.values()) == [[]]
    for path in (tmp_path / "other").rglob("*"):
        assert not path.is_file() or path.is_symlink() or secret.encode() not in path.read_bytes(), path


@pytest.mark.skipif(not os.environ.get("NETLOOM_TEST_RAY"), reason="only with NETLOOM_TEST_RAY=1: Ray has 80 MB")
def test_images_of_sweeps_and_hunts_travel_too(tmp_path: Path) -> None:
    asker, one = made_image(tmp_path / "one", "first")
    _, two = made_image(tmp_path / "one", "second", "tools:2.0")
    other, another = made_image(tmp_path / "other", "another")
    made_root(asker, tmp_path / "root")
    (tmp_path / "varied.yaml").write_text(VARIED.replace("vary:", "repeat: 2\nvary:"))
    hunt = "duration: 2 s\nhunt: {quiet: 1 s, always: ['log said matches \"first\"']}"
    hunted = "clock: virtual" + VARIED.replace('vary: {image: ["tools:1.0", "tools:2.0", "rootfs:root"]}', hunt)
    (tmp_path / "hunted.yaml").write_text(hunted.replace("${image}", "tools:1.0").replace("varied", "hunted"))
    cluster = ray_cluster([asker["XDG_CACHE_HOME"], other["XDG_CACHE_HOME"]])
    try:
        environment = {**asker, "NETLOOM_PYTHON": sys.executable, "RAY_ADDRESS": cluster.address}

        def call(*words: str) -> str:
            done = subprocess.run(
                [_program.program(), *words, "--on", "ray"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
            )
            assert done.returncode == 0, done.stderr
            return done.stderr

        said = call("sweep", "varied.yaml", "--out", "out", "--no-report")
        assert [said.count(f"packing the image {name}") for name in ("tools:1.0", "tools:2.0", "rootfs:root")] == [
            1
        ] * 3
        # Its own name means what it meant.
        there = images(other)
        assert len(there) == 4 and there[one] == there[two] == [] and there[another] == ["tools:1.0"]
        logs = [path.read_text() for path in sorted((tmp_path / "out" / "runs").rglob("*-said.stdout"))]
        assert logs == ["ID=image\nfirst\n"] * 2 + ["ID=image\nsecond\n"] * 2 + ["ID=folder\n\n"] * 2
        subprocess.run([_program.program(), "image", "remove", one], env=other, check=True)
        said = call("hunt", "hunted.yaml", "--out", "hunted", "--runs", "4", "--vary-seed")
        assert said.count("packing the image tools:1.0") == 1
        assert images(other) == there
    finally:
        cluster.shutdown()
