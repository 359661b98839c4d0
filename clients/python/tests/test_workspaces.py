"""A workspace that the client serves to a real host."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tau_rpc import TauClient, Workspace, WorkspaceError
from tau_rpc.workspaces import WorkspaceServer

from . import test_remote
from .support import HostTest


class Process:
    def __init__(self, child: asyncio.subprocess.Process, pumps: list[asyncio.Task[None]]) -> None:
        self._child = child
        self._pumps = pumps

    @property
    def pid(self) -> int | None:
        return self._child.pid

    async def write(self, data: bytes) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(data)
        await self._child.stdin.drain()

    async def end_input(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()

    async def kill(self, name: str) -> None:
        try:
            os.killpg(self._child.pid, signal.Signals[name])
        except ProcessLookupError:
            pass

    async def wait(self) -> Mapping[str, Any]:
        code = await self._child.wait()
        await asyncio.gather(*self._pumps)
        if code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code}


class Folder(Workspace):
    """A workspace with the files of this machine."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.calls: list[str] = []
        self.started: list[str] = []

    async def describe(self) -> Mapping[str, Any]:
        self.calls.append("describe")
        places = {"homeDirectory": str(self.home), "temporaryDirectory": "/tmp", "shell": "/bin/sh"}
        return {"platform": "linux", **places, "limited": ["within", "atomic-write"]}

    async def stat(
        self, path: str, *, follow_links: bool, within: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        try:
            found = os.stat(path) if follow_links else os.lstat(path)
        except FileNotFoundError:
            return None
        kind = "directory" if Path(path).is_dir() else "file"
        size = found.st_size
        return {"kind": kind, "size": size, "mode": found.st_mode & 0o777, "realPath": os.path.realpath(path)}

    async def list(self, path: str, *, within: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
        entries = list(os.scandir(path))
        return [{"name": e.name, "kind": "directory" if e.is_dir() else "file"} for e in entries]

    async def read(
        self, path: str, *, offset: int, length: int, within: Mapping[str, Any] | None
    ) -> bytes:
        self.calls.append(f"read {Path(path).name}")
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(length)

    async def write(
        self, path: str, data: bytes, *, mode: int | None, within: Mapping[str, Any] | None
    ) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)

    async def spawn(self, command: Any, *, cwd: Any, environment: Any, has_input: bool, on_output: Any) -> Process:
        self.started.append(str(command))
        words = ["sh", "-c", command] if isinstance(command, str) else list(command)
        env = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
        pipe = asyncio.subprocess.PIPE
        stdin = pipe if has_input else asyncio.subprocess.DEVNULL
        child = await asyncio.create_subprocess_exec(
            *words, cwd=cwd, env=env, stdin=stdin, stdout=pipe, stderr=pipe, start_new_session=True
        )

        async def pump(reader: Any, stream: str) -> None:
            while data := await reader.read(1 << 16):
                await on_output(data, stream)

        pumps = [asyncio.ensure_future(pump(child.stdout, "stdout"))]
        pumps.append(asyncio.ensure_future(pump(child.stderr, "stderr")))
        return Process(child, pumps)


class ClientWorkspace(HostTest):
    socket: Path
    listen = test_remote.Remote.listen  # type: ignore[assignment]

    async def test_commands_of_a_session_run_in_the_clients_workspace(self) -> None:
        await self.listen("--sessions")
        there = self.folder / "there"
        there.mkdir()
        (there / ".pi").mkdir()
        (there / ".pi" / "settings.json").write_text("{}")
        place = Folder(self.folder)
        async with TauClient.connect(f"unix:{self.socket}", workspace=place) as client:
            session = await client.open_session(workspace={"client": True, "cwd": str(there)})
            state = await session.get_state()
            self.assertEqual(state["workspace"]["kind"], "client")
            self.assertIn("read settings.json", place.calls)
            result = await session.bash("pwd; echo made > file; exit 3")
            self.assertEqual((result["output"], result["exitCode"]), (f"{there}\n", 3))
            self.assertEqual((there / "file").read_text(), "made\n")
            slow = asyncio.ensure_future(session.bash("sleep 600"))
            while "sleep 600" not in place.started:
                await asyncio.sleep(0.01)
            await session.abort_bash()
            self.assertTrue((await slow)["cancelled"])


class Server(HostTest):
    async def ask(self, place: Workspace, method: str, **params: Any) -> dict[str, Any]:
        sent: list[dict[str, Any]] = []
        server = WorkspaceServer(place, sent.append)
        server.call({"id": "1", "method": method, "params": params})
        while not sent:
            await asyncio.sleep(0)
        return sent[0]

    async def test_errors_have_codes(self) -> None:
        place = Folder(self.folder)
        missing = await self.ask(place, "read", path=str(self.folder / "none"))
        self.assertEqual(missing["error"]["code"], "not_found")
        self.assertEqual(missing["error"]["path"], str(self.folder / "none"))
        unknown = await self.ask(place, "dance")
        self.assertEqual(unknown["error"]["code"], "unsupported")
        refused = await self.ask(Workspace(), "describe")
        self.assertEqual(refused["error"]["code"], "unsupported")
        self.assertIsNone((await self.ask(place, "stat", path="/none"))["result"])

    async def test_parts_of_an_upload_form_one_file(self) -> None:
        place = Folder(self.folder)
        sent: list[dict[str, Any]] = []
        server = WorkspaceServer(place, sent.append)
        path = str(self.folder / "up")
        for call_id, data, last in (("1", "YQ==", False), ("2", "Yg==", True)):
            params = {"path": path, "data": data, "upload": "u", "last": last}
            server.call({"id": call_id, "method": "write", "params": params})
            while len(sent) < int(call_id):
                await asyncio.sleep(0)
        self.assertEqual(Path(path).read_text(), "ab")
        self.assertRaises(WorkspaceError, self.fail_with, "no_space")

    def fail_with(self, code: str) -> None:
        raise WorkspaceError(code)
