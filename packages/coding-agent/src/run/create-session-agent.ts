import { Agent, type AgentOptions, type ToolExecutionMode, type ToolHooks } from "@tau-agent/agent";
import type { AgentMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { KeyMask, SettingsStore } from "@tau-agent/system";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import { createCallResolver } from "../tools/real-call.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import { fitResult } from "../user-input/fit-content.ts";
import { createLlmConverter, type FindText } from "../user-input/llm-messages.ts";
import { applyQueueSettings } from "./agent-queues.ts";
import { CacheWarming, type CacheWarmingOptions } from "./cache-warming.ts";
import { loopHooks, type SessionHooks } from "./session-hooks.ts";
import type { StepLimits } from "./step-limits.ts";
import type { Survival } from "./survival.ts";

export interface SessionAgentOptions extends Pick<AgentOptions, "stream" | "watchReply"> {
  readonly settings: SettingsStore;
  readonly tools: ToolSet;
  readonly budget: Pick<SessionBudget, "snapshot">;
  readonly hooks?: SessionHooks | undefined;
  /** The gate for every tool call. */
  readonly gate: ToolHooks;
  readonly toolExecution?: ToolExecutionMode | undefined;
  readonly maskKeys?: KeyMask | undefined;
  readonly telemetry?: SessionTelemetry | undefined;
  readonly survival?: Survival | undefined;
  readonly limits: StepLimits;
}

/** The parts of the session that its loop needs. */
type Owner = Pick<
  AgentOptions,
  | "prepareRequest"
  | "record"
  | "emit"
  | "beforeModelCall"
  | "beforeToolRuns"
  | "beforeToolCalls"
  | "conclude"
> & {
  readonly currentModel: () => Model | undefined;
  readonly accountForWarming: CacheWarmingOptions["account"];
  /** Called for each request. */
  readonly findTexts: () => FindText;
  /** Called when an extension has replaced a message. */
  readonly replaced: (from: AgentMessage, to: AgentMessage) => void;
};

/** A span covers the call itself, without waiting for its turn. */
function aroundTool(
  telemetry: SessionTelemetry | undefined,
  survival: Survival | undefined,
): AgentOptions["aroundTool"] {
  const traced: AgentOptions["aroundTool"] = telemetry && ((...call) => telemetry.runTool(...call));
  if (survival === undefined) return traced;
  return (call, execute, signal) => {
    const run = () => traced?.(call, execute, signal) ?? execute();
    return survival.run(call, run, signal);
  };
}

/** Creates a session's loop: how it requests replies, fits results and calls extensions. */
export function createSessionAgent(
  {
    stream,
    settings,
    hooks,
    gate,
    watchReply,
    tools,
    budget,
    toolExecution,
    maskKeys,
    telemetry,
    survival,
    limits,
  }: SessionAgentOptions,
  { findTexts, replaced, accountForWarming, ...owner }: Owner,
): { readonly agent: Agent; readonly warming: CacheWarming } {
  const mask: KeyMask = (value) =>
    maskKeys !== undefined && settings.get("tools.maskKeys") ? maskKeys(value) : value;
  const warming = new CacheWarming({
    stream,
    isOn: () => settings.get("cacheWarming") === "tools",
    maySpend: () => budget.snapshot.status !== "exceeded",
    currentModel: owner.currentModel,
    account: accountForWarming,
  });
  const agent = new Agent({
    ...owner,
    emit: (event) => {
      warming.note(event);
      return owner.emit(event.type === "tool_execution_update" ? mask(event) : event);
    },
    stream: warming.stream,
    hooks: survival?.hooks(gate) ?? gate,
    pauses: () => limits.pause(),
    holdsCalls: () => limits.isOverTime,
    aroundTool: aroundTool(telemetry, survival),
    currentTools: () => tools.callable,
    watchReply,
    resolveToolCall: createCallResolver(() => tools.all),
    finishResult: async (result) => mask(await fitResult(result, settings)),
    toLlmMessages: createLlmConverter(findTexts),
    ...(hooks === undefined
      ? {}
      : loopHooks(hooks, {
          replaced,
          messages: () => agent.messages,
          // A separate converter: messages copied for extensions must not evict those of the originals from its cache.
          toLlmMessages: createLlmConverter(findTexts),
        })),
  });
  applyQueueSettings(agent, settings);
  agent.toolExecution = toolExecution ?? settings.get("toolExecution");
  return { agent, warming };
}
