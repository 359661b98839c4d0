import type { OpenUrlNotice } from "../vocabulary/extension-ui.ts";
import type { HostFrame, ResponseFrame } from "../vocabulary/host-frame.ts";
import type { OpenHostRequest } from "../vocabulary/host-request.ts";
import type { SessionEvent } from "../vocabulary/session-event.ts";
import { type DialectFrame, type DialectRules, documented, type FrameContext } from "./dialect.ts";
import { asDialog, dialogMethods, resultOfDialog } from "./request-dialogs.ts";

/** A `ready` frame that offers only version 1: no frame is split into chunks. */
const ready = { type: "ready", protocolVersion: 1, supportedProtocolVersions: [1] };

/** The exit code of a stopped subagent. */
const ABORTED = 130;

/** The progress of each subagent in an update of a `task` call. */
interface TaskActivity {
  readonly id: string;
  readonly agent: string;
  readonly description?: string | undefined;
  readonly activity: string;
  readonly used: {
    readonly toolCalls: number;
    readonly totalTokens: number;
    readonly costUsd: number;
  };
}

/**
 * Adds what the published client of oh-my-pi 18 requires: it waits for `ready` at the start, for
 * `prompt_result` with `agentInvoked` after a prompt, and for `session_settled`.
 */
export const ohMyPi18: DialectRules = {
  greeting: ready,
  encode,
  requestDialogs: {
    methods: [...dialogMethods, "open_url"],
    notices: ["open_url"],
    asDialog: (request, now) =>
      request.method === "open_url" ? openUrl(request) : asDialog(request, now),
    resultOfDialog,
    reportsEnd: false,
  },
};

/** Only login pages: nobody waits for those of MCP servers. */
function openUrl({
  id,
  params: { url, userCode, server },
}: Extract<OpenHostRequest, { method: "open_url" }>): OpenUrlNotice | undefined {
  if (server !== undefined) return undefined;
  const instructions = userCode === undefined ? {} : { instructions: `Enter code: ${userCode}` };
  return { type: "extension_ui_request", id, method: "open_url", url, ...instructions };
}

function encode(frame: HostFrame, context: FrameContext): readonly DialectFrame[] {
  switch (frame.type) {
    case "agent_settled":
      return [frame, { type: "session_settled" }];
    case "prompt_result":
      return [promptResult(frame, context)];
    case "subagent_start":
    case "subagent_end":
      return [documented(frame, context), lifecycle(frame)];
    case "subagent_event": {
      const { type, id, event, ...order } = frame;
      return [{ type, payload: { id, event }, ...order } as DialectFrame];
    }
    case "tool_execution_update":
      return [documented(frame, context), ...progress(frame)];
    case "response":
      return [response(frame, context)];
    default:
      return [documented(frame, context)];
  }
}

const bundled = { agentSource: "bundled" };

/** The start or end of a subagent. */
function lifecycle(
  frame: Extract<SessionEvent, { type: "subagent_start" | "subagent_end" }>,
): DialectFrame {
  const { id, agent } = frame;
  const payload = { id, index: 0, agent, ...bundled, status: statusOf(frame) };
  return { type: "subagent_lifecycle", payload } as DialectFrame;
}

function statusOf(frame: Extract<SessionEvent, { type: "subagent_start" | "subagent_end" }>) {
  if (frame.type === "subagent_start") return "started";
  if (frame.exitCode === 0) return "completed";
  return frame.exitCode === ABORTED ? "aborted" : "failed";
}

/** The progress of a call's subagents, from the update of the call. */
function progress({
  toolName,
  toolCallId,
  partialResult,
}: Extract<SessionEvent, { type: "tool_execution_update" }>): DialectFrame[] {
  const { tasks } = Object(partialResult.details) as { readonly tasks?: unknown };
  if (toolName !== "task" || !Array.isArray(tasks)) return [];
  return tasks.map((task: TaskActivity, index): DialectFrame => {
    const { id, agent, description = "", activity, used } = task;
    const common = { index, agent, ...bundled, task: description };
    const counts = { toolCount: used.toolCalls, tokens: used.totalTokens, cost: used.costUsd };
    const state = { status: "running", currentTool: activity, recentTools: [], recentOutput: [] };
    const told = { id, ...common, ...state, ...counts, durationMs: 0 };
    const payload = { ...common, parentToolCallId: toolCallId, progress: told };
    return { type: "subagent_progress", payload } as DialectFrame;
  });
}

/** A prompt handled by an extension's command counts as completed without the agent. */
function promptResult(
  {
    status,
    error,
    code: _,
    pausedBy: __,
    ...head
  }: Extract<SessionEvent, { type: "prompt_result" }>,
  { isSettled = true }: FrameContext,
): DialectFrame {
  const isHandled = status === "handled";
  const result = {
    ...head,
    agentInvoked: !isHandled,
    status: isHandled ? "completed" : status === "paused" ? "aborted" : status,
    // The host's own retries are exhausted when a prompt ends with an error.
    ...(error === undefined ? {} : { error: { message: error, retryable: false } }),
    sessionSettled: isSettled,
  };
  return result;
}

function response(frame: ResponseFrame, context: FrameContext): DialectFrame {
  const { command, success, data } = frame;
  if (!success || data === undefined) return documented(frame, context);
  switch (command) {
    case "get_state":
      return { ...frame, data: { ...data, isSettled: context.isSettled ?? true } } as DialectFrame;
    case "set_event_filter":
      return frame;
    default:
      return documented(frame, context);
  }
}
