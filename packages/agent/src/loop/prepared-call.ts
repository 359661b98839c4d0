import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { ToolError } from "../tools/errors.ts";
import type { AgentTool } from "../tools/tool.ts";
import { validateArguments } from "../tools/validate-arguments.ts";
import { ABORT_GRACE_MS, withinGrace } from "./abort-grace.ts";
import { abortedError, errorResult, resultOfError } from "./call-results.ts";
import type { BeforeToolCallResult, Run } from "./run.ts";

export interface PreparedCall {
  readonly call: ToolCall;
  /** Completes the decision if it depends on a user. */
  readonly settle?: () => Promise<PreparedCall>;
  readonly isSuspended?: boolean;
  /** Checks the decision again right before the tool starts; undefined if it stands. */
  readonly confirm?: () => Promise<PreparedCall | undefined>;
  /** The tool will not run: it does not exist, its arguments are wrong, or a hook blocked it. */
  readonly isRefused: boolean;
  readonly isChanged?: boolean;
  readonly tool?: AgentTool;
  /** Returns the result or throws. */
  execute(): Promise<ToolResult>;
}

export async function settleToolCall(prepared: PreparedCall): Promise<PreparedCall> {
  const { call, settle } = prepared;
  if (settle === undefined) return prepared;
  return settle().catch((error) => refused(call, async () => resultOfError(error)));
}

/** A call that does not run, with its substitute result. */
export function refused(call: ToolCall, execute: PreparedCall["execute"]): PreparedCall {
  return { call, isRefused: true, execute };
}

export async function prepareToolCall(
  run: Run,
  call: ToolCall,
  tools: readonly AgentTool[],
): Promise<PreparedCall> {
  const refuseAborted = (): void => {
    if (run.signal.aborted) throw abortedError();
  };
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) throw new ToolError(unknownToolText(call.name, tools));
  const args = await validateArguments(tool, call);
  refuseAborted();
  const checked = { ...call, arguments: args };
  const decision = await inTime(
    run,
    run.options.hooks?.beforeToolCall?.(checked, tool, run.signal),
  );
  const decided = { run, tool, call: checked };
  if (decision?.ask === undefined) return apply(decided, decision);
  const settle = async () => apply(decided, await inTime(run, decision.ask?.()));
  return { ...refused(call, async () => resultOfError(abortedError())), settle };
}

async function apply(
  { run, tool, call }: { readonly run: Run; readonly tool: AgentTool; readonly call: ToolCall },
  decision: BeforeToolCallResult | undefined,
): Promise<PreparedCall> {
  const refuseAborted = (): void => {
    if (run.signal.aborted) throw abortedError();
  };
  if (decision?.isSuspended) {
    const suspended = refused(call, async () => resultOfError(abortedError()));
    return { ...suspended, isSuspended: true };
  }
  if (decision?.block) {
    const { reason = "Tool execution was blocked", terminate = false, details } = decision;
    return refused(call, async () => ({ ...errorResult(reason, details), terminate }));
  }
  const args =
    decision?.arguments === undefined
      ? call.arguments
      : await validateArguments(tool, { ...call, arguments: decision.arguments });
  const wanted = { ...call, arguments: args };
  const execute = async () => {
    refuseAborted();
    const recorded = run.options.beforeToolRuns?.(tool, wanted);
    if (recorded !== undefined) {
      await recorded;
      refuseAborted();
    }
    const runs = () => runTool(run, tool, wanted);
    return run.options.aroundTool?.(wanted, runs, run.signal) ?? runs();
  };
  const isChanged = decision?.arguments !== undefined;
  const prepared = { call: wanted, tool, isRefused: false, isChanged, execute };
  const { confirm } = decision ?? {};
  if (confirm === undefined) return prepared;
  const confirmed = async (): Promise<PreparedCall | undefined> => {
    const wait = confirm(wanted);
    const later = wait && (await inTime(run, wait));
    if (later === undefined) return undefined;
    const asked = later.ask === undefined ? later : await inTime(run, later.ask());
    return apply({ run, tool, call: wanted }, asked);
  };
  return { ...prepared, confirm: confirmed };
}

/** Checks a call again when its tool can start, because much may have changed since the decision. */
export async function confirmToolCall(prepared: PreparedCall): Promise<PreparedCall> {
  let last = prepared;
  try {
    for (;;) {
      const next = await last.confirm?.();
      if (next === undefined) return last;
      last = next;
    }
  } catch (error) {
    return refused(last.call, async () => resultOfError(error));
  }
}

/** Waits for the work, but not past an abort of the run. */
function inTime<Value>({ signal }: Run, work: Value | Promise<Value>): Promise<Value> {
  return withinGrace(Promise.resolve(work), { signal, graceMs: 0, error: abortedError });
}

/** A tool that ignores its signal must not block an aborted run; a real result always wins. */
async function runTool(run: Run, tool: AgentTool, call: ToolCall): Promise<ToolResult> {
  const { signal } = run;
  let settled = false;
  const onUpdate = (partialResult: ToolResult): void => {
    if (settled) return;
    const { id: toolCallId, name: toolName, arguments: args } = call;
    void run.options.emit({
      type: "tool_execution_update",
      toolCallId,
      toolName,
      args,
      partialResult,
    });
  };
  const error = (): ToolError =>
    new ToolError("Aborted; the tool did not stop in time and may still be running.");
  try {
    const context = { toolCallId: call.id, signal, onUpdate };
    const work = tool.execute(call.arguments, context);
    return await withinGrace(work, { signal, graceMs: ABORT_GRACE_MS, error });
  } finally {
    settled = true;
  }
}

function unknownToolText(name: string, tools: readonly AgentTool[]): string {
  const available = tools.map((tool) => tool.name).join(", ");
  return `Tool ${name} not found${available === "" ? "" : `. Available tools: ${available}`}`;
}
