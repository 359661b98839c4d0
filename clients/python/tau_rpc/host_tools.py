"""Tools that run in the client."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from .protocol import SetHostToolsCommandTools, ToolResult
from .schema import schema_of_arguments

ToolFunction = Callable[..., Awaitable[Any]]
Send = Callable[[dict[str, Any]], None]


class ToolContext:
    """The context of a tool call: passed to a parameter of this type."""

    def __init__(self, frame: Mapping[str, Any], send: Callable[[Any], None]) -> None:
        self.tool_call_id: str = str(frame.get("toolCallId"))
        """The id of the model's tool call."""
        agent_id = frame.get("agentId")
        self.agent_id: str | None = None if agent_id is None else str(agent_id)
        """The subagent that calls it; nested ones are joined by `/`."""
        self._send = send

    def update(self, partial: str | ToolResult) -> None:
        """Reports the output so far, all of it."""
        self._send(partial)


@dataclass(frozen=True)
class HostTool:
    """A function with everything that the host has to know about it."""

    definition: SetHostToolsCommandTools
    function: ToolFunction
    context: str | None


def host_tool(
    function: ToolFunction,
    *,
    name: str | None,
    description: str | None,
    label: str | None,
    read_only: bool,
    open_world: bool,
    timeout: float | None,
    defer_loading: bool,
    subagents: bool,
) -> HostTool:
    """Creates a tool from an async function: from its name, docstring and parameter types."""
    own_name = name or getattr(function, "__name__", "")
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"The tool {own_name} is not an async function")
    text = description or inspect.getdoc(function)
    if not text:
        raise TypeError(f"The tool {own_name} has no docstring; the model needs a description")
    parameters, context = schema_of_arguments(function, ToolContext)
    definition: SetHostToolsCommandTools = {
        "name": own_name,
        "description": text,
        "parameters": parameters,
    }
    if label is not None:
        definition["label"] = label
    if read_only:
        definition["readOnly"] = True
    if open_world:
        definition["openWorld"] = True
    if timeout is not None:
        definition["timeoutMs"] = timeout * 1000
    if defer_loading:
        definition["deferLoading"] = True
    if subagents:
        definition["subagents"] = True
    return HostTool(definition, function, context)


class HostTools:
    """The tools of one client, and their running calls."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._tools: dict[str, HostTool] = {}
        # The tools that the host has.
        self._registered: dict[str, HostTool] = {}
        # Replaced tools, which a reply that has begun may still call.
        self._callable: dict[str, HostTool] = {}
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._registering = asyncio.Lock()

    def add(self, tool: HostTool) -> None:
        """Adds a tool, or replaces the one with the same name."""
        self._tools[tool.definition["name"]] = tool

    def remove(self, name: str) -> None:
        """Removes a tool. Raises KeyError if there is none with this name."""
        del self._tools[name]

    async def register(
        self, send: Callable[[list[SetHostToolsCommandTools]], Awaitable[Any]]
    ) -> None:
        """Sends changes to the host. If it refuses them, it keeps the earlier tools."""
        if self._tools == self._registered:
            return
        async with self._registering:
            tools, before = dict(self._tools), self._registered
            if tools == before:
                return
            # The first call may arrive together with the answer.
            callable_before = self._callable
            self._registered, self._callable = tools, {**callable_before, **tools}
            try:
                await send([tool.definition for tool in tools.values()])
            except BaseException:
                self._registered, self._callable = before, callable_before
                if self._tools == tools:
                    self._tools = dict(before)
                raise

    async def repeat(self, send: Callable[[list[SetHostToolsCommandTools]], Awaitable[Any]]) -> None:
        """Registers the tools again after a reconnect."""
        if self._registered:
            await send([tool.definition for tool in self._registered.values()])

    def call(self, frame: Mapping[str, Any]) -> None:
        """Runs a tool for the host."""
        call_id = str(frame["id"])
        # After a reconnect, the host repeats the call.
        if call_id in self._calls:
            return
        task = asyncio.ensure_future(self._run(call_id, frame))
        self._calls[call_id] = task
        task.add_done_callback(lambda _: self._calls.pop(call_id, None))

    def cancel(self, frame: Mapping[str, Any]) -> None:
        """A call was cancelled."""
        task = self._calls.pop(str(frame.get("targetId")), None)
        if task is not None:
            task.cancel()

    def end(self) -> None:
        """The connection is closed."""
        for task in list(self._calls.values()):
            task.cancel()

    async def _run(self, call_id: str, frame: Mapping[str, Any]) -> None:
        def update(partial: Any) -> None:
            if call_id in self._calls:
                result = _result_of(partial)
                self._send({"type": "host_tool_update", "id": call_id, "partialResult": result})

        end: dict[str, Any] = {"type": "host_tool_result", "id": call_id}
        try:
            name = str(frame.get("toolName"))
            tool = self._callable.get(name)
            if tool is None:
                raise LookupError(f"This client has no tool {name}")
            given = dict(cast("dict[str, Any]", frame.get("arguments") or {}))
            if tool.context is not None:
                given[tool.context] = ToolContext(frame, update)
            result = _result_of(await tool.function(**given))
            is_error = result.pop("isError", False) is True
            self._send({**end, "result": result, **({"isError": True} if is_error else {})})
        except Exception as error:  # The model reads the error; a failing tool must not affect the client.
            text = str(error) or repr(error)
            self._send({**end, "result": _result_of(text), "isError": True})


def _result_of(value: Any) -> dict[str, Any]:
    """A string becomes a text result, a result is kept, and anything else is sent as JSON."""
    if isinstance(value, Mapping) and isinstance(cast("Mapping[str, Any]", value).get("content"), list):
        return dict(cast("Mapping[str, Any]", value))
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return {"content": [{"type": "text", "text": text}]}
