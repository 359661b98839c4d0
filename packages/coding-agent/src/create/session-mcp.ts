import { McpAccess, McpPool, type McpServers, type SampledContext } from "@tau-agent/mcp";
import { createCommandRunner } from "@tau-agent/models";
import { type KeyMask, type ToolEnvironment, VERSION } from "@tau-agent/system";
import type { SessionParts } from "../session/build-session.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { SessionExtensions } from "./session-extensions.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** What the MCP servers of a session are made from. */
export interface McpSurroundings {
  readonly places: { readonly agentDirectory: string };
  readonly environment: ToolEnvironment;
  readonly fetch: () => Promise<typeof globalThis.fetch | undefined>;
  readonly tools: ToolSet;
  readonly maskKeys: KeyMask;
  readonly noteSecret: (value: string) => void;
  readonly isProjectTrusted: () => boolean;
  readonly extensions?: SessionExtensions | undefined;
  readonly parts: () => SessionParts;
}

/** Prepares the MCP servers of a session; their code is loaded where one is configured. */
export function createMcp(
  {
    mcp = {},
    mcpServers = {},
    mcpPool: pool = new McpPool(),
    clientReady,
  }: CreateAgentSessionOptions,
  surroundings: McpSurroundings,
): McpAccess {
  const { places, environment, extensions, isProjectTrusted, parts } = surroundings;
  const { agentDirectory } = places;
  const access = new McpAccess({
    places: () => ({
      agentDirectory,
      cwd: environment.cwd,
      isProjectTrusted: isProjectTrusted(),
      keyVariables: () => environment.keyVariables ?? [],
    }),
    given: mcpServers,
    isOff: mcp.isOff ?? false,
    // Not before the session is complete: its parts are needed.
    startAfter: clientReady ?? new Promise((resolve) => setImmediate(resolve)),
    create: () => createServers({ only: mcp.only, pool }, surroundings),
    onFailure: (error) => parts().problems.add(error),
  });
  extensions?.opened?.system.mcpServers.listen((servers) => access.register(servers));
  return access;
}

async function createServers(
  { only, pool }: { readonly only: readonly string[] | undefined; readonly pool: McpPool },
  surroundings: McpSurroundings,
): Promise<McpServers> {
  const [{ McpServers }, { McpLogins }, { answerSampling }, { keepPrivately }] = await Promise.all([
    import("@tau-agent/mcp/mcp-servers"),
    import("@tau-agent/mcp/logins"),
    import("@tau-agent/mcp/sampling"),
    import("@tau-agent/mcp/keep-privately"),
  ]);
  const { environment, fetch, tools, parts, maskKeys, noteSecret } = surroundings;
  const { agentDirectory } = surroundings.places;
  const { inputs, problems, emit, origins, models } = parts();
  const { requests, permissions } = inputs;
  const cwd = () => environment.cwd;
  return new McpServers(
    {
      folders: () => [environment.cwd, ...(environment.additionalDirectories ?? [])],
      requests,
      tools,
      only,
      contextWindow: () => models.model?.contextWindow,
      promptId: () => origins.current,
      emit: (event) => void emit(event),
      note: (diagnostic) => problems.note(diagnostic),
      maskKeys,
      sample: (request) =>
        answerSampling(request, {
          requests,
          cwd,
          timeoutMs: () => permissions.state.timeoutMs,
          reply: (context, signal) => sampleReply(parts(), context, signal),
        }),
    },
    {
      openContext: {
        ...{ environment, fetch, pool, noteSecret },
        identity: { name: "tau", title: "Tau", version: VERSION },
        runCommand: createCommandRunner({ processes: environment.processes }),
      },
      logins: new McpLogins({
        agentDirectory,
        open: async (url, server) => {
          const closed = await requests.ask<object>({
            method: "open_url",
            params: { url, server },
            onTimeout: "cancel",
            unanswered: "cancelled",
            read: () => ({ result: {}, outcome: "answered" }),
          });
          if (closed.outcome === "answered") return;
          const reason = closed.error ?? "no client opened its page";
          throw new Error(`${reason}. Outside of a session: tau mcp login ${server}`);
        },
      }),
      keep: keepPrivately(environment.temporaryDirectory),
    },
  );
}

/** A reply outside of the conversation; its cost counts. */
async function sampleReply(
  { requests, inputs }: SessionParts,
  { systemPrompt, messages, maxTokens }: SampledContext,
  signal: AbortSignal,
) {
  const { model, options } = await requests.prepare();
  const timestamp = Date.now();
  const context = {
    systemPrompt,
    messages: messages.map(({ role, content }) => ({
      role: "user" as const,
      content: role === "user" ? [...content] : [{ type: "text" as const, text: quoted(content) }],
      timestamp,
    })),
  };
  const { outputSchema: _, ...rest } = options ?? {};
  const limit = Math.min(maxTokens, options?.maxTokens ?? maxTokens);
  const reply = inputs.stream(model, context, {
    ...rest,
    signal,
    maxTokens: limit,
    cacheRetention: "none",
  });
  for (;;) {
    const step = await reply.next();
    if (!step.done) continue;
    inputs.budget.addUsage(step.value.message.usage);
    return step.value.message;
  }
}

/** What a server says the model has said: nobody can check it, so it is quoted. */
function quoted(content: SampledContext["messages"][number]["content"]): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
  return `Your earlier reply was:\n${text}`;
}
