import { McpAccess, type McpServers, type SampledContext } from "@tau-agent/mcp";
import { createCommandRunner } from "@tau-agent/models";
import { type ToolEnvironment, VERSION } from "@tau-agent/system";
import { droppedByPolicy } from "../../policy/policy-denied.ts";
import type { SessionParts } from "../../session/session-parts.ts";
import type { SessionDraft } from "./session-draft.ts";

export function createMcp(draft: SessionDraft, environment: ToolEnvironment): McpAccess {
  const { places, options, extensions, disk, policy } = draft.surroundings;
  const { agentDirectory } = places;
  const access = new McpAccess({
    places: () => ({
      agentDirectory,
      cwd: environment.cwd,
      workspace: disk,
      isProjectTrusted: draft.session.isProjectTrusted,
      keyVariables: () => environment.keyVariables ?? [],
    }),
    given: options.mcpServers ?? {},
    isOff: options.mcp?.isOff ?? false,
    refuse: policy && ((names) => policy.requireServers(names)),
    // Only after the session is complete, because its parts are needed.
    startAfter: options.clientReady ?? new Promise((resolve) => setImmediate(resolve)),
    create: () => createServers(draft, environment),
    onFailure: (error) => draft.parts.problems.add(error),
  });
  extensions?.opened?.system.mcpServers.listen((servers) => access.register(servers));
  return access;
}

async function createServers(
  draft: SessionDraft,
  environment: ToolEnvironment,
): Promise<McpServers> {
  const [{ McpServers }, { createMcpLogins }, { answerSampling }, { keepPrivately }] =
    await Promise.all([
      import("@tau-agent/mcp/mcp-servers"),
      import("@tau-agent/mcp/logins"),
      import("@tau-agent/mcp/sampling"),
      import("@tau-agent/mcp/keep-privately"),
    ]);
  const { fetch, places, options, requests, permissions, policy } = draft.surroundings;
  const { inputs, problems, emit, origins, models } = draft.parts;
  const cwd = () => environment.cwd;
  const { disk } = draft.surroundings;
  // Paths of a remote workspace mean nothing to the user's own servers, which run on this machine.
  const here = disk && hostEnvironment(environment, places);
  return new McpServers(
    {
      foldersOf: (source) =>
        here === undefined || source === "project" ? () => foldersOf(environment) : undefined,
      requests,
      tools: inputs.tools,
      only: options.mcp?.only,
      allows: (name) => {
        if (policy?.allowsServer(name) !== false) return true;
        problems.noteOnce(droppedByPolicy("mcpServers", `The server ${name} is left out.`));
        return false;
      },
      contextWindow: () => models.model?.contextWindow,
      promptId: () => origins.current,
      emit: (event) => void emit(event),
      note: (diagnostic) => problems.note(diagnostic),
      maskKeys: draft.maskKeys,
      sample: (request) =>
        answerSampling(request, {
          requests,
          cwd,
          timeoutMs: () => permissions.state.timeoutMs,
          reply: (context, signal) => sampleReply(draft.parts, context, signal),
        }),
    },
    {
      openContext: {
        environment: here ?? environment,
        project: here && environment,
        fetch,
        pool: options.sharing.mcpPool,
        noteSecret: draft.keys.noteSecret,
        identity: { name: "tau", title: "Tau", version: VERSION },
        runCommand: createCommandRunner({ processes: environment.processes }),
      },
      logins: createMcpLogins({
        agentDirectory: places.agentDirectory,
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
      keep: keepPrivately(environment),
    },
  );
}

const foldersOf = ({ cwd, additionalDirectories = [] }: ToolEnvironment) => [
  cwd,
  ...additionalDirectories,
];

/** The environment of local programs, in the user's home. */
function hostEnvironment(
  environment: ToolEnvironment,
  { homeDirectory }: { readonly homeDirectory: string },
): ToolEnvironment {
  return {
    ...environment,
    cwd: homeDirectory,
    homeDirectory,
    get keyVariables() {
      return environment.keyVariables;
    },
  };
}

/** Requests a reply outside of the conversation; its cost counts towards the budget. */
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

/** Quotes a message that a server attributes to the model, because nobody can verify it. */
function quoted(content: SampledContext["messages"][number]["content"]): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
  return `Your earlier reply was:\n${text}`;
}
