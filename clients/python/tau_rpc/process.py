"""A host as a child process: bytes in, lines out, the end of its stderr, and its exit."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from .errors import ConnectionClosedError
from .lines import LineReader

_STDERR_TAIL_BYTES = 64 * 1024
# How long the pipes may stay open after the process has ended, because a grandchild may hold them.
_DRAIN_SECONDS = 0.5
# How long a host may run after closing its output, when it can no longer answer.
_MUTE_SECONDS = 5.0


class HostProcess(asyncio.SubprocessProtocol):
    """Use `start`. All callbacks run in the event loop."""

    def __init__(
        self, lines: LineReader, on_stderr: Callable[[str], None] | None, on_end: Callable[[], None]
    ) -> None:
        self._lines = lines
        self._on_stderr = on_stderr
        self._on_end = on_end
        self._stderr = bytearray()
        self._open_outputs = {1, 2}
        self._has_exited = False
        self._timers: list[asyncio.TimerHandle] = []
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        # Completed while the host accepts input; replaced by a pending one while it is behind.
        self.writable: asyncio.Future[None] = self._loop.create_future()
        self.writable.set_result(None)
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(
        self,
        command: Sequence[str | os.PathLike[str]],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str | None],
    ) -> None:
        """Starts the host; `env` is added to the environment, and None removes a variable."""
        variables = {**os.environ, **env}
        environment = {name: value for name, value in variables.items() if value is not None}
        program, *arguments = (os.fspath(part) for part in command)
        if os.name == "nt":
            program = shutil.which(program, path=environment.get("PATH")) or program
        try:
            await self._loop.subprocess_exec(
                lambda: self, program, *arguments, cwd=cwd, env=environment
            )
        except OSError as error:
            raise ConnectionClosedError(f"The host could not be started: {error}") from error

    @property
    def pid(self) -> int | None:
        """The host's process id, also after it has ended."""
        return self._transport.get_pid() if self._transport else None

    @property
    def exit_code(self) -> int | None:
        """Negative when a signal ended the host, None while it runs."""
        return self._transport.get_returncode() if self._transport else None

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended and its output is read."""
        return self._ended.done()

    @property
    def stderr(self) -> str:
        """The end of what the host wrote to stderr (64 KiB)."""
        return self._stderr.decode("utf-8", "replace")

    def note(self, text: str) -> None:
        """Appends a note of the client to the host's stderr."""
        self._keep_stderr(f"[client] {text}\n".encode("utf-8", "replace"))

    def write(self, line: bytes) -> None:
        """Passes a line to the host. Await `writable` first, to buffer no more than needed."""
        pipe = self._input()
        if pipe is not None and not pipe.is_closing():
            pipe.write(line)

    async def stop(self, grace: float, kill_after: float = 2.0) -> None:
        """Closes the host's input, then terminates it, then kills it; returns when it has ended."""
        if self._transport is None:
            return
        try:
            pipe = self._input()
            if pipe is not None:
                pipe.close()
            if await self._ends_within(grace):
                return
            self._signal("terminate")
            if await self._ends_within(kill_after):
                return
        finally:
            # Even if this is cancelled: leaves no process behind, not even a zombie.
            self._signal("kill")
            await asyncio.shield(self._ended)

    def _input(self) -> asyncio.WriteTransport | None:
        if self._transport is None:
            return None
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(0))

    async def _ends_within(self, seconds: float) -> bool:
        await asyncio.wait({self._ended}, timeout=seconds)
        return self._ended.done()

    def _signal(self, how: str) -> None:
        if self._transport is None or self._has_exited:
            return
        try:
            getattr(self._transport, how)()
        except ProcessLookupError:
            pass

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._lines.feed(data)
            return
        self._keep_stderr(data)
        if self._on_stderr is None:
            return
        try:
            self._on_stderr(data.decode("utf-8", "replace"))
        except Exception as error:  # The error is the application's and must not end the host.
            message = "on_stderr of a TauClient failed"
            self._loop.call_exception_handler({"message": message, "exception": error})

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 0:
            self.resume_writing()
            return
        if fd == 1:
            self._lines.end()
            self._later(_MUTE_SECONDS, lambda: self._signal("kill"))
        self._open_outputs.discard(fd)
        if self._has_exited and not self._open_outputs:
            self._finish()

    def process_exited(self) -> None:
        self._has_exited = True
        if self._open_outputs:
            self._later(_DRAIN_SECONDS, self._finish)
        else:
            self._finish()

    def pause_writing(self) -> None:
        if self.writable.done():
            self.writable = self._loop.create_future()

    def resume_writing(self) -> None:
        if not self.writable.done():
            self.writable.set_result(None)

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        if not self._ended.done():
            self._timers.append(self._loop.call_later(seconds, what))

    def _keep_stderr(self, data: bytes) -> None:
        self._stderr += data
        if len(self._stderr) > 2 * _STDERR_TAIL_BYTES:
            del self._stderr[:-_STDERR_TAIL_BYTES]

    def _finish(self) -> None:
        if self._ended.done():
            return
        for timer in self._timers:
            timer.cancel()
        self.resume_writing()
        if self._transport is not None:
            self._transport.close()
        self._ended.set_result(None)
        self._on_end()
