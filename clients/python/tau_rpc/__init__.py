"""Tau, the headless coding agent, from Python."""

from . import protocol
from .client import TauClient, __version__
from .commands import ErrorCode
from .errors import (
    ConnectionClosedError,
    ConnectionCode,
    EventOverflowError,
    FrameTooLargeError,
    RequestTimeoutError,
    RpcError,
    TauError,
)
from .events import EventStream
from .host_requests import (
    Allow,
    ApprovalRequest,
    Answer,
    AnswerQuestions,
    Answers,
    BudgetRequest,
    Deny,
    GivenCredentials,
    NoAnswer,
    QuestionRequest,
    RaiseLimit,
    Stop,
)
from .host_tools import ToolContext
from .host_uris import UriContent, UriScheme
from .remote_client import RemoteClient, TauSession
from .protocol import CredentialParams
from .run import PromptRun
from .ui import UiHandler
from .workspaces import Workspace, WorkspaceError, WorkspaceProcess

__all__ = [
    "Allow",
    "ApprovalRequest",
    "Answer",
    "AnswerQuestions",
    "Answers",
    "BudgetRequest",
    "ConnectionClosedError",
    "ConnectionCode",
    "CredentialParams",
    "Deny",
    "ErrorCode",
    "EventOverflowError",
    "EventStream",
    "FrameTooLargeError",
    "GivenCredentials",
    "NoAnswer",
    "PromptRun",
    "QuestionRequest",
    "RaiseLimit",
    "RemoteClient",
    "RequestTimeoutError",
    "RpcError",
    "Stop",
    "TauClient",
    "TauError",
    "TauSession",
    "ToolContext",
    "UiHandler",
    "UriContent",
    "UriScheme",
    "Workspace",
    "WorkspaceError",
    "WorkspaceProcess",
    "protocol",
    "__version__",
]
