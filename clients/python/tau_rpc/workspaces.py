"""A workspace that the client serves: where the tools of a session act."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, cast

Send = Callable[[dict[str, Any]], None]
OnOutput = Callable[[bytes, Literal["stdout", "stderr"]], Awaitable[None]]

_PIECE_BYTES = 4 * 1024 * 1024
_KILL_AFTER = 2.0


class WorkspaceError(Exception):
    """Why a workspace call failed. Its `code` is one of `not_found`, `exists`, `not_a_directory`,
    `is_a_directory`, `not_empty`, `not_allowed`, `too_large`, `no_space`, `unsupported` and `failed`."""

    def __init__(self, code: str, message: str | None = None, path: str | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.path = path


class WorkspaceProcess(Protocol):
    """A started command."""

    @property
    def pid(self) -> int | None:
        """The process id on that machine."""

    async def write(self, data: bytes) -> None:
        """Writes to its input."""

    async def end_input(self) -> None:
        """Closes its input."""

    async def kill(self, name: str) -> None:
        """Sends a signal, such as `SIGTERM`, to the command and all its children."""

    async def wait(self) -> Mapping[str, Any]:
        """When it has ended and its output was handed over: `{"exitCode": 0}`, or `{"exitCode": None,
        "signal": "SIGKILL"}`."""
        ...


class Workspace:
    """The files and commands of a machine. Subclass it; missing methods are refused as `unsupported`.

    Paths are absolute, in the notation of the workspace's platform. `within` is `{"allow": [...], "deny":
    [...]}`: the file that is really opened, after following links, must be inside one of `allow` and inside
    none of `deny`; otherwise, raise `WorkspaceError("not_allowed")`. If the workspace cannot guarantee
    that, list `within` in `limited` of `describe`. Methods raise `WorkspaceError`; an `OSError` is
    translated. Calls can be cancelled. `docs/workspaces.md` describes each method.
    """

    async def describe(self) -> Mapping[str, Any]:
        """`{"platform", "homeDirectory", "temporaryDirectory", "shell", "user"?, "limited"}`"""
        raise WorkspaceError("unsupported")

    async def stat(
        self, path: str, *, follow_links: bool, within: Mapping[str, Any] | None
    ) -> Mapping[str, Any] | None:
        """`{"kind", "size", "mode"?, "modifiedAt"?, "realPath"?}`; None if nothing exists there."""
        raise WorkspaceError("unsupported")

    async def list(self, path: str, *, within: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
        """`[{"name", "kind"}]`"""
        raise WorkspaceError("unsupported")

    async def read(
        self, path: str, *, offset: int, length: int, within: Mapping[str, Any] | None
    ) -> bytes:
        """Reads bytes of a file; returns none past its end."""
        raise WorkspaceError("unsupported")

    async def write(
        self, path: str, data: bytes, *, mode: int | None, within: Mapping[str, Any] | None
    ) -> None:
        """Replaces a file atomically and creates missing folders."""
        raise WorkspaceError("unsupported")

    async def remove(self, path: str, *, recursive: bool, within: Mapping[str, Any] | None) -> None:
        """Removes a file, a link, or a folder."""
        raise WorkspaceError("unsupported")

    async def rename(self, source: str, target: str, *, within: Mapping[str, Any] | None) -> None:
        """Moves a file or folder; may replace a file, but never a folder."""
        raise WorkspaceError("unsupported")

    async def create_directory(self, path: str, *, within: Mapping[str, Any] | None) -> None:
        """Creates a folder and its parents; succeeds if it already exists."""
        raise WorkspaceError("unsupported")

    async def spawn(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None,
        environment: Mapping[str, str | None],
        has_input: bool,
        on_output: OnOutput,
    ) -> WorkspaceProcess:
        """Starts a shell command line, or a program with its arguments."""
        raise WorkspaceError("unsupported")

    async def search(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """`{"matches", "truncated"}`; without it, the host searches with `list` and `read`."""
        raise WorkspaceError("unsupported")


class WorkspaceServer:
    """Answers the host's calls."""

    def __init__(self, workspace: Workspace, send: Send) -> None:
        self._workspace = workspace
        self._send = send
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, WorkspaceProcess] = {}
        self._uploads: dict[str, bytearray] = {}

    def call(self, frame: Mapping[str, Any]) -> None:
        """Handles a `workspace_call`."""
        call_id = str(frame.get("id"))
        if call_id in self._calls:
            return
        method = str(frame.get("method"))
        params = cast("dict[str, Any]", frame.get("params") or {})
        task = asyncio.ensure_future(self._run(call_id, method, params))
        self._calls[call_id] = task
        task.add_done_callback(lambda _: self._calls.pop(call_id, None))

    def cancel(self, frame: Mapping[str, Any]) -> None:
        """Handles a `workspace_cancel`: cancels the call; a command is ended with all its
        children."""
        task = self._calls.get(str(frame.get("targetId")))
        if task is not None:
            task.cancel()

    def end(self) -> None:
        """The connection is closed: ends everything that runs."""
        for task in list(self._calls.values()):
            task.cancel()
        self._uploads.clear()

    async def _run(self, call_id: str, method: str, params: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"type": "workspace_result", "id": call_id}
        try:
            if method == "spawn":
                await self._spawn(call_id, params)
                return
            answer["result"] = await self._result(method, params)
        except asyncio.CancelledError:
            answer["error"] = {"code": "aborted", "message": "The call was cancelled"}
        except Exception as error:  # The error fails the host's call, not the client.
            answer["error"] = _error_of(error)
        self._send(answer)

    async def _result(self, method: str, params: dict[str, Any]) -> Any:
        place, within = self._workspace, params.get("within")
        path = str(params.get("path", ""))
        if method == "ping":
            return {}
        if method == "describe":
            return dict(await place.describe())
        if method == "stat":
            follows = params.get("followLinks") is not False
            return await place.stat(path, follow_links=follows, within=within)
        if method == "list":
            return list(await place.list(path, within=within))
        if method == "read":
            length = min(int(params.get("length") or _PIECE_BYTES), _PIECE_BYTES)
            offset = int(params.get("offset") or 0)
            data = await place.read(path, offset=offset, length=length, within=within)
            return {"data": base64.b64encode(data[:length]).decode()}
        if method == "search":
            return dict(await place.search(params))
        await self._change(method, path, params)
        return {}

    async def _change(self, method: str, path: str, params: dict[str, Any]) -> None:
        place, within = self._workspace, params.get("within")
        if method == "write":
            await self._write(path, params)
        elif method == "remove":
            await place.remove(path, recursive=params.get("recursive") is True, within=within)
        elif method == "rename":
            await place.rename(str(params.get("from")), str(params.get("to")), within=within)
        elif method == "createDirectory":
            await place.create_directory(path, within=within)
        elif method in ("write_input", "end_input", "kill"):
            process = self._processes.get(str(params.get("processId")))
            if process is None:
                raise WorkspaceError("not_found", "There is no such process")
            if method == "write_input":
                await process.write(base64.b64decode(str(params.get("data"))))
            elif method == "end_input":
                await process.end_input()
            else:
                await process.kill(str(params.get("signal") or "SIGTERM"))
        else:
            raise WorkspaceError("unsupported", f"There is no method {method[:100]}")

    async def _write(self, path: str, params: dict[str, Any]) -> None:
        data = base64.b64decode(str(params.get("data", "")))
        upload = params.get("upload")
        if upload is not None:
            parts = self._uploads.setdefault(str(upload), bytearray())
            parts += data
            if params.get("last") is not True:
                return
            data = bytes(self._uploads.pop(str(upload)))
        mode = params.get("mode")
        await self._workspace.write(path, data, mode=mode, within=params.get("within"))

    async def _spawn(self, call_id: str, params: dict[str, Any]) -> None:
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        head = {"type": "workspace_output", "id": call_id}

        async def on_output(data: bytes, stream: str) -> None:
            # The answer must be sent before any output.
            await answered
            text = base64.b64encode(data).decode()
            self._send({**head, "event": "output", "stream": stream, "data": text})

        process: WorkspaceProcess | None = None
        try:
            process = await self._workspace.spawn(
                params["command"],
                cwd=params.get("cwd"),
                environment=params.get("environment") or {},
                has_input=params.get("stdin") == "open",
                on_output=on_output,
            )
            self._processes[call_id] = process
            pid = {} if process.pid is None else {"pid": process.pid}
            result = {"processId": call_id, **pid}
            self._send({"type": "workspace_result", "id": call_id, "result": result})
            answered.set_result(None)
            end = await self._ended(process, params.get("timeoutMs"))
            self._send({**head, "event": "exit", **end})
        except asyncio.CancelledError:
            if process is None:
                raise
            end = await _end_tree(process)
            self._send({**head, "event": "exit", **end})
        finally:
            self._processes.pop(call_id, None)

    async def _ended(self, process: WorkspaceProcess, timeout_ms: Any) -> dict[str, Any]:
        if not timeout_ms:
            return dict(await process.wait())
        try:
            return dict(await asyncio.wait_for(process.wait(), float(timeout_ms) / 1000))
        except asyncio.TimeoutError:
            return {**await _end_tree(process), "timedOut": True}


async def _end_tree(process: WorkspaceProcess) -> dict[str, Any]:
    await process.kill("SIGTERM")
    try:
        return dict(await asyncio.wait_for(process.wait(), _KILL_AFTER))
    except asyncio.TimeoutError:
        await process.kill("SIGKILL")
        return dict(await process.wait())


def _error_of(error: Exception) -> dict[str, Any]:
    path = getattr(error, "path", None) or getattr(error, "filename", None)
    named = {"path": str(path)} if path else {}
    return {"code": _code_of(error), "message": str(error) or repr(error), **named}


def _code_of(error: Exception) -> str:
    if isinstance(error, WorkspaceError):
        return error.code
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return "failed"


_CODES: tuple[tuple[type[Exception], str], ...] = (
    (FileNotFoundError, "not_found"),
    (FileExistsError, "exists"),
    (NotADirectoryError, "not_a_directory"),
    (IsADirectoryError, "is_a_directory"),
)
