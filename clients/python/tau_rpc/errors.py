"""Errors between a client and its host."""

from __future__ import annotations

from typing import Literal

ConnectionCode = Literal[
    "unreachable", "connect_timeout", "unauthorized", "no_token", "refused", "closed"
]
"""Why there is no connection: nothing answers, or not in time; the token is not accepted, or is
missing; the server does not accept this client; the connection has ended."""


class TauError(Exception):
    """The base of all errors of this package."""


class RpcError(TauError):
    """The host answered a command with an error, or a prompt it had accepted failed."""

    def __init__(
        self,
        message: str,
        *,
        command: str,
        code: str | None = None,
        prompt_code: str | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.command = command
        """The command that was answered."""
        self.code = code
        """An `ErrorCode`, `prompt_failed`, or None from a host that sends no codes."""
        self.prompt_code = prompt_code
        """With `prompt_failed`: the code of the prompt's result, such as `auth` or `overloaded`."""
        self.request_id = request_id
        """The id that this client had given the request."""


class RequestTimeoutError(TauError, TimeoutError):
    """The host did not answer in time. The command may still take effect; its answer is ignored."""

    def __init__(self, what: str, timeout: float) -> None:
        super().__init__(f"No answer to {what} within {timeout:g} s")
        self.command = what
        self.timeout = timeout


class ConnectionClosedError(TauError, ConnectionError):
    """The connection to the host is closed; raised in everything that waits for an answer or an
    event."""

    def __init__(
        self,
        reason: str,
        *,
        exit_code: int | None = None,
        stderr: str = "",
        code: ConnectionCode = "closed",
    ) -> None:
        last_words = stderr.strip()
        super().__init__(f"{reason}\n{last_words}" if last_words else reason)
        self.reason = reason
        self.code: ConnectionCode = code
        self.exit_code = exit_code
        """Negative if a signal ended the host, None if it never ran or is still running."""
        self.stderr = stderr
        """The end of what the host wrote to stderr."""

    def again(self) -> ConnectionClosedError:
        """A copy for another waiting caller: a raised error keeps the traceback of one place."""
        return ConnectionClosedError(
            self.reason, exit_code=self.exit_code, stderr=self.stderr, code=self.code
        )


class FrameTooLargeError(TauError):
    """A command was too long to be sent, or its answer too long to be accepted."""

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(f"{what} has {size} bytes; the limit is {limit}")
        self.size = size
        self.limit = limit


class EventOverflowError(TauError):
    """An iterator was read too slowly and ended, to limit memory."""

    def __init__(self, events: int, size: int) -> None:
        super().__init__(f"{events} events ({size} bytes) waited to be read from this iterator")
        self.events = events
        self.size = size
