import type { AgentTool } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { AgentMessage, Model } from "@tau-agent/rpc-protocol/messages";
import type { AgentSession } from "../agent-session.ts";
import { type CreateAgentSessionOptions, createAgentSession } from "../create-agent-session.ts";
import { agentToolOf } from "../extensions/agent-tool.ts";
import type { ExtensionContext } from "../extensions/api/context.ts";
import type { ExtensionTool } from "../extensions/api/tool.ts";
import { Extension } from "../extensions/registration.ts";
import type { HostPlaces } from "./host-places.ts";

/** What sessions inside this process are opened with, in the family's words. */
interface FamilySessionOptions {
  readonly cwd?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly model?: Model | undefined;
  readonly thinkingLevel?: CreateAgentSessionOptions["thinkingLevel"];
  /** Names, or with older hosts tools; built-in ones by their names. */
  readonly tools?: readonly (string | ExtensionTool)[] | undefined;
  readonly customTools?: readonly ExtensionTool[] | undefined;
  readonly resourceLoader?: Partial<FamilyResourceLoader> | undefined;
  /** The context's own; the session then uses the host's keys and providers. */
  readonly modelRegistry?: { readonly openStream?: StreamFunction | undefined } | undefined;
}

const empty = { diagnostics: [] } as const;

/** Says which texts a session begins with. It looks for nothing by itself. */
class FamilyResourceLoader {
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(options: Readonly<Record<string, unknown>> = {}) {
    this.#options = options;
  }

  async reload(): Promise<void> {}
  extendResources(): void {}
  getExtensions = () => ({ extensions: [], errors: [], runtime: createRuntime() });
  getSkills = () => ({ skills: [], ...empty });
  getPrompts = () => ({ prompts: [], ...empty });
  getThemes = () => ({ themes: [], ...empty });
  getAgentsFiles = () => ({ agentsFiles: [] });

  getSystemPrompt(): string | undefined {
    const { systemPrompt, systemPromptOverride } = this.#options;
    const own = typeof systemPrompt === "string" ? systemPrompt : undefined;
    return typeof systemPromptOverride === "function" ? systemPromptOverride(own) : own;
  }

  getAppendSystemPrompt(): readonly string[] {
    const { appendSystemPrompt, appendSystemPromptOverride } = this.#options;
    const own = [appendSystemPrompt ?? []].flat().filter((text) => typeof text === "string");
    return typeof appendSystemPromptOverride === "function" ? appendSystemPromptOverride(own) : own;
  }
}

function createRuntime(): object {
  return { flagValues: new Map(), pendingProviderRegistrations: [] };
}

/** Sessions of their own for extensions: in memory, without extensions. */
export function familySession(places: HostPlaces): object {
  return {
    createExtensionRuntime: createRuntime,
    DefaultResourceLoader: FamilyResourceLoader,
    createAgentSession: (options: FamilySessionOptions = {}) => openSession(places, options),
  };
}

async function openSession(places: HostPlaces, options: FamilySessionOptions) {
  const { cwd, agentDir, model, thinkingLevel, tools, customTools = [], resourceLoader } = options;
  const given = [...(tools ?? []).filter((tool) => typeof tool !== "string"), ...customTools];
  const named = tools?.map((tool) => (typeof tool === "string" ? tool : tool.name));
  const custom = given.filter((tool) => typeof tool.execute === "function").map(toolOf);
  const only = named && [...named, ...customTools.map(({ name }) => name)];
  const session = await createAgentSession({
    cwd: cwd ?? places.cwd,
    agentDirectory: agentDir ?? places.agentDirectory,
    homeDirectory: places.homeDirectory,
    temporaryDirectory: places.temporaryDirectory,
    environment: places.environment,
    session: { kind: "memory" },
    model,
    thinkingLevel,
    customTools: custom,
    ...hostModels(options),
    ...(only === undefined ? {} : { tools: only.length === 0 ? { none: true } : { only } }),
    ...(resourceLoader === undefined ? {} : { prompt: promptOf(resourceLoader) }),
  });
  const extensionsResult = { extensions: [], errors: [], runtime: createRuntime() };
  return { session: inFamilyWords(session), extensionsResult };
}

/** Lets the host send the requests, which knows the keys and the providers of extensions. */
function hostModels({ modelRegistry, model }: FamilySessionOptions) {
  const stream = modelRegistry?.openStream;
  if (typeof stream !== "function" || model === undefined) return {};
  const headers = () => ({});
  const provider = { id: model.provider, isKeyless: true, usesAuthHeader: false, headers };
  return { stream, providers: [{ ...provider, models: () => [] }] };
}

/** Older hosts' tools are called without a session's context. */
function toolOf(tool: ExtensionTool): AgentTool {
  const file = { path: tool.name, realPath: tool.name, scope: "temporary" } as const;
  const owned = { tool, extension: new Extension(file) };
  return agentToolOf(owned, {} as ExtensionContext, { active: () => [], hooks: {} });
}

function promptOf(loader: Partial<FamilyResourceLoader>): CreateAgentSessionOptions["prompt"] {
  const systemPrompt = loader.getSystemPrompt?.();
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    appendSystemPrompts: loader.getAppendSystemPrompt?.() ?? [],
    noSkills: true,
    noTemplates: true,
    noContextFiles: true,
  };
}

/** A session with the members that the family's has beside ours. */
function inFamilyWords(session: AgentSession): AgentSession {
  const state = {
    get messages(): readonly AgentMessage[] {
      return session.agent.messages;
    },
    set messages(messages: readonly AgentMessage[]) {
      session.agent.messages = messages;
    },
    get model() {
      return session.models.model;
    },
    get thinkingLevel() {
      return session.models.thinkingLevel;
    },
  };
  const more: Readonly<Record<string | symbol, unknown>> = {
    state,
    agent: withMembers(session.agent, { state }),
    bindExtensions: async () => {},
    getLastAssistantText: () => session.lastAssistantText,
    getActiveToolNames: () => session.tools.active.map(({ name }) => name),
    setActiveToolsByName: (names: readonly string[]) => session.tools.activate(names),
  };
  return withMembers(session, more);
}

function withMembers<Target extends object>(
  target: Target,
  more: Readonly<Record<string | symbol, unknown>>,
): Target {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(more, name)) return more[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
