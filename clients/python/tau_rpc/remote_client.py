"""Clients of a listening host: of the host, and of each session in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from .client import TauClient
from .errors import ConnectionClosedError, RpcError
from .lines import encode_line
from .process import HostProcess
from .remote import RemoteHost, SessionPort


class RemoteClient(TauClient):
    """A client of a listening host; use `TauClient.connect`.

    If the host has one session, it is a client of that session. With `--sessions`, it opens
    sessions. After a lost connection, events continue where they were cut, following an event
    `reconnected` with `resumed` and `state`.
    """

    def __init__(self, remote: RemoteHost, port: SessionPort, options: Mapping[str, Any]) -> None:
        super().__init__(**options)
        self._remote = remote
        self._port = port
        self._options = options
        self._host = remote.info
        # It has the same interface.
        self._process = cast(HostProcess, port)
        port.listen(self)

    async def start(self) -> None:
        """Does nothing, because it is already connected."""

    async def open_session(self, **params: Any) -> TauSession:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Opens a separate session in the host; the parameters are those of the command."""
        if "cwd" in params:
            params["cwd"] = os.fspath(params["cwd"])
        data = await super().open_session(**params)
        return TauSession(self._remote, self._remote.port(data["sessionId"]), self._options)

    async def open_sessions(self) -> list[dict[str, Any]]:
        """The sessions that are open in the host."""
        data = await self.request("list_sessions")
        return cast("list[dict[str, Any]]", data["sessions"])

    def _describe_end(self) -> str:
        return self._port.end_reason or "The connection was closed"

    # Callbacks of the connection.

    def frame_received(self, line: bytes) -> None:
        """A frame of the session has arrived."""
        self._receive(line)

    def request_lost(self, request_id: str, error: ConnectionClosedError) -> None:
        """The answer to a request will not arrive."""
        self._fail_request(request_id, error)

    def connection_ended(self) -> None:
        """The session or its connection is closed for good."""
        if self._closed is None:
            self._ended()

    def reconnected(
        self, resumed: bool, state: dict[str, Any], pending: list[dict[str, Any]]
    ) -> None:
        """A lost connection was restored."""
        if self._workspace is not None:
            # The host repeats its open requests.
            self._workspace.end()
        self._receive(encode_line({"type": "reconnected", "resumed": resumed, "state": state}))
        for request in pending:
            if request["method"] == "host_tool":
                self._tools.call({**request["params"], **request, "type": "host_tool_call"})
            elif request["method"] == "host_uri":
                self._uris.take({**request["params"], **request, "type": "host_uri_request"})
            elif self._requests.methods:
                self._requests.open({**request, "type": "host_request"})

    async def restore(self, send: Callable[[str, dict[str, Any]], Any]) -> None:
        """A new connection has neither the filter nor the tools of the previous one."""
        if self._shown is not None:
            params: dict[str, Any] = {"events": sorted(self._shown)}
            self._filter(params)
            await send("set_event_filter", params)
        await self._uris.repeat(lambda given: send("set_host_uri_schemes", {"schemes": given}))
        await self._tools.repeat(lambda tools: send("set_host_tools", {"tools": tools}))


class TauSession(RemoteClient):
    """One session of a host: a method for each command, and events, as in a client."""

    @property
    def session_id(self) -> str:
        """The handle of the session in its host."""
        return self._port.session_id or ""

    async def close(self) -> None:
        """Stops what the session is doing and closes it in the host."""
        if self._closed is None:
            try:
                await self.request("close_session")
            except (RpcError, ConnectionClosedError):
                pass  # It is already closed.
        await super().close()
