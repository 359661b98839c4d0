import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { ToolError } from "../tools/errors.ts";
import type { AgentTool } from "../tools/tool.ts";
import { ABORT_GRACE_MS, withinGrace } from "./abort-grace.ts";
import { fileWritten, groupCalls, startInOrder } from "./call-groups.ts";
import { ABORTED_TEXT, errorResult, resultOfError } from "./call-results.ts";
import {
  confirmToolCall,
  type PreparedCall,
  prepareToolCall,
  refused,
  settleToolCall,
} from "./prepared-call.ts";
import { addMessage, emit, type Run } from "./run.ts";

/** The text of a call that was skipped because of a steering message; clients match on it. */
export const SKIPPED_TEXT = "Skipped due to queued user message.";
const ERROR_TEXT = "Not run: the reply failed before this tool call could start.";
const LENGTH_TEXT =
  "Not run: the reply hit the output limit, so this call may be incomplete. Split the work into smaller steps.";
const STOPPED_TEXT = "Not run: the reply was stopped before this tool call could start.";

/** The results of a reply's calls, and whether all of them requested to end the run. */
export interface ToolBatch {
  readonly results: ToolResultMessage[];
  readonly terminate: boolean;
  /** Whether some calls have no result: they are decided when the session is opened again. */
  readonly isSuspended?: boolean;
}

/** Why the calls of a message are answered without running them. */
export type SkipReason = "steering" | "aborted" | "error" | "length" | "stopped";

const skipTexts: Record<SkipReason, string> = {
  steering: SKIPPED_TEXT,
  aborted: ABORTED_TEXT,
  error: ERROR_TEXT,
  length: LENGTH_TEXT,
  stopped: STOPPED_TEXT,
};

/**
 * Runs the calls of one reply in source order, in groups: adjacent read-only calls form a group that runs in
 * parallel, and every other call is a group of its own. In the mode `parallel`, all calls form one group.
 * Results are recorded in the order of the calls.
 */
export async function executeToolCalls(
  run: Run,
  calls: readonly ToolCall[],
  tools: readonly AgentTool[],
): Promise<ToolBatch> {
  const results: ToolResultMessage[] = [];
  let allTerminate = calls.length > 0;
  const callOf = (call: ToolCall) => call;
  const groups = await groupCalls(calls, tools, { mode: run.toolExecution(), callOf });
  for (const [index, group] of groups.entries()) {
    if (run.options.hooks?.isSuspended?.() || (index > 0 && run.options.holdsCalls?.())) {
      return { results, terminate: false, isSuspended: true };
    }
    const reason = index === 0 ? abortReason(run) : (abortReason(run) ?? steeringReason(run));
    if (reason !== undefined) {
      const rest = groups.slice(index).flat();
      results.push(...(await skipToolCalls(run, rest, reason)));
      return { results, terminate: false };
    }
    const { outcomes, isSuspended } = await executeGroup(run, group, tools);
    for (const { message, terminate } of outcomes) {
      results.push(message);
      allTerminate &&= terminate;
    }
    if (isSuspended) return { results, terminate: false, isSuspended };
  }
  return { results, terminate: allTerminate };
}

/** Answers calls with an error result saying that they never ran, so that every call has a result. */
export async function skipToolCalls(
  run: Run,
  calls: readonly ToolCall[],
  reason: SkipReason,
): Promise<ToolResultMessage[]> {
  const results: ToolResultMessage[] = [];
  for (const call of calls) {
    const result = errorResult(skipTexts[reason], { skipped: reason });
    await emitStart(run, call);
    await emitEnd(run, call, result);
    const message = toMessage(call, result);
    await addMessage(run, message);
    results.push(message);
  }
  return results;
}

function abortReason(run: Run): SkipReason | undefined {
  return run.signal.aborted ? "aborted" : undefined;
}

function steeringReason(run: Run): SkipReason | undefined {
  return run.interruptMode() === "immediate" && run.steering.size > 0 ? "steering" : undefined;
}

interface ToolOutcome {
  readonly message: ToolResultMessage;
  readonly terminate: boolean;
}

/**
 * Hooks may ask the user, so they run one after another. Questions that they leave to the host are asked
 * together, and then the tools run in parallel.
 *
 * @returns the results, and whether calls remain to be decided when the session is opened again
 */
async function executeGroup(
  run: Run,
  group: readonly ToolCall[],
  tools: readonly AgentTool[],
): Promise<{ readonly outcomes: readonly ToolOutcome[]; readonly isSuspended: boolean }> {
  const prepared: PreparedCall[] = [];
  for (const call of group) prepared.push(await startToolCall(run, call, tools));
  const settled = await Promise.all(prepared.map((call) => settleToolCall(call)));
  const outcomes: ToolOutcome[] = [];
  let isSuspended = settled.some((call) => call.isSuspended);
  if (isSuspended) return { outcomes, isSuspended };
  for (const calls of await regroup(run, settled, tools)) {
    const files = calls.length > 1 ? await Promise.all(calls.map(fileOf)) : [];
    const started = startInOrder(calls, files, (call) => finishToolCall(run, call));
    // `allSettled` handles a rejection at once, even while another call is awaited.
    const allSettled = Promise.allSettled(started);
    try {
      // A result is recorded as soon as all earlier results are, because a call may take long.
      for (const each of started) {
        const outcome = await each;
        isSuspended ||= outcome === undefined;
        if (outcome === undefined) continue;
        outcomes.push(outcome);
        await addMessage(run, outcome.message);
      }
    } finally {
      await allSettled;
    }
  }
  return { outcomes, isSuspended };
}

async function fileOf({ tool, call }: PreparedCall): Promise<string | undefined> {
  return tool && fileWritten(tool, call.arguments);
}

/** Regroups calls: a read-only call may write after a hook has changed its arguments. */
async function regroup(
  run: Run,
  calls: readonly PreparedCall[],
  tools: readonly AgentTool[],
): Promise<PreparedCall[][]> {
  if (!calls.some(({ isChanged }) => isChanged)) return [[...calls]];
  const callOf = ({ call }: PreparedCall) => call;
  return groupCalls(calls, tools, { mode: run.toolExecution(), callOf });
}

async function startToolCall(
  run: Run,
  call: ToolCall,
  tools: readonly AgentTool[],
): Promise<PreparedCall> {
  await emitStart(run, call);
  try {
    return await prepareToolCall(run, call, tools);
  } catch (error) {
    return refused(call, async () => resultOfError(error));
  }
}

/** Runs a call; undefined if it is to be decided when the session is opened again. */
async function finishToolCall(run: Run, given: PreparedCall): Promise<ToolOutcome | undefined> {
  const prepared = await confirmToolCall(given);
  const { call, isRefused } = prepared;
  if (prepared.isSuspended) return undefined;
  let result = await prepared.execute().catch(resultOfError);
  // Hooks get the results of tools that ran, not of calls that never reached one.
  if (!isRefused) result = await applyAfterHook(run, prepared, result);
  result = withText(await finishResult(run, result));
  await emitEnd(run, call, result);
  return { message: toMessage(call, result), terminate: result.terminate ?? false };
}

/** Never show a result that the hook has not approved: the hook may be there to remove a secret. */
async function applyAfterHook(
  run: Run,
  { call, tool }: Pick<PreparedCall, "call" | "tool">,
  result: ToolResult,
): Promise<ToolResult> {
  const error = (): ToolError =>
    new ToolError("Aborted; an extension did not process the result in time.");
  try {
    const changes = await withinGrace(
      Promise.resolve(run.options.hooks?.afterToolCall?.(call, result, tool)),
      { signal: run.signal, graceMs: ABORT_GRACE_MS, error },
    );
    return changes === undefined ? result : { ...result, ...changes };
  } catch (error) {
    return resultOfError(error);
  }
}

async function finishResult(run: Run, result: ToolResult): Promise<ToolResult> {
  const error = (): ToolError =>
    new ToolError("Aborted; the result could not be prepared for the model in time.");
  try {
    const work = Promise.resolve(run.options.finishResult?.(result));
    const { signal } = run;
    return (await withinGrace(work, { signal, graceMs: ABORT_GRACE_MS, error })) ?? result;
  } catch (error) {
    return resultOfError(error);
  }
}

/** Several vendors reject a result without text. */
function withText(result: ToolResult): ToolResult {
  const isBlank = result.content.every(
    (block) => block.type === "text" && block.text.trim() === "",
  );
  return isBlank ? { ...result, content: [{ type: "text", text: "(no output)" }] } : result;
}

async function emitStart(run: Run, call: ToolCall): Promise<void> {
  await emit(run, {
    type: "tool_execution_start",
    toolCallId: call.id,
    toolName: call.name,
    args: call.arguments,
  });
}

async function emitEnd(run: Run, call: ToolCall, result: ToolResult): Promise<void> {
  const { content, details = {} } = result;
  await emit(run, {
    type: "tool_execution_end",
    toolCallId: call.id,
    toolName: call.name,
    result: { content, details },
    isError: result.isError ?? false,
  });
}

function toMessage(call: ToolCall, result: ToolResult): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    ...(result.details === undefined ? {} : { details: result.details }),
    ...(result.structuredContent === undefined
      ? {}
      : { structuredContent: result.structuredContent }),
    isError: result.isError ?? false,
    ...(result.usage === undefined ? {} : { usage: result.usage }),
    timestamp: Date.now(),
  };
}
