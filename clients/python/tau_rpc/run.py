"""One prompt, from before it is sent until its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, cast

from .errors import ConnectionClosedError, RpcError
from .protocol import (
    AgentMessage,
    AssistantMessage,
    Event,
    OutputStatus,
    PromptDisposition,
    PromptResultEvent,
    PromptStatus,
)

if TYPE_CHECKING:
    from .client import TauClient
    from .events import EventStream

MAYBE_LAST = {
    "agent_end",
    "agent_settled",
    "auto_compaction_end",
    "compaction_end",
    "auto_retry_end",
}
"""After these events, all work may have ended."""


class PromptRun(AsyncIterator[Event]):
    """The events of the session from a prompt up to and including its `prompt_result`.

    The prompt is sent when the first event is requested. A refused prompt raises RpcError; one that
    fails later ends with the `status` "error". Leaving the loop early, or cancelling it, does not
    stop the run; `client.abort()` does. Used as an async context manager, leaving the block aborts
    a run that is still active.
    """

    def __init__(self, client: TauClient, params: dict[str, Any]) -> None:
        self._client = client
        self._params = params
        self._stream: EventStream | None = None
        self._answer: asyncio.Task[Any] | None = None
        self._look: asyncio.Task[None] | None = None
        self._had_ended = False
        self.id: str | None = None
        """The id of the prompt, once it is sent."""
        self.disposition: PromptDisposition | None = None
        """The disposition of the prompt, once the host has reported it."""
        self.status: PromptStatus | None = None
        """How the prompt ended; None while it is active."""
        self.error: str | None = None
        """The error message if `status` is "error"."""
        self.code: str | None = None
        """Why `status` is "error", or "budget_exceeded" if an exhausted budget stopped the run."""
        self.paused_by: str | None = None
        """What paused it if `status` is "paused"; `run` with its `prompt_id` and `resume` continues it."""
        self.output: Any = None
        """The answer to a prompt with an `output_schema`, if `output_status` is "valid"."""
        self.output_status: OutputStatus | None = None
        """Whether the answer fits the schema; None without a schema, or while the prompt is active."""
        self.output_attempts = 0
        """The number of answers that the model gave."""
        self._text: str | None = None
        self.messages: list[AgentMessage] = []
        """Every message completed since the prompt was sent."""

    def __repr__(self) -> str:
        """A description of the prompt for logs and the Python shell; long values are truncated."""
        state = self.status or ("not sent" if self._stream is None else "running")
        known: dict[str, Any] = {"status": state, "paused_by": self.paused_by, "error": self.error}
        known |= {"output_status": self.output_status, "output": self.output}
        known |= {"text": self.text, "messages": len(self.messages)}
        shown = [f"{name}={_cut(value)}" for name, value in known.items() if value is not None]
        return f"PromptRun({', '.join(shown)})"

    @property
    def text(self) -> str:
        """The text of the last reply; with an `output_schema`, the last answer as it was written.
        """
        if self._text is not None:
            return self._text
        reply = self._last_reply()
        blocks = reply["content"] if reply is not None else []
        return "".join(block["text"] for block in blocks if block["type"] == "text")

    def __aiter__(self) -> PromptRun:
        return self

    async def __anext__(self) -> Event:
        if self.status is not None:
            raise StopAsyncIteration
        stream = self._stream if self._stream is not None else self._start()
        while True:
            try:
                event, is_shown = await stream.next_of_all()
            except StopAsyncIteration:
                if self._had_ended:
                    self.status = "handled"
                    raise
                # Otherwise, only the end of the client ends it like this.
                raise ConnectionClosedError("The client was closed") from None
            await self._look_at(event)
            if is_shown:
                return event
            if self.status is not None:
                raise StopAsyncIteration

    async def __aenter__(self) -> PromptRun:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._stream is not None and self.status is None and self._client.is_running:
            try:
                await self._client.abort()
            except (ConnectionClosedError, RpcError):
                pass

    async def wait(self) -> PromptStatus:
        """Reads to the end and returns how the prompt ended."""
        async for _ in self:
            pass
        return cast(PromptStatus, self.status)

    def _start(self) -> EventStream:
        stream = self._stream = self._client.events()
        self.id = self._client.new_request_id()
        send = self._client.request("prompt", self._params, request_id=self.id)
        self._answer = asyncio.ensure_future(send)

        def answered(task: asyncio.Task[Any]) -> None:
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None:
                stream.end(error)
            else:
                self.disposition = task.result()
                if isinstance(self.disposition, dict) and self.disposition.get("disposition") == "duplicate":
                    self._look = asyncio.ensure_future(self._end_duplicate(stream))

        self._answer.add_done_callback(answered)
        return stream

    async def _end_duplicate(self, stream: EventStream) -> None:
        # Unless the host is still working on the prompt, its result was sent before.
        try:
            self._had_ended = await self._client.is_idle()
        except (ConnectionClosedError, RpcError):
            return
        if self._had_ended:
            stream.end()

    async def _look_at(self, event: Event) -> None:
        if event["type"] == "message_end":
            self.messages.append(event["message"])
        elif event["type"] == "prompt_result":
            prompt_id = self._params.get("promptId")
            if event.get("id") == self.id or (prompt_id is not None and event.get("promptId") == prompt_id):
                self._end(event)
                # The answer arrived earlier, possibly in the same piece of input as everything
                # since.
                if self._answer is not None:
                    await asyncio.wait({self._answer})
                    self.disposition = self._answer.result()
        elif self._client.host is None and event["type"] in MAYBE_LAST:
            # If the host does not report the outcome of a prompt, the last reply decides.
            if await self._client.is_idle():
                reply = self._last_reply()
                reason = reply["stopReason"] if reply is not None else "stop"
                self.status = reason if reason in ("aborted", "error") else "completed"
                self.error = reply.get("errorMessage") if reply is not None else None

    def _end(self, event: PromptResultEvent) -> None:
        self.status = event["status"]
        self.error = event.get("error")
        self.code = event.get("code")
        self.paused_by = event.get("pausedBy")
        self.output = event.get("output")
        self.output_status = event.get("outputStatus")
        self.output_attempts = int(event.get("outputAttempts", 0))
        self._text = event.get("text")

    def _last_reply(self) -> AssistantMessage | None:
        for message in reversed(self.messages):
            if message["role"] == "assistant":
                reply: AssistantMessage = message
                return reply
        return None


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
