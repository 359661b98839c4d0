"""Events as an async iterator."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast

from .errors import EventOverflowError
from .protocol import Event
from .rebuild import MessageRebuilder


class EventStream(AsyncIterator[Event]):
    """All events from its creation on, for one reader.

    It ends when the client is closed, and raises ConnectionClosedError when the host dies. The
    number of unread events is limited: a reader that falls too far behind gets EventOverflowError,
    and other readers continue. `message` and `partial` of a `message_update` are the reply as of
    that event, in one object that grows with the next event: copy what you keep (`copy.deepcopy`).
    Everything else may be shared with other readers: do not modify it.
    """

    def __init__(
        self, max_events: int, max_bytes: int, so_far: MessageRebuilder, forget: Callable[[EventStream], None]
    ) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._rebuilder = MessageRebuilder(so_far)
        self._forget = forget
        self._queue: deque[tuple[Mapping[str, Any], int, bool]] = deque()
        self._size = 0
        self._is_over = False
        self._error: BaseException | None = None
        self._wake = asyncio.Event()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        while True:
            event, is_shown = await self.next_of_all()
            if is_shown:
                return event

    async def next_of_all(self) -> tuple[Event, bool]:
        """The next event, and whether `set_event_filter` includes it."""
        while not self._queue:
            if self._is_over:
                error, self._error = self._error, None
                raise error if error is not None else StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        frame, size, is_shown = self._queue.popleft()
        self._size -= size
        return cast(Event, self._rebuilder.apply(frame)), is_shown

    async def aclose(self) -> None:
        """Ends the iterator and discards unread events."""
        self._queue.clear()
        self.end()

    def push(self, frame: Mapping[str, Any], size: int, is_shown: bool = True) -> None:
        """Adds an event that arrived as a line of `size` bytes. For the client."""
        waiting = len(self._queue)
        if waiting >= self._max_events or (waiting > 0 and self._size + size > self._max_bytes):
            self._queue.clear()
            self.end(EventOverflowError(waiting, self._size))
            return
        self._queue.append((frame, size, is_shown))
        self._size += size
        self._wake.set()

    def end(self, error: BaseException | None = None) -> None:
        """Ends the iterator after the unread events, with an error if one is given. For the
        client."""
        if self._is_over:
            return
        self._is_over = True
        self._error = error
        self._forget(self)
        self._wake.set()
