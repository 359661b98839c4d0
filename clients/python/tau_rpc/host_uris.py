"""URI schemes that the client serves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class UriContent:
    """A text, optionally with notes for the reader."""

    content: str
    content_type: str | None = None
    notes: Sequence[str] = ()
    """Notes for the model, shown after the text."""


@dataclass(frozen=True)
class UriScheme:
    """A scheme with the functions that serve it. The model reads the errors that they raise."""

    scheme: str
    """The scheme, without `://`."""
    read: Callable[[str], Awaitable[str | UriContent]]
    write: Callable[[str, str], Awaitable[None]] | None = None
    """Takes the URI and the new text; without it, the scheme is read-only."""
    description: str | None = None

    @property
    def definition(self) -> dict[str, Any]:
        """The definition that is sent to the host."""
        described = {} if self.description is None else {"description": self.description}
        return {"scheme": self.scheme, "writable": self.write is not None, **described}


class HostUris:
    """The schemes of one client, and the host's running requests."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._schemes: Sequence[UriScheme] = ()
        self._requests: dict[str, asyncio.Task[None]] = {}

    async def register(
        self,
        schemes: Sequence[UriScheme],
        send: Callable[[list[dict[str, Any]]], Awaitable[Any]],
    ) -> list[str]:
        """Registers the schemes with the host. If it refuses them, the earlier ones stay."""
        before = self._schemes
        # The first request may arrive together with the answer.
        self._schemes = list(schemes)
        try:
            data = await send([scheme.definition for scheme in schemes])
        except BaseException:
            self._schemes = before
            raise
        return [str(name) for name in data["schemes"]]

    async def repeat(self, send: Callable[[list[dict[str, Any]]], Awaitable[Any]]) -> None:
        """Registers the schemes again after a reconnect."""
        if self._schemes:
            await send([scheme.definition for scheme in self._schemes])

    def take(self, frame: Mapping[str, Any]) -> None:
        """Answers a request of the host."""
        request_id = str(frame["id"])
        # After a reconnect, the host repeats the request.
        if not self._schemes or request_id in self._requests:
            return
        task = asyncio.ensure_future(self._answer(request_id, frame))
        self._requests[request_id] = task
        task.add_done_callback(lambda _: self._requests.pop(request_id, None))

    def cancel(self, frame: Mapping[str, Any]) -> None:
        """A request was cancelled."""
        task = self._requests.pop(str(frame.get("targetId")), None)
        if task is not None:
            task.cancel()

    def end(self) -> None:
        """The connection is closed."""
        for task in list(self._requests.values()):
            task.cancel()

    async def _answer(self, request_id: str, frame: Mapping[str, Any]) -> None:
        result: dict[str, Any] = {"type": "host_uri_result", "id": request_id}
        try:
            self._send({**result, **await self._serve(frame)})
        except Exception as error:  # The model reads the error.
            self._send({**result, "isError": True, "error": str(error) or repr(error)})

    async def _serve(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        url = str(frame.get("url"))
        name = url.partition("://")[0].lower()
        found = next((it for it in self._schemes if it.scheme.strip().lower() == name), None)
        if found is None:
            raise LookupError(f"this client does not serve {name}://")
        if frame.get("operation") == "write":
            if found.write is None:
                raise PermissionError("it is served for reading only")
            await found.write(url, str(frame.get("content", "")))
            return {}
        read = await found.read(url)
        if isinstance(read, str):
            return {"content": read}
        given: dict[str, Any] = {"content": read.content, "notes": list(read.notes)}
        return given if read.content_type is None else {**given, "contentType": read.content_type}
