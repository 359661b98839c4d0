/**
 * What the documents ask of a host: one id per statement; those of `rpc-pi-mono` first, by the
 * section it stands in, then the other dialects. Every id is named by a transcript that shows it, or
 * by a test.
 */
const sections = {
  "Starting RPC Mode": {
    "start.mode": "--mode rpc starts a host that takes commands on stdin",
    "start.provider": "--provider and --model choose the model",
    "start.model": "--model takes provider/id with an optional thinking level after a colon",
    "start.no_session": "--no-session keeps no file, so the state names none",
    "start.session_dir": "--session-dir says where session files go",
  },
  "Protocol Overview": {
    "overview.lines": "commands and frames are one JSON object per line",
    "prompt.id": "a response carries the id of its command, and none when there was none",
  },
  "Prompting: prompt": {
    "prompt.ack": "prompt is answered at once; its events follow",
    "prompt.images": "images of a prompt become part of its message",
    "prompt.busy": "while streaming, a prompt without streamingBehavior is an error",
    "prompt.steer": 'streamingBehavior "steer" queues the prompt as steering',
    "prompt.followUp": 'streamingBehavior "followUp" queues the prompt for the end',
    "prompt.extension": "a prompt that names an extension's command runs it",
    "prompt.extension.streaming": "an extension's command runs at once, also while streaming",
    "prompt.extension.llm": "an extension's command speaks to the model itself, with sendMessage",
    "prompt.template": "a template is expanded before it is sent",
    "prompt.queued.template": "a template is expanded before it is queued",
    "prompt.skill": "a skill command is expanded before it is sent",
  },
  "Prompting: steer": {
    "steer.ack": "steer is answered with success alone",
    "steer.skip": "steering comes after the current tool; the remaining calls are skipped",
    "steer.images": "steer takes images",
    "steer.expansion": "templates and skills are expanded in steer",
    "steer.extension": "an extension's command is refused in steer",
  },
  "Prompting: follow_up": {
    "follow_up.ack": "follow_up is answered with success alone",
    "follow_up.last": "a follow-up comes when no calls and no steering are left",
    "follow_up.images": "follow_up takes images",
    "follow_up.expansion": "templates and skills are expanded in follow_up",
    "follow_up.extension": "an extension's command is refused in follow_up",
  },
  "Prompting: abort": {
    "abort.ack": "abort is answered with success alone and ends the run",
    "abort.idle": "abort with nothing to abort succeeds and says nothing else",
  },
  "Prompting: new_session": {
    "new_session.data": "new_session answers cancelled: false and begins empty",
    "new_session.fresh": "the state of a new session shows no name and no messages",
    "new_session.parent": "new_session takes a parentSession",
    "new_session.recorded": "the parent stands in the new session's file",
    "new_session.cancelled": "an extension may call it off; nothing has changed then",
  },
  "State: get_state": {
    "get_state.members": "get_state has the documented members",
    "get_state.name": "sessionName is left out until it is set",
    "get_state.no_model": "model is null when there is none",
    "get_state.compacting": "isCompacting is true while a compaction is on",
    "get_state.pending": "isStreaming and pendingMessageCount follow the run and its queues",
  },
  "State: get_messages": {
    "get_messages.data": "get_messages returns all messages of the conversation",
  },
  Model: {
    "set_model.data": "set_model answers with the whole model",
    "set_model.unknown": "set_model of an unknown model is an error that names it",
    "cycle_model.data": "cycle_model answers with model, level and scope",
    "cycle_model.scoped": "with a list of models, cycling stays in it and isScoped is true",
    "cycle_model.null": "cycle_model answers null when there is no other model",
    "get_available_models.data": "get_available_models lists whole models",
  },
  Thinking: {
    "set_thinking_level.ack": "set_thinking_level is answered with success alone",
    "set_thinking_level.levels": "all six levels are accepted",
    "set_thinking_level.xhigh": "xhigh is there for models that support it; others get less",
    "cycle_thinking_level.data": "cycle_thinking_level answers with the level",
    "cycle_thinking_level.null": "cycle_thinking_level answers null when the model cannot think",
  },
  "Queue Modes": {
    "set_steering_mode.ack": "set_steering_mode is answered with success alone",
    "set_steering_mode.all": "in the mode all, every steering message comes at once",
    "set_steering_mode.one": "by default, one steering message comes per interruption",
    "set_follow_up_mode.ack": "set_follow_up_mode is answered with success alone",
    "set_follow_up_mode.all": "in the mode all, every follow-up comes at once",
    "set_follow_up_mode.one": "by default, one follow-up comes each time the agent stops",
  },
  Compaction: {
    "compact.data": "compact answers with summary, first kept entry, tokens before and details",
    "compact.instructions": "custom instructions reach the summary",
    "set_auto_compaction.ack": "set_auto_compaction is answered with success alone",
    "set_auto_compaction.off": "switched off, the state says so and nothing is compacted by itself",
  },
  Retry: {
    "set_auto_retry.ack": "set_auto_retry is answered with success alone",
    "set_auto_retry.off": "switched off, a transient error ends the run",
    "set_auto_retry.on": "switched on again, it is retried",
    "abort_retry.ack": "abort_retry is answered with success alone, also with nothing to abort",
    "abort_retry.ends": "abort_retry ends the wait, and nothing is tried again",
  },
  Bash: {
    "bash.data": "bash answers with output, exitCode, cancelled and truncated",
    "bash.truncated": "a truncated output comes with the path of the full one",
    "bash.silent": "bash emits no event",
    "bash.context": "the output is a message of the conversation",
    "bash.context.format": "the next prompt's request shows command and output as a user message",
    "bash.context.many": "the outputs of several commands all reach the model",
    "abort_bash.ack": "abort_bash is answered with success alone and cancels the command",
  },
  "Session: get_session_stats": {
    "get_session_stats.data": "get_session_stats has counts, tokens and cost",
  },
  "Session: export_html": {
    "export_html.data": "export_html answers with the path of the page",
    "export_html.path": "a given path is where the page is written",
  },
  "Session: switch_session": {
    "switch_session.data": "switch_session answers cancelled: false and loads the file",
    "switch_session.cancelled": "an extension may call it off; nothing has changed then",
  },
  "Session: fork": {
    "fork.data": "fork answers with the message's text and goes on from before it",
    "fork.cancelled": "an extension may call it off; the text is returned all the same",
    "get_fork_messages.data": "get_fork_messages lists the user messages with their entries",
  },
  "Session: texts and names": {
    "get_last_assistant_text.data": "get_last_assistant_text returns the last reply's text",
    "get_last_assistant_text.null": "get_last_assistant_text returns null before the first reply",
    "set_session_name.ack":
      "set_session_name is answered with success alone, and get_state shows it",
    "set_session_name.listed": "the name stands in listings of sessions",
  },
  "Commands: get_commands": {
    "get_commands.data": "get_commands lists extension commands, templates and skills",
    "get_commands.extension": "an extension's command has no location and may lack a description",
    "get_commands.prompt": "a template has the source prompt",
    "get_commands.skill": "a skill's name begins with skill:",
    "get_commands.locations": "location is user, project or path; path is the absolute file",
    "get_commands.no_builtin": "commands of a terminal are not listed",
  },
  "Events: runs and turns": {
    "events.no_id": "events carry no id",
    "events.agent_end": "agent_start begins a run, agent_end carries every message of it",
    "events.turn": "turn_end carries the reply and its tool results",
  },
  "Events: messages": {
    "events.text":
      "a text reply streams as start, deltas and end between message_start and message_end",
    "events.thinking": "thinking streams as blocks of its own",
    "events.toolcall": "a call streams as start, deltas and end with the whole call",
    "events.error": "a failed request ends the reply with stop reason error",
  },
  "Events: tools": {
    "events.tool": "a tool's execution is reported from start to end, then its result as a message",
    "events.tool_update": "a running tool reports its output so far",
    "events.tool_accumulates": "a later update holds what the earlier one held",
  },
  "Events: auto_compaction_*": {
    "events.compaction_start": "auto_compaction_start says threshold near the limit",
    "events.compaction_end": "auto_compaction_end carries the result",
    "events.compaction_overflow":
      "after an overflow, willRetry is true and the prompt is answered by itself",
    "events.compaction_aborted": "aborted: result null, aborted true",
    "events.compaction_failed": "failed: result null, aborted false, errorMessage says why",
  },
  "Events: auto_retry_*": {
    "events.retry_start": "auto_retry_start has attempt, maxAttempts, delayMs and the error",
    "events.retry_end": "auto_retry_end after success has the attempt that succeeded",
    "events.retry_failed": "after the last attempt, finalError says why",
    "events.retry_causes": "overload, rate limit and 5xx are retried",
  },
  "Events: extension_error": {
    "events.extension_error": "extension_error has extensionPath, event and error",
  },
  "Extension UI Protocol": {
    "ui.requests": "requests have type, a unique id and a method; dialogs wait for their answer",
    "ui.timeout": "a dialog with a timeout resolves by itself with its default",
    "ui.has_ui": "extensions see that there is a user interface",
    "ui.terminal": "methods that need a terminal do nothing and return what is documented",
    "ui.paste": "pasting sets the editor's text",
  },
  "Extension UI Requests": {
    "ui.select": "select has title, options and timeout; the answer is the value",
    "ui.confirm": "confirm has title, message and timeout; the answer is confirmed",
    "ui.confirm.timeout": "a confirm whose time is up counts as no",
    "ui.input": "input has title and placeholder; the answer is the value",
    "ui.editor": "editor has title and prefill; the answer is the value",
    "ui.notify": "notify has message and notifyType, which may be missing",
    "ui.status": "setStatus has statusKey and statusText; without the text it clears",
    "ui.widget": "setWidget has key, lines and placement; without lines it clears",
    "ui.widget.lines": "a widget that is no list of lines is ignored",
    "ui.title": "setTitle has title",
    "ui.editor_text": "set_editor_text has text",
  },
  "Extension UI Responses": {
    "ui.unknown": "an answer with an unknown or settled id is ignored",
    "ui.select.cancelled": "a cancelled select gives the extension undefined",
    "ui.text.cancelled": "a cancelled input or editor gives the extension undefined",
    "ui.confirm.cancelled": "a cancelled confirm gives the extension false",
  },
  "Error Handling": {
    "error.command": "a failed command is answered with success: false and a text",
    "error.parse": "a malformed line is answered as command parse",
    "error.unknown": "an unknown command is an error",
  },
  Types: {
    "types.model": "a model has the documented members",
    "types.user": "a user message has role, content and timestamp; content is text or blocks",
    "types.assistant": "an assistant message has the documented members and blocks",
    "types.tool_result": "a tool result has the documented members",
    "types.bash": "a bash execution has the documented members",
    "message.stop.length": "a reply cut at its limit has the stop reason length",
    "message.stop.aborted": "an aborted reply has the stop reason aborted",
  },
  "Example clients": {
    "clients.python": "the Python client runs as it is printed",
    "clients.node": "the Node client runs as it is printed and aborts at Ctrl+C",
  },
  "Beyond the document": {
    "compact.nothing": "with nothing to compact, compact is an error",
    "export_html.nothing": "with nothing to export, export_html is an error",
    "switch_session.missing": "a missing file is an error that names it",
    "fork.unknown": "an entry that is not there is an error",
    "set_session_name.empty": "an empty session name is an error",
    "error.field": "a wrong field is an error that names it",
    "types.attachments": "attachments stay with their message",
    "error.no_object": "JSON that is no command is answered as command parse",
    "get_available_thinking_levels.data":
      "get_available_thinking_levels lists what the model supports",
    "protocol.flag": "--protocol says which dialect is spoken from the start",
    "initialize.protocol": "initialize changes the dialect for all that follows it",
    "initialize.code": "after initialize, an error carries a code",
    "get_capabilities.data":
      "get_capabilities says what initialize answers, in the dialect of the environment",
    "set_event_filter.ack": "set_event_filter is answered with success alone",
    "set_event_filter.any_time":
      "only events of the types named are sent, until all are wanted again",
    "additions.initialize": "initialize answers with what the host can do",
    "additions.disposition": "only after it, prompt says what became of the prompt",
    "budget.set": "set_budget raises a limit and the session goes on; get_budget shows both",
    "todos.commands": "get_todos shows the session's list, set_todos replaces it in either shape",
    "todos.held_back": "dialects that do not know todo_reminder see its run alone",
    "todos.end": "prompt_result and agent_settled come after the last reminder's run",
    "ttsr.extension": "extensions hear of the rules that stop a reply",
    "ttsr.held_back": "dialects that do not know ttsr_triggered see the reply begun again alone",
    "todos.branch": "the list is the branch's: a fork brings it along, a new session has none",
    "additions.code": "only after it, errors have a code",
    "additions.will_retry": "only after it, agent_end says whether the run goes on",
  },
  "The dialect pisces": {
    "pisces.abort_and_prompt": "abort_and_prompt ends the run and begins one before what is queued",
    "pisces.prompt": "a prompt is acknowledged, then its events follow",
    "pisces.state": "get_state has the documented members",
    "pisces.modes": "queue and interrupt modes are set and shown",
    "pisces.commands": "every command of the document is answered",
    "pisces.dialogs": "a dialog is a request, and its answer reaches the extension",
    "pisces.extension_error": "errors of extensions are events",
    "pisces.error.unknown": "an unknown command is answered without its id",
    "pisces.error.parse": "what fails while a line is read is answered as parse, without an id",
    "pisces.error.command": "a command that fails is answered with its id",
    "pisces.budget.warning": "budget_warning comes once per dimension, with scope and snapshot",
    "pisces.budget.exceeded": "budget_exceeded comes once, and the running turn is stopped",
    "pisces.budget.refused": "then prompts are refused with the dimension and its setting",
    "pisces.ttsr.event":
      "ttsr_triggered names the rules that a reply goes against while it streams",
    "pisces.ttsr.reminder":
      "the reply ends there, and the next turn begins with the rules as a message",
    "pisces.ttsr.end": "the run goes on to its end as if nothing had been stopped",
    "pisces.ttsr.once": "a rule that has struck does not strike again",
    "pisces.ttsr.arguments":
      "arguments of tool calls are watched, too, and no call of the stopped reply is run",
    "pisces.todos.reminder":
      "todo_reminder comes with the open todos, its number and how many there may be, and a run follows",
    "pisces.todos.default": "an agent that stops is reminded only where the settings say so",
    "pisces.budget.subagents": "a limit of subagents is a limit, too; no more are started",
    "pisces.verify.false": "verify: false verifies nothing",
    "pisces.verify.true": "verify: true uses the default profile",
    "pisces.verify.name": "verify with a name uses that profile",
    "pisces.verify.inline": "verify with commands needs no profile",
    "pisces.verify.optional": "an optional command that fails does not fail the verification",
    "pisces.verify.override": "verify with a profile and commands runs both",
    "pisces.verify.result": "the result of a verification is in the event and in the tool's result",
    "pisces.verify.return_failure": "return_failure: exit code 1, and the patch is kept",
    "pisces.verify.discard_patch": "discard_patch: exit code 1, and no patch",
    "pisces.verify.retry_once": "retry_once: a repair is tried once, and counted",
    "pisces.verify.skipped": "a subagent that failed is not verified",
    "pisces.verify.required": "with requireForIsolated, every isolated task is verified",
    "pisces.subagents.events": "the six lifecycle events come in order, with stable ids",
    "pisces.subagents.nested": "subagents of subagents are told of under their parent's id",
  },
  "The dialect oh-my-pi": {
    "oh-my-pi.prompt": "a prompt is answered at once, with its id",
    "oh-my-pi.events": "a run has the events of the document and no others",
    "oh-my-pi.images": "images have a source, in what is sent and in what comes back",
    "oh-my-pi.sessions": "sessions are counted, exported, switched and begun",
    "oh-my-pi.cancelled": "a change that a hook called off is answered with cancelled: true",
    "oh-my-pi.hook_error": "errors of extensions are hook_error events",
    "oh-my-pi.no_dialogs": "a dialog that cannot be shown is cancelled",
    "oh-my-pi.models": "models and thinking levels are set, cycled and listed",
    "oh-my-pi.error": "failed commands and lines are answered with an error",
    "oh-my-pi.bash": "bash answers with its output, and emits nothing",
    "oh-my-pi.compaction": "compaction by itself has its two events; by hand, its answer alone",
    "oh-my-pi.retry": "retries are events",
    "oh-my-pi.queue_message": "queue_message starts nothing and comes along with the next turn",
    "oh-my-pi.set_queue_mode": "in the mode all, every queued message comes at once",
    "oh-my-pi.state": "get_state has the documented members",
    "oh-my-pi.branch": "branch and get_branch_messages answer by these names",
  },
  "The dialect co-mono": {
    "co-mono.session": "the session of the document, frame by frame",
    "co-mono.silence": "prompt, abort and compact have no response",
    "co-mono.error": "what fails is an error event",
    "co-mono.tool_error": "the result of a call that failed is a string",
    "co-mono.attachments": "attachments become content, and the message keeps them",
    "co-mono.compaction": "both kinds of compaction are one event",
    "co-mono.others": "commands of other documents are answered",
  },
  "The dialect pi-rust": {
    "pi-rust.events": "events are flat: type and data",
    "pi-rust.retry": "retries are flat events",
    "pi-rust.compaction": "compaction is flat events",
    "pi-rust.commands": "every command of the document is answered",
    "pi-rust.prompt": "a response carries id, command and success",
    "pi-rust.state": "the documented getters and setters are answered",
    "pi-rust.follow-up": 'streamingBehavior takes "follow-up"',
  },
} as const;

/** Every requirement by its id. */
export const requirements: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(sections),
);

const own: ReadonlySet<string> = new Set(Object.keys(sections["Beyond the document"]));
const prefixes = ["pisces", "oh-my-pi", "co-mono", "pi-rust"];

/** The dialect whose document makes a statement; undefined for what Tau adds to all of them. */
export function documentOf(id: string): string | undefined {
  if (own.has(id)) return undefined;
  const [prefix = ""] = id.split(".");
  return prefixes.includes(prefix) ? prefix : "pi";
}
