import { inside, mismatch, type Pattern, type Where } from "./pattern.ts";

const number = "$number";
const string = "$string";
const boolean = "$boolean";

const oneOf =
  (...patterns: readonly Pattern[]): Pattern =>
  (value: unknown, at: Where) => {
    const problems = patterns.map((pattern) => mismatch(pattern, value, at));
    if (problems.includes(undefined)) return undefined;
    // An alternative with another role or type was not meant.
    const meant = problems.filter((problem) => !/\.(?:role|type) is not /.test(problem ?? ""));
    return (meant.length === 0 ? problems : meant).join("; or ");
  };

const each =
  (pattern: Pattern): Pattern =>
  (value: unknown, at: Where) => {
    if (!Array.isArray(value)) return `${at.path} is no array`;
    return value
      .map((item, index) => mismatch(pattern, item, inside(at, `[${index}]`)))
      .find((problem) => problem !== undefined);
  };

const withMore = (members: Record<string, Pattern>): Pattern => ({ "...": true, ...members });

const rates = { input: number, output: number, cacheRead: number, cacheWrite: number };

const text = withMore({ type: "text", text: string });
const image = { type: "image", data: string, mimeType: string };
const userBlocks = each(oneOf(text, image));

const toolCall = withMore({ type: "toolCall", id: string, name: string, arguments: "$object" });

const level = oneOf("off", "minimal", "low", "medium", "high", "xhigh");

const model = withMore({
  id: string,
  name: string,
  api: string,
  provider: string,
  baseUrl: string,
  reasoning: boolean,
  input: each(oneOf("text", "image")),
  contextWindow: number,
  maxTokens: number,
  cost: withMore(rates),
});

const user = withMore({
  role: "user",
  content: oneOf(string, userBlocks),
  timestamp: number,
  "attachments?": "$array",
});

const assistant = withMore({
  role: "assistant",
  content: each(oneOf(text, withMore({ type: "thinking", thinking: string }), toolCall)),
  api: string,
  provider: string,
  model: string,
  usage: withMore({ ...rates, cost: { ...rates, total: number } }),
  stopReason: oneOf("stop", "length", "toolUse", "error", "aborted"),
  timestamp: number,
});

const toolResult = withMore({
  role: "toolResult",
  toolCallId: string,
  toolName: string,
  content: userBlocks,
  isError: boolean,
  timestamp: number,
});

const bashResult = {
  output: string,
  "exitCode?": number,
  cancelled: boolean,
  truncated: boolean,
  "fullOutputPath?": string,
};

const bashExecution = withMore({
  role: "bashExecution",
  command: string,
  output: string,
  "exitCode?": number,
  cancelled: boolean,
  truncated: boolean,
  fullOutputPath: oneOf(string, null),
  timestamp: number,
});

/** Kinds of messages that the document leaves to the source code of the original. */
const others = oneOf(
  withMore({ role: "custom", customType: string, timestamp: number }),
  withMore({ role: "branchSummary", summary: string, timestamp: number }),
  withMore({ role: "compactionSummary", summary: string, timestamp: number }),
);

const message = oneOf(user, assistant, toolResult, bashExecution, others);

const compactionResult = withMore({
  summary: string,
  firstKeptEntryId: string,
  tokensBefore: number,
  details: "$object",
});

const cancelled = { cancelled: boolean };

/** The `data` of each command's response; undefined if it has none. */
const answers: Readonly<Record<string, Pattern>> = {
  prompt: undefined,
  steer: undefined,
  follow_up: undefined,
  abort: undefined,
  new_session: cancelled,
  get_state: withMore({
    model: oneOf(model, null),
    thinkingLevel: level,
    isStreaming: boolean,
    isCompacting: boolean,
    steeringMode: oneOf("all", "one-at-a-time"),
    followUpMode: oneOf("all", "one-at-a-time"),
    "sessionFile?": string,
    sessionId: string,
    "sessionName?": string,
    autoCompactionEnabled: boolean,
    messageCount: number,
    pendingMessageCount: number,
  }),
  get_messages: { messages: each(message) },
  set_model: model,
  cycle_model: oneOf({ model, thinkingLevel: level, isScoped: boolean }, null),
  get_available_models: { models: each(model) },
  set_thinking_level: undefined,
  cycle_thinking_level: oneOf({ level }, null),
  set_steering_mode: undefined,
  set_follow_up_mode: undefined,
  compact: compactionResult,
  set_auto_compaction: undefined,
  set_auto_retry: undefined,
  abort_retry: undefined,
  bash: bashResult,
  abort_bash: undefined,
  get_session_stats: withMore({
    "sessionFile?": string,
    sessionId: string,
    userMessages: number,
    assistantMessages: number,
    toolCalls: number,
    toolResults: number,
    totalMessages: number,
    tokens: { ...rates, total: number },
    cost: number,
  }),
  export_html: { path: string },
  switch_session: cancelled,
  fork: { text: string, cancelled: boolean },
  get_fork_messages: { messages: each({ entryId: string, text: string }) },
  get_last_assistant_text: { text: oneOf(string, null) },
  set_session_name: undefined,
  get_commands: {
    commands: each({
      // Clients of newer releases read this member; an object inside `data` may have additional members.
      "sourceInfo?": withMore({ path: string, scope: oneOf("user", "project", "temporary") }),
      name: string,
      "description?": string,
      source: oneOf("extension", "prompt", "skill"),
      "location?": oneOf("user", "project", "path"),
      "path?": string,
    }),
  },
};

const at = { contentIndex: number, partial: assistant };

const step = oneOf(
  { type: "start", partial: assistant },
  { type: "text_start", ...at },
  { type: "text_delta", delta: string, ...at },
  { type: "text_end", content: string, ...at },
  { type: "thinking_start", ...at },
  { type: "thinking_delta", delta: string, ...at },
  { type: "thinking_end", content: string, ...at },
  withMore({ type: "toolcall_start", ...at }),
  { type: "toolcall_delta", delta: string, ...at },
  { type: "toolcall_end", toolCall, ...at },
  withMore({ type: "done", reason: oneOf("stop", "length", "toolUse") }),
  withMore({ type: "error", reason: oneOf("aborted", "error") }),
);

const toolOutput = withMore({ content: userBlocks, "details?": "$any" });
const call = { toolCallId: string, toolName: string };

/** The exact members of each documented event. */
const events: Readonly<Record<string, Record<string, Pattern>>> = {
  agent_start: {},
  agent_end: { messages: each(message) },
  turn_start: {},
  turn_end: { message: assistant, toolResults: each(toolResult) },
  message_start: { message },
  message_update: { message: assistant, assistantMessageEvent: step },
  message_end: { message },
  tool_execution_start: { ...call, args: "$object" },
  tool_execution_update: { ...call, args: "$object", partialResult: toolOutput },
  tool_execution_end: { ...call, result: toolOutput, isError: boolean },
  auto_compaction_start: { reason: oneOf("threshold", "overflow") },
  auto_compaction_end: {
    result: oneOf(compactionResult, null),
    aborted: boolean,
    willRetry: boolean,
    "errorMessage?": string,
  },
  auto_retry_start: {
    attempt: number,
    maxAttempts: number,
    delayMs: number,
    errorMessage: string,
  },
  auto_retry_end: { success: boolean, attempt: number, "finalError?": string },
  extension_error: { extensionPath: string, event: string, error: string },
};

const timeout = { "timeout?": number };

const requests: Readonly<Record<string, Record<string, Pattern>>> = {
  select: { title: string, options: each(string), ...timeout },
  confirm: { title: string, message: string, ...timeout },
  input: { title: string, "placeholder?": string, ...timeout },
  editor: { title: string, "prefill?": string },
  notify: { message: string, "notifyType?": oneOf("info", "warning", "error") },
  setStatus: { statusKey: string, "statusText?": string },
  setWidget: {
    widgetKey: string,
    "widgetLines?": each(string),
    "widgetPlacement?": oneOf("aboveEditor", "belowEditor"),
  },
  setTitle: { title: string },
  set_editor_text: { text: string },
};

/** Members of the response to an accepted prompt after `initialize`. */
const disposition = {
  disposition: oneOf("started", "queued", "handled", "duplicate"),
  "promptId?": string,
  "itemId?": string,
};

/** Members of every frame except responses after `initialize`. */
export const order = { "promptId?": string, "seq?": number };

/** Optional members of frames after `initialize`. */
const added: Readonly<Record<string, Record<string, Pattern>>> = {
  agent_end: { "willRetry?": boolean },
  message_update: { "usage?": "$object", "message?": assistant, assistantMessageEvent: "$object" },
};

const queueing: ReadonlySet<string> = new Set(["prompt", "steer", "follow_up"]);

export interface Closeness {
  /** Whether `initialize` was answered, which adds members. */
  readonly isInitialized: boolean;
  /** Whether members beyond the document are allowed. Default false. */
  readonly isTolerant?: boolean | undefined;
}

/**
 * How a frame differs from its documented shape: an extra top-level key, a missing member or a
 * wrong type. Kinds of frames that the document does not name pass.
 */
export function documentedProblem(
  frame: Record<string, unknown>,
  { isInitialized, isTolerant = false }: Closeness,
): string | undefined {
  const type = String(frame.type);
  const at = { path: "frame", isTolerant };
  if (type === "response") return mismatch(answerOf(frame, isInitialized), frame, at);
  if (type === "extension_ui_request") {
    const members = requests[String(frame.method)];
    if (members === undefined) return isTolerant ? undefined : `there is no method ${frame.method}`;
    const shape = { type, id: string, method: string, ...members };
    return mismatch(isInitialized ? { ...shape, ...order } : shape, frame, at);
  }
  const members = events[type];
  if (members === undefined) return undefined;
  const shape = {
    type,
    id: "$absent",
    ...members,
    ...(isInitialized ? { ...added[type], ...order } : {}),
  };
  return mismatch(shape, frame, at);
}

function answerOf({ command, success }: Record<string, unknown>, isInitialized: boolean): Pattern {
  const head = { "id?": oneOf(string, number), type: "response", command: string };
  if (success !== true) {
    return { ...head, success: false, error: string, ...(isInitialized ? { code: string } : {}) };
  }
  const name = String(command);
  const answer = { ...head, success: true };
  if (isInitialized && queueing.has(name)) {
    return { ...answer, data: disposition };
  }
  if (!Object.hasOwn(answers, name)) return { ...answer, "data?": "$any" };
  return answers[name] === undefined ? answer : { ...answer, data: answers[name] };
}
