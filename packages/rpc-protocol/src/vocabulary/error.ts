interface ErrorRow {
  readonly message: string;
  readonly retryable?: true;
}

type ErrorTable<Rows extends Readonly<Record<string, ErrorRow>>> = {
  readonly [Code in keyof Rows]: {
    readonly message: Rows[Code]["message"];
    readonly retryable: Rows[Code] extends { readonly retryable: true } ? true : false;
  };
};

/** By default, an error is not transient: the same request fails again. */
function errors<const Rows extends Readonly<Record<string, ErrorRow>>>(rows: Rows) {
  // In place: copies of all rows would be a part of each start.
  for (const row of Object.values<{ retryable?: boolean }>(rows)) row.retryable ??= false;
  return rows as object as ErrorTable<Rows>;
}

/**
 * Every error a client can meet: its code, its text, and whether the same request may succeed later.
 * `{name}` is replaced by a value. Clients match on some of these texts, so this is their only place.
 */
export const errorTable = errors({
  parse: { message: "Failed to parse command: {reason}" },
  unknown_command: { message: "Unknown command: {command}" },
  invalid_params: { message: 'Invalid field "{field}" of {command}: {reason}' },
  internal: { message: "Internal error: {reason}" },
  busy: {
    message:
      "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
    retryable: true,
  },
  no_model: {
    message:
      "No model selected. Set an API key (for example ANTHROPIC_API_KEY), log in (tau auth login), start a server such as Ollama, or define a provider in models.json.",
  },
  model_not_found: { message: "Model not found: {model}" },
  model_ambiguous: {
    message: "Model {model} is ambiguous, it fits: {candidates}. Name one as provider/id.",
  },
  no_key: {
    message:
      "No API key found for {provider}. Set {hint}, add a key to auth.json, or pass one when you start.",
  },
  key_unresolved: { message: "The key of {provider} in {path} does not resolve: {reason}." },
  login_unavailable: {
    message: "Cannot log in to {provider}: {reason}. Run tau auth login {provider}{words}.",
  },
  login_failed: { message: "Could not log in to {provider}: {reason}.", retryable: true },
  provider_not_found: { message: "There is no provider {provider}{hint}." },
  invalid_image: { message: "Invalid image in {field}: {reason}" },
  image_unusable: { message: "{reason}" },
  invalid_attachment: { message: "Invalid attachment in {field}: {reason}" },
  invalid_url: { message: "Only https URLs are fetched, not {url}" },
  fetch_failed: { message: "Could not fetch {url}: {reason}", retryable: true },
  prompt_empty: { message: "The message is empty. Give it some text, an image or an attachment." },
  prompt_aborted: { message: "The prompt was aborted before its run began", retryable: true },
  session_name_empty: { message: "Session name cannot be empty" },
  session_invalid: { message: "Not a session file: {path} ({reason})" },
  transcript_invalid: { message: "Could not import {path}: {reason}" },
  session_damaged: {
    message: "Session {path} is damaged: {reason}. Nothing was changed; start another session.",
  },
  session_unreadable: { message: "Could not read the session {path}: {reason}" },
  session_not_found: { message: "Session file not found: {path}" },
  session_locked: {
    message:
      "Session {path} is in use by process {owner}. Stop that process, or start with another session.",
    retryable: true,
  },
  session_changed: {
    message:
      "Session {path} was changed by another program. Nothing was written; fork it or start a new session.",
  },
  workspace_mismatch: {
    message:
      "Session {path} works in workspace {own}, not in {asked}. Open it with its own workspace, or fork it.",
  },
  policy_denied: { message: "{member} is not allowed here: {reason}" },
  sandbox_unavailable: { message: "The sandbox cannot hold in workspace {workspace}: {reason}" },
  workspace_unreachable: {
    message: "The workspace {workspace} cannot be reached: {reason}",
    retryable: true,
  },
  durability_unavailable: {
    message:
      "Effects cannot be kept here: {reason}. Start with durability log, or choose another workspace.",
  },
  prompt_not_paused: {
    message: "Prompt {promptId} is not paused: another prompt has begun since.",
  },
  session_write_failed: {
    message:
      "Could not write the session to {path}: {reason}. What could not be written was not announced.",
    retryable: true,
  },
  session_lost: {
    message:
      "Another host has taken over session {path}. Open it again once that host has ended, or start another session.",
  },
  queue_item_not_found: {
    message: "Queued item not found: {itemId}. It was delivered, cancelled, or never queued.",
  },
  entry_not_found: { message: "Entry not found: {entryId}" },
  invalid_fork_entry: { message: "Invalid entry ID for forking" },
  rewind_disabled: {
    message:
      "Rewind is off, so no files were recorded. Set rewind.enabled in the settings, or send rewind: true with initialize.",
  },
  rewind_busy: {
    message: "A run is active. Wait for its end or abort it, then rewind.",
    retryable: true,
  },
  rewind_cancelled: {
    message: "An extension cancelled the move to {entryId}. Nothing was changed.",
  },
  rewind_failed: { message: "Could not rewind: {reason}", retryable: true },
  invalid_rewind_entry: {
    message: "Entry {entryId} is not a user message. list_checkpoints lists those to go back to.",
  },
  checkpoint_not_found: {
    message: "Checkpoint not found: {checkpointId}. list_checkpoints lists those there are.",
  },
  checkpoint_dropped: {
    message:
      "The files before message {entryId} are not kept any more (setting rewind.keep). Choose a later message.",
  },
  already_compacted: { message: "Already compacted" },
  nothing_to_compact: { message: "Nothing to compact (session too small)" },
  compaction_cancelled: { message: "Compaction cancelled", retryable: true },
  compaction_running: { message: "A compaction is already running", retryable: true },
  summary_failed: { message: "Could not summarise the conversation: {reason}", retryable: true },
  invalid_settings: { message: "Invalid setting in {path}: {reason}" },
  file_write_failed: { message: "Could not write {path}: {reason}", retryable: true },
  file_locked: { message: "{path} is locked by another process. Try again.", retryable: true },
  invalid_schema: { message: "Invalid JSON Schema in {field}: {reason}" },
  invalid_option: { message: "Invalid option {option}: {reason}" },
  skill_unreadable: { message: "Could not read the skill {name} at {path}: {reason}" },
  package_failed: { message: "{program} failed: {reason}", retryable: true },
  package_not_found: {
    message: "There is no package {source} in the settings. tau list shows those there are.",
  },
  extension_unusable: { message: "{reason}" },
  command_not_queueable: {
    message:
      'Extension command "/{name}" cannot be queued. Send it with prompt, which runs it at once.',
  },
  budget_exceeded: {
    message:
      "The budget is used up: {dimension} reached {used} of {limit} ({setting}). Raise it with set_budget or in the settings.",
  },
  subagent_not_found: {
    message: "There is no subagent {subagentId}. list_subagents lists those there are.",
  },
  subagent_not_running: {
    message: "Subagent {subagentId} does not run. Resume it to go on with its conversation.",
  },
  subagent_running: {
    message: "Subagent {subagentId} still runs. Steer it, or resume it once it has ended.",
    retryable: true,
  },
  job_not_found: { message: "There is no job {jobId}. list_jobs lists those there are." },
  job_not_detachable: {
    message:
      "Jobs may not outlive the agent here. Leave detached out, or set bash.jobs.allowDetached in the settings of a session whose workspace keeps commands.",
  },
  bash_failed: { message: "Could not run the command: {reason}" },
  nothing_to_export: { message: "Nothing to export yet - start a conversation first" },
  export_failed: { message: "Could not write the page to {path}: {reason}", retryable: true },
  tool_not_found: { message: "There is no tool {name}. get_tools lists those there are." },
  mcp_server_not_found: {
    message:
      "There is no MCP server {server}{hint}. get_mcp_servers, or tau mcp list, shows those there are.",
  },
  invalid_mcp_server: { message: "Invalid MCP server {server}: {reason}" },
  mcp_failed: { message: "The MCP server {server} failed: {reason}", retryable: true },
  mcp_login_failed: {
    message: "The login of the MCP server {server} failed: {reason}",
    retryable: true,
  },
  request_not_found: {
    message: "There is no request {id}. get_pending_requests lists the open ones.",
  },
  request_closed: {
    message: "Request {id} is closed: it was answered, timed out or was withdrawn.",
  },
  invalid_response: { message: "Invalid answer to request {id}: {field}: {reason}" },
  missing_session_id: {
    message:
      "The field sessionId is missing: {command} is about one of this host's sessions. open_session and list_sessions return it.",
  },
  unknown_session: {
    message: "There is no session {sessionId}. list_sessions lists those there are.",
  },
  session_closing: { message: "Session {sessionId} is being closed." },
  session_path_in_use: {
    message: "{path} is open as session {sessionId} of this host. Attach to that one.",
  },
  invalid_path: { message: "Invalid path in {field}: {path}: {reason}" },
  multi_session_disabled: { message: "{command} needs a host that was started with --sessions." },
  draining: {
    message: "The host is about to end and accepts no new prompts. Send it to another one.",
    retryable: true,
  },
  disposed: { message: "The session has been closed" },
});

/** The code of an error in {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable;

/** Why a request to a model failed, independent of the vendor, and whether the same request may succeed later. */
export const modelErrorTable = {
  auth: { meaning: "The key or login is refused.", retryable: false },
  quota: { meaning: "The account or plan is used up.", retryable: false },
  rate_limited: { meaning: "There were too many requests.", retryable: true },
  overloaded: { meaning: "The vendor's servers are overloaded or failed.", retryable: true },
  context_overflow: {
    meaning: "The conversation does not fit the model's window.",
    retryable: false,
  },
  invalid_request: { meaning: "The vendor does not accept the request.", retryable: false },
  content_filtered: { meaning: "The vendor's content filter stopped the reply.", retryable: false },
  network: { meaning: "The vendor could not be reached.", retryable: true },
  timeout: { meaning: "The reply did not begin, or stopped coming.", retryable: true },
  aborted: { meaning: "The request was cancelled.", retryable: false },
  unknown: { meaning: "None of these; `error` has the vendor's text.", retryable: false },
} as const satisfies Record<string, { meaning: string; retryable: boolean }>;

/** The code of an error in {@link modelErrorTable}. */
export type ModelErrorCode = keyof typeof modelErrorTable;

/** Fills the text of `code` with `values`; a missing value stays visible as `{name}`. */
export function errorText(code: ErrorCode, values: Readonly<Record<string, string>> = {}): string {
  return errorTable[code].message.replace(
    /\{(\w+)\}/g,
    (placeholder, name: string) => values[name] ?? placeholder,
  );
}

/** An error with a code that clients can check. */
export abstract class CodedError extends Error {
  readonly code: ErrorCode;
  readonly values: Readonly<Record<string, string>>;

  /** `values` fill the placeholders of the code's text. */
  constructor(
    code: ErrorCode,
    values: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(errorText(code, values), options);
    this.code = code;
    this.values = values;
  }
}

/** An error of the protocol itself: a line that cannot be understood or a handler that failed. */
export class ProtocolError extends CodedError {
  override readonly name = "ProtocolError";
}

/** A session or one of its parts cannot carry out a request; `code` says why. */
export class SessionError extends CodedError {
  override readonly name = "SessionError";
}
