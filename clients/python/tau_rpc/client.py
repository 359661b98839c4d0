"""A Tau host as a child process, with a method for each command and its events to iterate over."""

from __future__ import annotations

import asyncio
import json
import os
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar, cast, overload

from .commands import CommandMethods
from .errors import ConnectionClosedError, FrameTooLargeError, RequestTimeoutError, RpcError
from .events import EventStream
from .host_requests import (
    AnswerQuestions,
    Approve,
    Credentials,
    HostRequests,
    RaiseBudget,
    RequestHandler,
    credential_handler,
)
from .host_tools import HostTools, ToolFunction, host_tool
from .host_uris import HostUris, UriScheme
from .lines import LineReader, decode_line, encode_line
from .process import HostProcess
from .protocol import Attachment, ExtensionUiRequest, HostInfo, ImageInput, PromptCommandUntil
from .rebuild import MessageRebuilder
from .remote import Connecting, RemoteHost, find_token
from .options import Policy, host_words, policies_of
from .run import MAYBE_LAST, PromptRun
from .ui import UiHandler, is_dialog, show
from .workspaces import Workspace, WorkspaceServer

__version__ = "0.0.0"

_HOST_LIMIT = 64 * 1024 * 1024
# The events that the client needs to rebuild replies and to detect the end of work.
_NEEDED = sorted({"message_start", "message_end", "prompt_result", *MAYBE_LAST})
# Until such a command is answered, a host that is about to start a run may still report idle.
_BEGINS_WORK = {"prompt", "steer", "follow_up", "abort_and_prompt"}
_SKIPPED_ID = re.compile(rb'\{\s*"id"\s*:\s*"(py\d+)"')

_Tool = TypeVar("_Tool", bound=ToolFunction)


class TauClient(CommandMethods):
    """One host and one session.

        async with TauClient(cwd="/path/to/project") as client:
            async for event in client.run("What does this project do?"):
                ...

    Each command of the protocol is a method. An event loop can run many clients; a client belongs
    to the loop in which it was started, and can be started only once.
    """

    def __init__(
        self,
        command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = "tau",
        *,
        args: Sequence[str | os.PathLike[str]] = (),
        provider: str | None = None,
        model: str | None = None,
        fallback_models: Sequence[str] = (),
        session: Literal["memory", "continue"] | os.PathLike[str] | None = None,
        tools: Sequence[str] | None = None,
        extensions: Sequence[str | os.PathLike[str]] = (),
        permissions: Literal["all", "ask", "acceptEdits", "readOnly"] | None = None,
        policy: Policy | Sequence[Policy] | None = None,
        durability: Literal["log", "effects"] | None = None,
        durability_adopt_ms: int | None = None,
        resume: Literal["auto"] | None = None,
        max_turns: int | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        stream: Literal["delta", "full"] = "delta",
        merge_ms: float | None = None,
        approve: Approve | None = None,
        raise_budget: RaiseBudget | None = None,
        answer_questions: AnswerQuestions | None = None,
        credentials: Credentials | None = None,
        workspace: Workspace | None = None,
        host_requests: Mapping[str, RequestHandler] | None = None,
        ui: UiHandler | None = None,
        dialog_timeout: float | None = None,
        request_timeout: float | None = None,
        start_timeout: float = 60.0,
        close_timeout: float = 5.0,
        max_frame_bytes: int = 256 * 1024 * 1024,
        on_stderr: Callable[[str], None] | None = None,
        client_info: tuple[str, str] = ("tau_rpc", __version__),
    ) -> None:
        """
        `command`: the program, optionally with arguments, that starts a host; `--mode rpc` is appended
          unless a `--mode` is given, followed by the `args`.
        `fallback_models`: models, as provider/id, to use in this order when the model fails and its
          retries are exhausted.
        `session`: "memory" writes no file, "continue" resumes the latest in the folder, and a path
          names a session file; a new one by default.
        `tools`: the names of the tools the model may call; all by default.
        `extensions`: paths of extensions to load.
        `permissions`: what tools may do without approval.
        `policy`: the upper limit for its sessions, whatever settings, projects, extensions and
          commands say; several policies are combined. A host that does not apply it is not used.
        `durability`: what survives the death of the host: only the conversation ("log"), or also
          the effects of its tools, each exactly once ("effects").
        `durability_adopt_ms`: how long a command waits for the next host after its own has died.
        `resume`: "auto" continues a prompt whose host died; by default, the prompt waits for `run` with
          `resume`.
        `max_turns`: the maximum number of replies of a prompt before it pauses.
        `env`: added to the environment of this process; None removes a variable.
        `stream`: the form of replies on the wire. Events are the same either way; "full" gives each
          `message_update` a separate message, which costs more.
        `merge_ms`: how long the host may hold back deltas to send them as one, in ms: 0 to 100,
          25 by default.
        `approve`: decides whether a tool may run. An exception, or anything but a decision, denies
          the call. It is cancelled if the request ends in another way.
        `raise_budget`: decides whether an exhausted limit is raised, if the budget asks.
        `answer_questions`: answers the model's questions from `ask_user`. Without it, the questions are
          shown with `ui.select` and `ui.input`; without those, the model has no such tool.
        `credentials`: returns the keys of providers, which take precedence over the environment of the
          host and its auth.json. The host keeps them only in memory.
        `workspace`: serves the tools of sessions that are opened with
          `workspace={"client": True, "cwd": …}`.
        `host_requests`: handlers of other methods; the result is the answer.
          Without handlers, approvals and budgets are shown as dialogs with `ui.select`.
        `ui`: handles the UI requests of extensions; without one, dialogs are cancelled.
        `dialog_timeout`: seconds after which an unanswered dialog is cancelled; None for never.
        `request_timeout`: seconds to wait for each answer; None and 0 mean no limit.
        `close_timeout`: seconds for the host to shut down before it is terminated.
        `max_frame_bytes`: a longer line of the host is skipped.
        `on_stderr`: called with the host's stderr as it arrives.
        `client_info`: name and version, sent to the host.
        """
        self._policies = policies_of(policy)
        words = host_words(
            provider, model, fallback_models, session, tools, extensions, permissions, self._policies,
            durability, durability_adopt_ms, resume, max_turns,
        )
        self._command = _whole_command(command, [*words, *args])
        self._cwd = cwd
        self._env = dict(env or {})
        self._stream: Literal["delta", "full"] = stream
        self._merge_ms = merge_ms
        self._ui = ui or UiHandler()
        handlers = dict(host_requests or {})
        if approve is not None:
            handlers["tool_approval"] = cast(RequestHandler, approve)
        if raise_budget is not None:
            handlers["budget"] = cast(RequestHandler, raise_budget)
        if answer_questions is not None:
            handlers["question"] = cast(RequestHandler, answer_questions)
        if credentials is not None:
            handlers["credential"] = credential_handler(credentials)
        self._requests = HostRequests(handlers, self._ui, self._write)
        self._tools = HostTools(self._write)
        self._uris = HostUris(self._write)
        self._workspace = None if workspace is None else WorkspaceServer(workspace, self._write)
        self._dialog_timeout = dialog_timeout
        self._request_timeout = request_timeout
        self._start_timeout = start_timeout
        self._close_timeout = close_timeout
        self._max_frame_bytes = max_frame_bytes
        self._on_stderr = on_stderr
        self._client_info = client_info
        self._process: HostProcess | None = None
        self._host: HostInfo | None = None
        self._last_id = 0
        self._pending: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        # Weak: a reader that is dropped in the middle of its loop receives no more events.
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()
        # The types of events that readers get; None for all.
        self._shown: set[str] | None = None
        self._so_far = MessageRebuilder()
        self._dialogs: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._closed: ConnectionClosedError | None = None

    # Life.

    async def __aenter__(self) -> TauClient:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @staticmethod
    def connect(
        url: str,
        *,
        token: str | None = None,
        token_file: str | os.PathLike[str] | None = None,
        connect_timeout: float = 10.0,
        reconnect: float = 60.0,
        **options: Any,
    ) -> Connecting:
        """Connects to a listening host: `await` it, or use it in `async with`.

        `url`: `unix:<path>`, `ws://…` or `wss://…`.
        `token`, `token_file`: by default, for local addresses, from the agent directory.
        `reconnect`: how many seconds to try to restore a lost connection.
        `options`: those of the constructor, except the ones for starting a host.

        The client has `open_session(cwd=…)`; see RemoteClient.
        """

        async def start() -> Any:
            from .remote_client import RemoteClient

            client = TauClient(**options)
            asked = {name: value for name, value in client._initialize_params().items() if value is not None}
            found = find_token(url, token, token_file)
            remote = RemoteHost(url, found, asked, connect_timeout, reconnect)
            await remote.connect()
            return RemoteClient(remote, remote.main, options)

        return Connecting(start)

    @property
    def host(self) -> HostInfo | None:
        """The host's description of itself; None before the start, or if it has no `initialize`."""
        return self._host

    @property
    def is_running(self) -> bool:
        """Whether the host is running and accepts commands."""
        return self._process is not None and self._closed is None and not self._is_closing

    @property
    def pid(self) -> int | None:
        """The host's process id."""
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """The host's exit code once it has ended; negative if a signal ended it."""
        return self._process.exit_code if self._process else None

    @property
    def stderr(self) -> str:
        """The end of what the host wrote to stderr (64 KiB)."""
        return self._process.stderr if self._process else ""

    async def start(self) -> None:
        """Starts the host and negotiates the form of replies."""
        if self._process is not None:
            raise ConnectionClosedError("A client is started only once")
        lines = LineReader(self._max_frame_bytes, self._receive, self._skipped)
        self._process = HostProcess(lines, self._on_stderr, self._ended)
        try:
            await self._process.start(self._command, self._cwd, self._env)
            await self._initialize()
            await self._confirm_policy()
            await self._register_tools()
        except BaseException:
            await self._process.stop(0)
            raise

    async def _confirm_policy(self) -> None:
        """A host that does not apply the policy must not get work."""
        if not self._policies:
            return
        try:
            given = (await self._send("get_policy", {}))["given"]
        except RpcError as error:
            raise _policy_refused("it knows no policies") from error
        if not all(json.loads(json.dumps(each)) in given for each in self._policies):
            raise _policy_refused("its policies do not include it")

    async def close(self) -> None:
        """Ends the host: closes its input, then SIGTERM, then SIGKILL; returns when it has ended.

        The host aborts an active run. Everything that still waits raises ConnectionClosedError.
        """
        self._is_closing = True
        if self._process is not None:
            await self._process.stop(self._close_timeout)

    # Commands.

    def new_request_id(self) -> str:
        """An id that no earlier request has."""
        self._last_id += 1
        return f"py{self._last_id}"

    async def request(
        self,
        command: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Sends any command, even one unknown to this client; returns the `data` of its answer.

        If it is cancelled, the answer is ignored; the command may still take effect.
        """
        if command not in ("initialize", "set_host_tools"):
            await self._register_tools()
        given = dict(params or {})
        is_filter = command == "set_event_filter"
        is_filter |= command == "initialize" and given.get("events") is not None
        if not is_filter:
            return await self._send(command, given, timeout=timeout, request_id=request_id)
        before = self._shown
        shown = self._shown = self._filter(given)
        try:
            return await self._send(command, given, timeout=timeout, request_id=request_id)
        except BaseException:
            if self._shown is shown:
                self._shown = before
            raise

    def _filter(self, params: dict[str, Any]) -> set[str] | None:
        """The client itself needs some events, so the host always has to send those."""
        events = params.get("events")
        if not isinstance(events, list):
            return None
        params["events"] = [*cast("list[object]", events), *_NEEDED]
        return {str(name) for name in cast("list[object]", events)}

    async def _send(
        self,
        command: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        request_id: str | None = None,
    ) -> Any:
        process = self._connected()
        request_id = request_id or self.new_request_id()
        head = {"id": request_id, "type": command}
        line = encode_line({**head, **(params or {}), **head})
        limit = self._host["maxFrameBytes"] if self._host else _HOST_LIMIT
        if len(line) > limit:
            raise FrameTooLargeError(f"The command {command}", len(line), limit)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = (command, answer)
        timer = self._expire(command, answer, timeout)
        try:
            while not process.writable.done() and not answer.done():
                await asyncio.wait({process.writable, answer}, return_when="FIRST_COMPLETED")
            if not answer.done():
                process.write(line)
            return await answer
        finally:
            del self._pending[request_id]
            if timer is not None:
                timer.cancel()
            # Also releases other callers that wait for it.
            answer.cancel()
            if not answer.cancelled():
                answer.exception()

    # Tools.

    @overload
    def tool(self, function: _Tool, /) -> _Tool: ...

    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        label: str | None = None,
        read_only: bool = False,
        open_world: bool = False,
        timeout: float | None = None,
        defer_loading: bool = False,
        subagents: bool = False,
    ) -> Callable[[_Tool], _Tool]: ...

    def tool(
        self,
        function: ToolFunction | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        label: str | None = None,
        read_only: bool = False,
        open_world: bool = False,
        timeout: float | None = None,
        defer_loading: bool = False,
        subagents: bool = False,
    ) -> Any:
        """Lets the model call an async function, as `@client.tool` or `@client.tool(…)`.

        Name, description and arguments are the function's name, docstring and annotations;
        `Annotated[int, "its number"]` describes an argument, and a parameter of the type ToolContext
        gets the call's context. The return value is the result: a text, a ToolResult, or any JSON
        value. An exception becomes an error result. The function is cancelled when the host no
        longer wants the result. Can be used before the start or at any time; it takes effect with
        the next command.

        `read_only`: whether it changes nothing, so that no approval is required.
        `open_world`: whether its results may contain text from others, which models receive in a
          fence, as data.
        `timeout`: how long a call may take, in seconds.
        `defer_loading`: whether it is omitted from requests until the model finds it with
          `tool_search`.
        `subagents`: whether subagents also get it.
        """

        def add(given: ToolFunction) -> ToolFunction:
            tool = host_tool(
                given,
                name=name,
                description=description,
                label=label,
                read_only=read_only,
                open_world=open_world,
                timeout=timeout,
                defer_loading=defer_loading,
                subagents=subagents,
            )
            self._tools.add(tool)
            return given

        return add if function is None else add(function)

    def remove_tool(self, name: str) -> None:
        """Removes a tool as of the next command; KeyError if there is none with this name."""
        self._tools.remove(name)

    async def serve_uris(self, schemes: Sequence[UriScheme]) -> list[str]:
        """Registers the URI schemes that this process serves, replacing all earlier ones: `read` and
        `write` of the model and its subagents accept such a URI as a path. Returns the schemes."""
        return await self._uris.register(
            schemes, lambda given: self._send("set_host_uri_schemes", {"schemes": given})
        )

    async def _register_tools(self) -> None:
        await self._tools.register(lambda tools: self._send("set_host_tools", {"tools": tools}))

    async def is_idle(self) -> bool:
        """Whether nothing is running, compacting or about to begin."""
        state = await self.get_state()
        if state["isStreaming"] or state.get("isCompacting"):
            return False
        # If nothing runs, queued messages wait for the next prompt; older hosts may be between runs.
        return self._host is not None or state.get("pendingMessageCount", 0) == 0

    # Events and prompts.

    def events(
        self, *, max_events: int = 100_000, max_bytes: int = 256 * 1024 * 1024
    ) -> EventStream:
        """All events from now on; see EventStream.

        At most `max_events` events, of at most `max_bytes` on the wire, may be unread.
        """
        stream = EventStream(max_events, max_bytes, self._so_far, self._streams.discard)
        if self._closed is not None or self._process is None:
            stream.end(self._closed or ConnectionClosedError("The client has not been started"))
        else:
            self._streams.add(stream)
        return stream

    def run(
        self,
        message: str,
        *,
        images: list[ImageInput] | None = None,
        attachments: list[Attachment] | None = None,
        streaming_behavior: Literal["steer", "followUp"] | None = None,
        prompt_id: str | None = None,
        resume: bool | None = None,
        until: PromptCommandUntil | None = None,
        output_schema: Mapping[str, Any] | None = None,
        traceparent: str | None = None,
    ) -> PromptRun:
        """Sends a prompt when iteration begins; yields the events up to its `prompt_result`.

        With `resume` and a `prompt_id`, the prompt continues if the session already has it.
        """
        params = {
            "message": message,
            "images": images,
            "attachments": attachments,
            "streamingBehavior": streaming_behavior,
            "promptId": prompt_id,
            "resume": resume,
            "until": until,
            "outputSchema": output_schema,
            "traceparent": traceparent,
        }
        return PromptRun(self, {name: value for name, value in params.items() if value is not None})

    async def prompt_and_wait(
        self,
        message: str,
        *,
        images: list[ImageInput] | None = None,
        attachments: list[Attachment] | None = None,
        prompt_id: str | None = None,
        resume: bool | None = None,
        until: PromptCommandUntil | None = None,
        output_schema: Mapping[str, Any] | None = None,
        traceparent: str | None = None,
        timeout: float | None = None,
    ) -> PromptRun:
        """Sends a prompt and returns its run when all of its work is done.

        Raises RpcError if it is refused and, with the code `prompt_failed`, if its run fails;
        `prompt_code` says why. The run continues after the `timeout`.
        """
        run = self.run(
            message,
            images=images,
            attachments=attachments,
            prompt_id=prompt_id,
            resume=resume,
            until=until,
            output_schema=output_schema,
            traceparent=traceparent,
        )
        try:
            await asyncio.wait_for(run.wait(), timeout)
        except RequestTimeoutError:
            raise
        except asyncio.TimeoutError:
            raise RequestTimeoutError("the end of the prompt", timeout or 0) from None
        if run.status == "error":
            text = run.error or "The prompt failed"
            codes = {"code": "prompt_failed", "prompt_code": run.code}
            raise RpcError(text, command="prompt", request_id=run.id, **codes)
        return run

    async def wait_until_settled(self, timeout: float | None = None) -> None:
        """Returns when nothing is running, queued, retrying or compacting; at once if that is so."""
        try:
            await asyncio.wait_for(self._settled(), timeout)
        except RequestTimeoutError:
            raise
        except asyncio.TimeoutError:
            raise RequestTimeoutError("the end of all work", timeout or 0) from None

    async def _settled(self) -> None:
        events = self.events()
        # A host also reports idle while it is still processing a prompt command.
        asked = {answer for command, answer in self._pending.values() if command in _BEGINS_WORK}
        if asked:
            await asyncio.wait(asked)
        if await self.is_idle():
            return
        while True:
            try:
                event, _ = await events.next_of_all()
            except StopAsyncIteration:
                raise ConnectionClosedError("The client was closed") from None
            if event["type"] in MAYBE_LAST and await self.is_idle():
                return

    # Frames of the host.

    def _initialize_params(self) -> dict[str, Any]:
        name, version = self._client_info
        return {
            "protocol": "pi",
            "stream": self._stream,
            "mergeMs": self._merge_ms,
            "clientInfo": {"name": name, "version": version},
            "capabilities": self._capabilities(),
        }

    def _capabilities(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"hostRequests": self._requests.methods}
        if self._workspace is not None:
            capabilities["workspace"] = True
        return capabilities

    async def _initialize(self) -> None:
        name, version = self._client_info
        try:
            self._host = await self.initialize(
                protocol="pi",
                stream=self._stream,
                merge_ms=self._merge_ms,
                client_info={"name": name, "version": version},
                capabilities=cast(Any, self._capabilities()),
                timeout=self._start_timeout,
            )
        except RpcError:
            # An older host: everything works, with replies in full form.
            self._host = None

    def _connected(self) -> HostProcess:
        if self._closed is not None:
            raise self._closed.again()
        if self._process is None:
            raise ConnectionClosedError("The client has not been started")
        if self._is_closing:
            raise ConnectionClosedError("The client was closed")
        return self._process

    def _expire(
        self, command: str, answer: asyncio.Future[Any], timeout: float | None
    ) -> asyncio.TimerHandle | None:
        seconds = timeout if timeout is not None else self._request_timeout
        if not seconds:
            return None

        def expire() -> None:
            _fail(answer, RequestTimeoutError(command, seconds))

        return asyncio.get_running_loop().call_later(seconds, expire)

    def _receive(self, line: bytes) -> None:
        frame = decode_line(line)
        if frame is None:
            self._note(f"not a frame: {line[:500].decode('utf-8', 'replace').strip()}")
        elif frame["type"] == "response":
            self._answer(frame)
        elif frame["type"] == "extension_ui_request":
            self._show(frame)
        elif frame["type"] == "host_tool_call" and "id" in frame:
            self._tools.call(frame)
        elif frame["type"] == "host_tool_cancel":
            self._tools.cancel(frame)
        elif frame["type"] == "host_uri_request" and "id" in frame:
            self._uris.take(frame)
        elif frame["type"] == "host_uri_cancel":
            self._uris.cancel(frame)
        elif frame["type"] == "workspace_call" and self._workspace is not None:
            self._workspace.call(frame)
        elif frame["type"] == "workspace_cancel" and self._workspace is not None:
            self._workspace.cancel(frame)
        elif frame["type"] == "host_request" and "id" in frame and self._requests.methods:
            self._requests.open(frame)
        elif frame["type"] == "host_request_resolved" and "id" in frame and self._requests.methods:
            self._requests.close(frame)
        else:
            is_shown = self._shown is None or frame["type"] in self._shown
            for stream in list(self._streams):
                stream.push(frame, len(line), is_shown)
            self._so_far.apply(frame)

    def _skipped(self, head: bytes, size: int) -> None:
        self._note(f"a frame of {size} bytes was skipped (max_frame_bytes)")
        match = _SKIPPED_ID.match(head)
        if match is not None and (request := self._pending.get(match.group(1).decode())):
            command, answer = request
            what = f"The answer to {command}"
            _fail(answer, FrameTooLargeError(what, size, self._max_frame_bytes))

    def _answer(self, frame: dict[str, Any]) -> None:
        if frame.get("command") == "host_response":
            self._requests.refuse(frame)
            return
        request_id = self._request_of(frame)
        if request_id is None:
            return
        command, answer = self._pending[request_id]
        if frame.get("success") is not True:
            error = RpcError(
                str(frame.get("error") or f"{command} failed"),
                command=command,
                code=frame.get("code"),
                request_id=request_id,
            )
            _fail(answer, error)
        elif not answer.done():
            answer.set_result(frame.get("data"))

    def _request_of(self, frame: dict[str, Any]) -> str | None:
        """Some hosts omit the id of an error: for an unknown command or a malformed line."""
        request_id = frame.get("id")
        if request_id is not None:
            return request_id if request_id in self._pending else None
        if frame.get("command") == "parse":
            return next(iter(self._pending)) if len(self._pending) == 1 else None
        for pending_id, (command, _) in self._pending.items():
            if command == frame.get("command"):
                return pending_id
        return None

    def _show(self, request: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._dialog(cast(ExtensionUiRequest, request)))
        self._dialogs.add(task)
        task.add_done_callback(self._dialogs.discard)

    async def _dialog(self, request: ExtensionUiRequest) -> None:
        # The host settles a dialog with a timeout (in ms) itself; then nobody waits any more.
        own = cast("Mapping[str, Any]", request).get("timeout")
        timeouts = [own / 1000 if own else None, self._dialog_timeout]
        timeout = min((seconds for seconds in timeouts if seconds is not None), default=None)
        answer: dict[str, Any] = {"cancelled": True}
        try:
            answer = await asyncio.wait_for(show(self._ui, request), timeout)
        except asyncio.TimeoutError:
            self._note(f"the dialog {request['method']} was not answered in time")
        except Exception as error:  # An error of the application must not keep an extension waiting.
            self._note(f"the handler of {request['method']} failed: {error!r}")
        if is_dialog(request):
            self._write({"type": "extension_ui_response", "id": request["id"], **answer})

    def _write(self, frame: dict[str, Any]) -> None:
        """Sends a frame other than a command; drops it if the host has already ended."""
        line = encode_line(frame)
        if self._closed is None and self._process is not None:
            self._process.write(line)

    def _note(self, text: str) -> None:
        if self._process is not None:
            self._process.note(text)

    def _describe_end(self) -> str:
        return _describe_exit(self.exit_code)

    def _fail_request(self, request_id: str, error: ConnectionClosedError) -> None:
        if request := self._pending.get(request_id):
            _fail(request[1], error)

    def _ended(self) -> None:
        error = ConnectionClosedError(
            "The client was closed" if self._is_closing else self._describe_end(),
            exit_code=self.exit_code,
            stderr=self.stderr,
        )
        self._closed = error
        for _, answer in list(self._pending.values()):
            _fail(answer, error.again())
        for stream in list(self._streams):
            stream.end(None if self._is_closing else error.again())
        for task in list(self._dialogs):
            task.cancel()
        self._requests.end()
        self._tools.end()
        self._uris.end()
        if self._workspace is not None:
            self._workspace.end()



def _policy_refused(why: str) -> RpcError:
    text = f"The host does not run with the policy of this client: {why}. Let its command pass --policy on"
    return RpcError(text, command="get_policy", code="policy_denied")


_Word = str | os.PathLike[str]


def _whole_command(command: _Word | Sequence[_Word], args: Sequence[_Word]) -> list[_Word]:
    """In another mode, the host would wait silently for the end of its input."""
    words = [command] if isinstance(command, (str, os.PathLike)) else list(command)
    given = [os.fspath(word) for word in (*words, *args)]
    has_mode = any(word == "--mode" or word.startswith("--mode=") for word in given)
    return [*words, *([] if has_mode else ["--mode", "rpc"]), *args]


def _fail(answer: asyncio.Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)


def _describe_exit(code: int | None) -> str:
    if code is None:
        return "The host closed its output"
    how = f"on signal {-code}" if code < 0 else f"with exit code {code}"
    return f"The host ended {how}"
