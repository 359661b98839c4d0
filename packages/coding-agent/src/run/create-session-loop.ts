import { Agent, type AgentOptions } from "@tau-agent/agent";
import { createCallResolver } from "../tools/real-call.ts";
import { fitResult } from "../user-input/fit-content.ts";
import { createLlmConverter } from "../user-input/llm-messages.ts";
import { applyQueueSettings } from "./queue-report.ts";
import { loopHooks } from "./session-hooks.ts";
import type { AgentSessionParts } from "./session-parts.ts";

/** What only the session itself can do for its loop. */
type Owner = Pick<AgentOptions, "prepareRequest" | "record" | "emit" | "beforeModelCall">;

/** The loop of a session: how it asks the model, fits results and lets extensions in. */
export function createSessionLoop(
  { stream, settings, hooks, watchReply, tools }: AgentSessionParts,
  owner: Owner,
): Agent {
  const agent = new Agent({
    ...owner,
    stream,
    watchReply,
    resolveToolCall: createCallResolver(() => tools.all),
    finishResult: (result) => fitResult(result, settings),
    toLlmMessages: createLlmConverter(),
    ...(hooks === undefined ? {} : loopHooks(hooks, () => agent.messages)),
  });
  applyQueueSettings(agent, settings);
  return agent;
}
