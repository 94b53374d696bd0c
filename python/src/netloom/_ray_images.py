"""The images of a lab on this machine, for the machines of a cluster of Ray that lack them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from . import _program, _ray_worker
from ._ray_worker import Image, Lab, Part


class Images:
    """The images of a lab file, found and unpacked here. Each is packed and handed to Ray once, when the first machine lacks it."""

    def __init__(self, ray: Any, lab: Sequence[str], tell: Callable[[str], None]) -> None:
        """`lab`: the lab file, and the options with which it is read."""
        self._ray, self._tell = ray, tell
        #: The images of each node, as the provenance of a run says it: several if they differ between the points of a sweep.
        self.origins: dict[str, list[dict[str, Any]]] = json.loads(_program.follow(["image", "find", *lab], self._tell))
        self._packed: dict[str, Image] = {}
        self._packing = threading.Lock()

    def of(self, nodes: Collection[str]) -> list[str]:
        """The IDs of the images of these nodes."""
        return sorted({origin["id"] for node in nodes for origin in self.origins.get(node, ())})

    def packed(self, ids: Iterable[str]) -> list[Image]:
        """These images, handed to Ray."""
        with self._packing:
            return [self._packed.get(image) or self._pack(image) for image in ids]

    def given(self, lab: Lab, ids: Iterable[str]) -> Lab:
        """A lab with these images for a machine that lacks them."""
        return replace(lab, images=self.packed(ids))

    def _pack(self, image: str) -> Image:
        self._tell(f"packing the image {_ray_worker.source_of(self.origins, image)} for machines that lack it")
        data = _program.call(["image", "pack", image]).stdout
        self._packed[image] = Image(image, Part(_ray_worker.digest_of(data), self._ray.put(data)))
        return self._packed[image]
