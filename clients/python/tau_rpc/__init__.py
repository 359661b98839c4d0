"""Tau, the headless coding agent, from Python."""

from . import protocol
from .client import TauClient, __version__
from .commands import ErrorCode
from .errors import (
    ConnectionClosedError,
    EventOverflowError,
    FrameTooLargeError,
    RequestTimeoutError,
    RpcError,
    TauError,
)
from .events import EventStream
from .run import PromptRun
from .ui import UiHandler

__all__ = [
    "ConnectionClosedError",
    "ErrorCode",
    "EventOverflowError",
    "EventStream",
    "FrameTooLargeError",
    "PromptRun",
    "RequestTimeoutError",
    "RpcError",
    "TauClient",
    "TauError",
    "UiHandler",
    "__version__",
    "protocol",
]
