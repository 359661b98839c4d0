"""A listening host: one connection for several sessions, restored when it is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from .errors import ConnectionClosedError, RpcError
from .lines import LineReader, as_record, encode_line
from .web_socket import WebSocket

_REPEATABLE = re.compile(r"(get|list|set)_|prompt$")
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0


class Listener(Protocol):
    """The interface of a client towards its connection."""

    def frame_received(self, line: bytes) -> None: ...

    def request_lost(self, request_id: str, error: ConnectionClosedError) -> None: ...

    def connection_ended(self) -> None: ...

    def reconnected(self, resumed: bool, state: dict[str, Any], pending: list[dict[str, Any]]) -> None: ...

    async def restore(self, send: Callable[[str, dict[str, Any]], Any]) -> None: ...


class SessionPort:
    """The frames of one session; a client uses it like the process of a host."""

    pid = None
    exit_code = None

    def __init__(self, host: RemoteHost, session_id: str | None) -> None:
        self.session_id = session_id
        self.listener: Listener | None = None
        self.position: tuple[str, int] | None = None
        self.end_reason = ""
        self.unanswered: dict[str, tuple[str, bytes]] = {}
        self.live: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.writable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.writable.set_result(None)
        self.stderr = ""
        self._host = host
        self._early: list[bytes] = []
        self._resumed = True

    def note(self, text: str) -> None:
        """Records a note of the client."""
        self.stderr = (self.stderr + f"[client] {text}\n")[-65_536:]

    def listen(self, listener: Listener) -> None:
        """Passes frames to the client from now on, starting with those that have already arrived.
        """
        self.listener = listener
        early, self._early = self._early, []
        for line in early:
            listener.frame_received(line)

    def write(self, line: bytes) -> None:
        """Sends a frame for this session as soon as there is a connection."""
        frame = cast("dict[str, Any]", json.loads(line))
        if self.session_id is not None:
            frame["sessionId"] = self.session_id
        if frame["type"] == "prompt":
            # Gives the prompt an id, so that it can be sent again if the answer was lost.
            frame.setdefault("promptId", uuid.uuid4().hex)
        line = encode_line(frame)
        if isinstance(frame.get("id"), str) and not frame["type"].startswith(("host_", "extension_")):
            self.unanswered[frame["id"]] = (frame["type"], line)
        self._host.write(line)

    async def stop(self, grace: float) -> None:
        """Closes the session, or the whole connection if it belongs to the client."""
        await self._host.stop(self)

    def receive(self, frame: dict[str, Any], line: bytes) -> None:
        """Takes a frame of the session."""
        kind, seq = frame.get("type"), frame.get("seq")
        if kind == "live":
            if not self.live.done():
                self.live.set_result(self._resumed)
            return
        if kind == "response":
            self.unanswered.pop(str(frame.get("id")), None)
        elif isinstance(seq, int) and self.position is not None:
            self.position = (self.position[0], seq)
        if kind == "resync":
            self._resumed = False
            self.position = (frame["streamId"], frame["seq"])
            return
        if self.listener is None:
            self._early.append(line)
        else:
            self.listener.frame_received(line)
        if kind == "session_closed":
            self._host.drop(self, "The session was closed")

    def expect_live(self) -> None:
        """The frames after `attach` follow."""
        self.live = asyncio.get_running_loop().create_future()
        self._resumed = True

    def cut(self, error: ConnectionClosedError) -> None:
        """The connection is lost: requests that must not be sent twice fail."""
        if not self.live.done():
            self.live.cancel()
        for request_id, (command, _) in list(self.unanswered.items()):
            if _REPEATABLE.match(command) is None:
                del self.unanswered[request_id]
                if self.listener is not None:
                    self.listener.request_lost(request_id, error.again())


class RemoteHost:
    """Use `connect`. All callbacks run in the event loop."""

    def __init__(self, url: str, token: str | None, initialize: dict[str, Any], connect_timeout: float, reconnect: float) -> None:
        self.main = SessionPort(self, None)
        self.info: Any = None
        self._url = url
        self._token = token
        self._initialize = initialize
        self._connect_timeout = connect_timeout
        self._reconnect = reconnect
        self._ports: dict[str, SessionPort] = {}
        self._waiting: list[bytes] = []
        self._send: Callable[[bytes], None] | None = None
        self._cut: Callable[[], None] = lambda: None
        self._is_live = False
        self._is_closing = False
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._reading: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None
        self._last_id = 0

    async def connect(self) -> None:
        """Connects, and attaches to the session if the host has only one."""
        try:
            await self._establish(False)
        except ConnectionClosedError:
            self._cut()
            raise
        except asyncio.TimeoutError as error:
            self._cut()
            text = f"Could not connect to {self._url}: no connection within {self._connect_timeout:g} s"
            raise ConnectionClosedError(text, code="connect_timeout") from error
        except OSError as error:
            self._cut()
            text = f"Could not connect to {self._url}: {error}"
            raise ConnectionClosedError(text, code="unreachable") from error
        except BaseException:
            self._cut()
            raise

    def port(self, session_id: str) -> SessionPort:
        """The session with this handle."""
        if session_id not in self._ports:
            self._ports[session_id] = SessionPort(self, session_id)
        return self._ports[session_id]

    def write(self, line: bytes) -> None:
        """Sends a line, or keeps it until there is a connection."""
        if self._is_live and self._send is not None:
            self._send(line)
        else:
            self._waiting.append(line)

    def drop(self, port: SessionPort, reason: str) -> None:
        """A session has ended."""
        self._ports.pop(port.session_id or "", None)
        port.end_reason = reason
        if port.listener is not None:
            port.listener.connection_ended()

    async def stop(self, port: SessionPort) -> None:
        """Closes the connection if this is its own port; any other port only leaves it."""
        if port is not self.main:
            self.drop(port, "The session was closed")
            return
        self._is_closing = True
        if self._again is not None:
            self._again.cancel()
        self._end("The client was closed")
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=1)

    async def _establish(self, again: bool) -> None:
        await asyncio.wait_for(self._open(), self._connect_timeout)
        self.info = await self._ask("initialize", self._initialize)
        for port in [self.main, *self._ports.values()]:
            await self._attach(port, again)
        self._is_live = True
        ports = [self.main, *self._ports.values()]
        lost = [line for port in ports for _, line in port.unanswered.values()] if again else []
        waiting, self._waiting = self._waiting, []
        for line in dict.fromkeys([*lost, *waiting]):
            if self._send is not None:
                self._send(line)

    async def _open(self) -> None:
        if self._url.startswith("unix:"):
            path = self._url[len("unix:") :]
            # The owner of the socket could read everything: keys, prompts and files.
            if os.stat(path).st_uid != os.getuid():
                raise ConnectionClosedError(f"The socket {path} belongs to another user", code="refused")
            reader, writer = await asyncio.open_unix_connection(path)
            self._send, self._cut = writer.write, writer.close
            self._reading = asyncio.ensure_future(self._read_lines(reader, writer))
        else:
            socket = await WebSocket.connect(self._url, self._token)
            self._send, self._cut = lambda line: socket.send(line.rstrip(b"\n")), socket.close
            self._reading = asyncio.ensure_future(self._read_messages(socket))

    async def _read_lines(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = LineReader(1 << 30, self._receive, lambda head, size: None)
        try:
            while chunk := await reader.read(1 << 16):
                lines.feed(chunk)
        except OSError:
            pass
        writer.close()
        self._lost("the host closed the connection")

    async def _read_messages(self, socket: WebSocket) -> None:
        reason = await socket.receive(self._receive)
        socket.close()
        self._lost(reason)

    async def _ask(self, command: str, params: dict[str, Any]) -> Any:
        if self._send is None:
            raise ConnectionClosedError("The connection was lost")
        self._last_id += 1
        request_id = f"h{self._last_id}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = answer
        self._send(encode_line({"id": request_id, "type": command, **params}))
        try:
            return await answer
        finally:
            self._answers.pop(request_id, None)

    async def _attach(self, port: SessionPort, again: bool) -> None:
        # A host with many sessions has no main session.
        if again and port.position is None:
            return
        params: dict[str, Any] = {} if port.session_id is None else {"sessionId": port.session_id}
        if port.position is not None:
            params |= {"streamId": port.position[0], "after": port.position[1]}
        port.expect_live()
        try:
            data = await self._ask("attach", params)
            resumed = await port.live
        except asyncio.CancelledError:
            if port.live.cancelled():
                raise ConnectionClosedError("The connection was lost") from None
            raise
        except RpcError as error:
            if again:
                self.drop(port, f"The session is gone: {error}")
            return
        if again and port.listener is not None:
            own = {} if port.session_id is None else {"sessionId": port.session_id}
            await port.listener.restore(lambda command, given: self._ask(command, {**given, **own}))
            port.listener.reconnected(resumed, data["state"], data["pendingRequests"])

    def _receive(self, line: bytes) -> None:
        try:
            frame = as_record(json.loads(line))
        except ValueError:
            return
        if frame is None:
            return
        data = as_record(frame.get("data"))
        session_id = frame.get("sessionId")
        is_good = frame.get("type") == "response" and frame.get("success") is True and data is not None
        # At once, because the next frame may belong to the session.
        if is_good and data is not None and frame.get("command") == "open_session":
            self.port(data["sessionId"]).position = (data["streamId"], data["seq"])
        if is_good and data is not None and frame.get("command") == "attach":
            port = self.main if session_id is None else self._ports.get(session_id)
            if port is not None and port.position is None:
                port.position = (data["streamId"], data["seq"])
        answer = self._answers.get(str(frame.get("id"))) if frame.get("type") == "response" else None
        if answer is not None:
            if answer.done():
                return
            if frame.get("success") is True:
                answer.set_result(frame.get("data"))
            else:
                text, command = str(frame.get("error")), str(frame.get("command"))
                answer.set_exception(RpcError(text, command=command, code=frame.get("code")))
            return
        (self._ports.get(session_id or "") or self.main).receive(frame, line)

    def _lost(self, reason: str) -> None:
        was_live, self._is_live, self._send = self._is_live, False, None
        error = ConnectionClosedError(f"The connection was lost: {reason}")
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error.again())
        for port in [self.main, *self._ports.values()]:
            port.cut(error)
        if was_live and not self._is_closing:
            self._again = asyncio.ensure_future(self._connect_again(reason))

    async def _connect_again(self, reason: str) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._reconnect
        wait = _FIRST_WAIT
        while loop.time() < end:
            before = self._frames_read()
            try:
                await self._establish(True)
                return
            except (OSError, asyncio.TimeoutError, ConnectionClosedError, RpcError) as error:
                reason = str(error)
                self._cut()
            # After a connection that received frames, the next attempt starts soon.
            wait = min(2 * wait, _LONGEST_WAIT) if before == self._frames_read() else _FIRST_WAIT
            await asyncio.sleep(wait)
        self._end(f"The connection was lost: {reason}")

    def _frames_read(self) -> int:
        return sum(port.position[1] for port in [self.main, *self._ports.values()] if port.position)

    def _end(self, reason: str) -> None:
        self._is_live, self._waiting = False, []
        self._cut()
        for port in [*self._ports.values(), self.main]:
            self.drop(port, reason)


def find_token(url: str, token: str | None, token_file: str | os.PathLike[str] | None) -> str | None:
    """The token for an address; for this machine, by default the one in the agent directory."""
    if url.startswith("unix:") or token is not None:
        return token
    host = urlsplit(url).hostname or ""
    is_here = host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None
    if token_file is None and not is_here:
        # The user's own token must not be sent to other machines.
        raise ConnectionClosedError(f"Connecting to {url} needs token or token_file", code="no_token")
    directory = Path(os.environ.get("PI_CODING_AGENT_DIR") or "~/.pi/agent").expanduser()
    path = Path(token_file) if token_file is not None else directory / "rpc-token"
    try:
        return path.read_text().strip()
    except OSError as error:
        raise ConnectionClosedError(f"Could not read the token from {path}: {error}", code="no_token") from error


class Connecting:
    """A client that connects: `await` it, or use it in `async with`."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._client: Any = None

    def __await__(self) -> Generator[Any, None, Any]:
        return self._start().__await__()

    async def __aenter__(self) -> Any:
        self._client = await self._start()
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.close()
