"""Labs under asyncio."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from conftest import two_nodes

from netloom import CalledProcessError, ClosedError, RefusedError, TimeoutExpired
from netloom.process import PIPE

pytestmark = pytest.mark.filterwarnings("ignore::netloom.NotAsDescribedWarning")


def test_programs_run_beside_one_another() -> None:
    async def main() -> None:
        async with two_nodes(delay="1 ms").up_async() as live:
            names = await asyncio.gather(*(live[node].shell("hostname") for node in ("a", "b", "a", "b")))
            assert names == ["a", "b", "a", "b"]
            assert (await live["a"].run(["cat"], input="x" * 300_000)).stdout == "x" * 300_000
            with pytest.raises(CalledProcessError):
                await live["a"].shell("exit 3")
            with pytest.raises(RefusedError, match="program not found"):
                await live["a"].run(["nonsense"])
            with pytest.raises(TimeoutExpired):
                await live["a"].run(["sleep", "60"], timeout=0.2)
            process = await live["b"].popen("read x; echo got $x", stdin=PIPE, stdout=PIPE)
            assert await process.communicate(b"it\n") == (b"got it\n", None)
            process.close()
            await live.link("l").set(delay="5 ms")
            async for event in live.events(from_start=True):
                if event.what == "link changed":
                    break
            assert (await live.now()).clock == "real"
        assert not Path(live.sync.socket_path).exists()
        with pytest.raises(ClosedError, match="is not up any more"):
            await live["a"].run(["true"])

    asyncio.run(main())


def test_a_lab_belongs_to_its_event_loop() -> None:
    lab = two_nodes()

    async def bring_up():  # type: ignore[no-untyped-def]
        return await lab.up_async()

    live = asyncio.run(bring_up())
    try:
        with pytest.raises(ClosedError, match="was brought up in another event loop"):
            asyncio.run(live["a"].run(["true"]))
    finally:
        live.sync.down()


def test_a_cancelled_lab_goes() -> None:
    async def main() -> None:
        task = asyncio.ensure_future(two_nodes().up_async()._bring_up())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
