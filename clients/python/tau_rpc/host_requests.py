"""Requests of the host to its client: approvals, budgets, and all methods with a handler."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypedDict, Union, cast

from .protocol import (
    ApprovalParams,
    BudgetParams,
    CredentialParams,
    ExtensionUiRequestInput,
    ExtensionUiRequestSelect,
    PermissionRule,
    QuestionParams,
)
from .ui import UiHandler


class _Asked(TypedDict):
    id: str
    """The id of the request."""


class _MaybeAsked(_Asked, total=False):
    toolCallId: str
    """The tool call that asks."""
    promptId: str
    """The prompt whose run asks."""
    agentId: str
    """The subagent that asks; nested ones are joined by `/`."""
    deadlineAt: int
    """When the host gives up, in ms since the epoch."""


class ApprovalRequest(ApprovalParams, _MaybeAsked):
    """The question whether a tool may run."""


class BudgetRequest(BudgetParams, _MaybeAsked):
    """The question whether to raise an exhausted limit."""


class QuestionRequest(QuestionParams, _MaybeAsked):
    """The model's questions to the user."""


class _Answer(TypedDict):
    labels: list[str]
    """The chosen labels."""


class Answer(_Answer, total=False):
    """The answer to one question."""

    text: str
    """The user's own text, in addition to labels or instead of them."""


class Answers(TypedDict):
    """One answer for each question, in their order."""

    answers: list[Answer]


class NoAnswer(TypedDict):
    """The user does not answer."""

    cancelled: Literal[True]


class _Allow(TypedDict):
    decision: Literal["allow"]


class Allow(_Allow, total=False):
    """The tool may run."""

    scope: Literal["once", "session", "always"]
    """Whether the answer applies to the call (default), to the session, or is saved."""
    rules: list[PermissionRule]
    """The rules to add; by default, the suggestions of the request."""
    saveTo: Literal["user", "project"]
    """The settings file to which "always" writes; the user's by default."""
    input: dict[str, Any]
    """Arguments to run the tool with instead."""


class _Deny(TypedDict):
    decision: Literal["deny"]


class Deny(_Deny, total=False):
    """The tool does not run."""

    message: str
    """The reason, for the model."""
    endRun: bool
    """Whether the run ends as well."""


class RaiseLimit(TypedDict):
    """The work continues."""

    limit: float
    """The new limit, above the current usage."""


class Stop(TypedDict):
    """The work stops."""

    stop: Literal[True]


class GivenCredentials(TypedDict, total=False):
    """The key of a provider; without a key and headers, the host looks for one itself."""

    apiKey: str
    """The key."""
    headers: dict[str, str]
    """Headers to send with requests, in addition to the key or instead of it."""
    expiresAt: float
    """When to ask for it again, in ms since the epoch."""


Approve = Callable[[ApprovalRequest], Awaitable[Union[Allow, Deny]]]
RaiseBudget = Callable[[BudgetRequest], Awaitable[Union[RaiseLimit, Stop]]]
AnswerQuestions = Callable[[QuestionRequest], Awaitable[Union[Answers, NoAnswer]]]
Credentials = Callable[[CredentialParams], Awaitable[Union[GivenCredentials, None]]]
RequestHandler = Callable[[dict[str, Any]], Awaitable[Any]]

_ONCE, _SESSION, _DENY, _STOP = "Allow once", "Allow for this session", "Deny", "Stop"
_OTHER = "Other…"


class HostRequests:
    """Dispatches the requests of one connection to handlers."""

    def __init__(
        self,
        handlers: Mapping[str, RequestHandler],
        ui: UiHandler,
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self._handlers = dict(handlers)
        # Methods that are not listed end at once, so these are listed and shown as dialogs.
        self._handlers.setdefault("tool_approval", lambda request: _show_approval(ui, request))
        self._handlers.setdefault("budget", lambda request: _show_budget(ui, request))
        # If nobody can answer, the model must not have the tool.
        if type(ui).select is not UiHandler.select:
            self._handlers.setdefault("question", lambda request: _show_questions(ui, request))
        self._send = send
        self._open: dict[str, asyncio.Task[None]] = {}

    @property
    def methods(self) -> list[str]:
        """The methods that the client answers."""
        return list(self._handlers)

    def open(self, frame: Mapping[str, Any]) -> None:
        """Handles a request, unless it is a repetition of one that is already being decided."""
        request_id = str(frame["id"])
        if request_id not in self._open:
            self._open[request_id] = asyncio.ensure_future(self._decide(request_id, frame))

    def close(self, frame: Mapping[str, Any]) -> None:
        """A request has ended; its handler is cancelled if it is still running."""
        task = self._open.pop(str(frame["id"]), None)
        if task is not None:
            task.cancel()

    def refuse(self, frame: Mapping[str, Any]) -> None:
        """The host has refused an answer, so the request is answered with no."""
        request_id = str(frame.get("id"))
        if frame.get("code") == "invalid_response" and request_id in self._open:
            self._answer(request_id, error={"message": str(frame.get("error"))})

    def end(self) -> None:
        """The connection is closed."""
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _decide(self, request_id: str, frame: Mapping[str, Any]) -> None:
        handler = self._handlers.get(str(frame.get("method")))
        params = cast("dict[str, Any]", frame.get("params") or {})
        names = ("id", "toolCallId", "promptId", "agentId", "deadlineAt")
        asked = {name: frame[name] for name in names if name in frame}
        try:
            if handler is None:
                raise LookupError(f"this client answers no {frame.get('method')}")
            result = await handler({**params, **asked})
        except Exception as error:  # A failing handler counts as no; the host must not wait for it.
            self._answer(request_id, error={"message": str(error) or repr(error)})
            return
        if result is None:
            self._answer(request_id, error={"message": "there was no decision"})
            return
        try:
            self._answer(request_id, result=result)
        except (TypeError, ValueError) as error:
            self._answer(request_id, error={"message": f"the answer is no JSON: {error}"})

    def _answer(self, request_id: str, **answer: Any) -> None:
        self._send({"type": "host_response", "id": request_id, **answer})


def credential_handler(credentials: Credentials) -> RequestHandler:
    """Wraps a function for keys as a handler; without a key, the host looks for one itself."""

    async def answer(request: dict[str, Any]) -> GivenCredentials:
        names = ("provider", "modelId", "reason")
        asked = {name: request[name] for name in names if name in request}
        return await credentials(cast("CredentialParams", asked)) or {}

    return answer


async def _show_approval(ui: UiHandler, request: Mapping[str, Any]) -> Allow | Deny:
    session = [_SESSION] if request["suggestions"] else []
    choice = await _select(ui, request, [_ONCE, *session, _DENY])
    if choice == _ONCE:
        return {"decision": "allow", "scope": "once"}
    if choice == _SESSION and session:
        return {"decision": "allow", "scope": "session"}
    if choice is None or choice == _DENY or not choice.strip():
        return {"decision": "deny"}
    return {"decision": "deny", "message": choice}


async def _show_budget(ui: UiHandler, request: Mapping[str, Any]) -> RaiseLimit | Stop:
    raised = request["limit"] * 2
    go_on = f"Continue with {raised:g}"
    choice = await _select(ui, request, [go_on, _STOP])
    return {"limit": raised} if choice == go_on else {"stop": True}


async def _show_questions(ui: UiHandler, request: Mapping[str, Any]) -> Answers | NoAnswer:
    """Shows one dialog for each question and, for free text, another one."""
    answers: list[Answer] = []
    for question in request["questions"]:
        labels = [option["label"] for option in question["options"]]
        shown = {"id": request["id"], "title": question["question"]}
        choice = await _select(ui, shown, [*labels, _OTHER])
        if choice == _OTHER and _OTHER not in labels:
            dialog: ExtensionUiRequestInput = {
                "type": "extension_ui_request",
                "id": request["id"],
                "method": "input",
                "title": question["question"],
            }
            choice = await ui.input(dialog)
            labels = []
        if choice is None or not choice.strip():
            return {"cancelled": True}
        answers.append({"labels": [choice]} if choice in labels else {"labels": [], "text": choice})
    return {"answers": answers}


async def _select(ui: UiHandler, request: Mapping[str, Any], options: list[str]) -> str | None:
    dialog: ExtensionUiRequestSelect = {
        "type": "extension_ui_request",
        "id": request["id"],
        "method": "select",
        "title": request["title"],
        "options": options,
    }
    return await ui.select(dialog)
