import { randomUuid } from "@tau-agent/system";
import type { ProviderStream } from "../../extensions/api/native-provider.ts";
import { unsupported, unsupportedClass } from "../base/unsupported.ts";

/** Members that newer agent libraries of pi share with its coding agent. */
const sharedNames = [
  "calculateContextTokens",
  "compact",
  "convertToLlm",
  "createBashTool",
  "createEditTool",
  "createReadTool",
  "createWriteTool",
  "DEFAULT_COMPACTION_SETTINGS",
  "DEFAULT_MAX_BYTES",
  "DEFAULT_MAX_LINES",
  "estimateTokens",
  "findCutPoint",
  "formatSize",
  "generateSummary",
  "getLastAssistantUsage",
  "loadSkills",
  "serializeConversation",
  "shouldCompact",
  "truncateHead",
  "truncateLine",
  "truncateTail",
];

type Result =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Result objects that newer agent libraries use. */
const results = {
  ok: (value: unknown): Result => ({ ok: true, value }),
  err: (error: unknown): Result => ({ ok: false, error }),
  getOrUndefined: (result: Result) => (result.ok ? result.value : undefined),
  getOrThrow: (result: Result) => {
    if (result.ok) return result.value;
    throw result.error;
  },
  toError: (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
};

/** Replaces pi's agent library: its agent on top of our loop. */
export async function loadPiAgent(
  codingAgent: () => Promise<object>,
  ai: () => Promise<object>,
): Promise<object> {
  const shared = (await codingAgent()) as Record<string, unknown>;
  const { streamSimple } = (await ai()) as { streamSimple: ProviderStream };
  let stream = streamSimple;
  const { piAgentClass } = await import("./agent-class.ts");
  return {
    ...Object.fromEntries(sharedNames.map((name) => [name, shared[name]])),
    ...(await import("@tau-agent/agent")),
    AgentHarness: unsupportedClass("AgentHarness"),
    runAgentLoop: unsupported("runAgentLoop"),
    runAgentLoopContinue: unsupported("runAgentLoopContinue"),
    uuidv7: randomUuid,
    ...results,
    setDefaultStreamFn: (chosen?: ProviderStream) => {
      stream = chosen ?? streamSimple;
    },
    Agent: piAgentClass(() => stream),
    agentLoop: unsupported("agentLoop"),
    agentLoopContinue: unsupported("agentLoopContinue"),
    streamProxy: unsupported("streamProxy"),
  };
}

/** The utilities of another pi-compatible host that extensions import. */
export function piUtilities(): object {
  const silent = (): void => {};
  return { logger: { debug: silent, info: silent, warn: silent, error: silent } };
}
