import type { AgentTool } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { sessionDirectoryFor } from "@tau-agent/sessions/log";
import { createSession } from "../../create/create-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";
import type { ExtensionContext } from "../../extensions/api/context.ts";
import type { ExtensionTool } from "../../extensions/api/tool.ts";
import { agentToolOf } from "../../extensions/context/agent-tool.ts";
import type { HostModules } from "../../extensions/load/host-imports.ts";
import { Extension } from "../../extensions/load/registration.ts";
import { createHeadlessUiPort } from "../../extensions/ui/ui-port.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { HostPlaces } from "../base/host-places.ts";
import { inPiWords, type PiSessionParts } from "./agent-session.ts";
import { createRuntime, type PiResourceLoader, resourceLoaderClass } from "./resource-loader.ts";
import { attach, newManager, startOf } from "./session-manager.ts";

/** The options of sessions inside this process, with pi's names. */
interface PiSessionOptions {
  readonly cwd?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly model?: Model | undefined;
  readonly thinkingLevel?: CreateAgentSessionOptions["thinkingLevel"];
  /** Tool names or, with older hosts, tools; built-in tools by their names. */
  readonly tools?: readonly (string | ExtensionTool)[] | undefined;
  readonly customTools?: readonly ExtensionTool[] | undefined;
  /** `all`: no tools; `builtin`: only `customTools`. */
  readonly noTools?: "all" | "builtin" | undefined;
  readonly excludeTools?: readonly string[] | undefined;
  readonly resourceLoader?: PiResourceLoader | undefined;
  readonly sessionManager?: unknown;
  readonly settingsManager?: unknown;
  /** The registry of a context; the session then uses the host's keys and providers. */
  readonly modelRegistry?: { readonly openStream?: StreamFunction | undefined } | undefined;
  readonly modelRuntime?: PiSessionOptions["modelRegistry"];
}

interface ServiceOptions {
  readonly cwd?: string;
  readonly agentDir?: string;
  readonly resourceLoaderOptions?: object;
  readonly settingsManager?: unknown;
  readonly modelRuntime?: PiSessionOptions["modelRegistry"];
}

type FromServices = PiSessionOptions & { readonly services: PiSessionOptions };

export function piSession(places: HostPlaces, hostModules: () => HostModules): object {
  const Loader = resourceLoaderClass(places);
  return {
    createAgentSessionServices: async ({
      resourceLoaderOptions,
      ...given
    }: ServiceOptions = {}) => {
      const { cwd = places.cwd, agentDir = places.agentDirectory } = given;
      const resourceLoader = new Loader({ ...resourceLoaderOptions, cwd, agentDir });
      await resourceLoader.reload?.();
      return { ...given, cwd, agentDir, resourceLoader, diagnostics: [] };
    },
    createAgentSessionFromServices: ({ services, ...options }: FromServices) =>
      openSession(places, { ...services, ...options }, hostModules),
    createExtensionRuntime: createRuntime,
    DefaultResourceLoader: Loader,
    createAgentSession: (options: PiSessionOptions = {}) =>
      openSession(places, options, hostModules),
  };
}

async function openSession(
  places: HostPlaces,
  options: PiSessionOptions,
  hostModules: () => HostModules,
) {
  const { cwd = places.cwd, agentDir = places.agentDirectory, resourceLoader } = options;
  const manager = options.sessionManager ?? newManager(cwd, sessionDirectoryFor(agentDir, { cwd }));
  const { start, directory } = startOf(manager) ?? { start: { kind: "memory" } as const };
  const context = {} as ExtensionContext;
  const { session, parts: made } = await createSession({
    cwd,
    agentDirectory: agentDir,
    homeDirectory: places.homeDirectory,
    temporaryDirectory: places.temporaryDirectory,
    environment: places.environment,
    session: start,
    sessionDirectory: directory,
    model: options.model,
    thinkingLevel: options.thinkingLevel,
    ...toolsOf(options, context),
    ...hostModels(options),
    ...(resourceLoader === undefined ? {} : { prompt: promptOf(resourceLoader) }),
    ...extensionsOf(resourceLoader, hostModules),
  });
  attach(manager, () => made.conversation.log);
  applySettings(session, options.settingsManager);
  const { settingsManager } = options;
  const modelRegistry = options.modelRegistry ?? options.modelRuntime;
  const systemPrompt = await session.buildSystemPrompt();
  const commands = await session.listCommands();
  const given = { modelRegistry, settingsManager, resourceLoader, commands };
  const parts = { ...given, sessionManager: manager, systemPrompt };
  const shown = inPiWords(session, made, parts);
  Object.defineProperties(context, Object.getOwnPropertyDescriptors(contextOf(shown, parts)));
  const extensionsResult = { extensions: [], errors: [], runtime: createRuntime() };
  return { session: shown, extensionsResult };
}

/** Applies what the caller's settings turn off; they may be made up for this session. */
function applySettings({ settings }: AgentSession, manager: unknown): void {
  const { getCompactionEnabled, getRetryEnabled } = Object(manager) as {
    getCompactionEnabled?(): boolean;
    getRetryEnabled?(): boolean;
  };
  if (getCompactionEnabled?.() === false) settings.override("compaction.enabled", false);
  if (getRetryEnabled?.() === false) settings.override("retry.enabled", false);
}

/** Without one of our loaders, a session has no extensions: the extension that opens it would open more sessions. */
function extensionsOf(loader: PiResourceLoader | undefined, hostModules: () => HostModules) {
  const wanted = loader?.extensionOptions;
  if (wanted === undefined) return {};
  const load = async () => hostModules();
  return { extensions: { ...wanted, hostModules: load, mode: "print" as const } };
}

/** The context for calls of the caller's tools; nobody can be asked there. */
function contextOf(session: AgentSession, { sessionManager, modelRegistry }: PiSessionParts) {
  return {
    cwd: session.log.header.cwd,
    hasUI: false,
    mode: "print",
    ui: createHeadlessUiPort().ui,
    sessionManager,
    modelRegistry,
    get model() {
      return session.models.model;
    },
    get signal() {
      return session.signal;
    },
    isIdle: () => !session.isBusy,
    abort: () => void session.abort(),
    hasPendingMessages: () => session.state.pendingMessageCount > 0,
    getContextUsage: () => session.stats.contextUsage,
    shutdown: () => {},
  };
}

function toolsOf(options: PiSessionOptions, context: ExtensionContext) {
  const { tools, customTools = [], noTools, excludeTools } = options;
  const given = [...(tools ?? []).filter((tool) => typeof tool !== "string"), ...customTools];
  const custom = given.filter((tool) => typeof tool.execute === "function");
  const named = tools?.map((tool) => (typeof tool === "string" ? tool : tool.name));
  const only = named && [...named, ...customTools.map(({ name }) => name)];
  const isNone = noTools === "all" || only?.length === 0;
  return {
    customTools: custom.map((tool) => toolOf(tool, context)),
    tools: isNone
      ? { none: true }
      : { only, exclude: excludeTools, noBuiltIn: noTools === "builtin" },
  };
}

/** Sends requests through the host, which has the keys and the extensions' providers. */
function hostModels({ modelRegistry, modelRuntime, model }: PiSessionOptions) {
  const models = modelRegistry ?? modelRuntime;
  const stream: StreamFunction | undefined = models?.openStream?.bind(models);
  if (typeof stream !== "function" || model === undefined) return {};
  const headers = () => ({});
  const provider = { id: model.provider, isKeyless: true, usesAuthHeader: false, headers };
  return { stream, providers: [{ ...provider, models: () => [] }] };
}

function toolOf(tool: ExtensionTool, context: ExtensionContext): AgentTool {
  const file = { path: tool.name, realPath: tool.name, scope: "temporary" } as const;
  const owned = { tool, extension: new Extension(file) };
  return agentToolOf(owned, context, { active: () => [], hooks: {} });
}

/** Exactly the texts that the loader has found. */
function promptOf(loader: PiResourceLoader): CreateAgentSessionOptions["prompt"] {
  const systemPrompt = loader.getSystemPrompt?.();
  const paths = (found: readonly { readonly filePath: string }[] | undefined): string[] =>
    (found ?? []).map(({ filePath }) => filePath);
  return {
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    appendSystemPrompts: loader.getAppendSystemPrompt?.() ?? [],
    skillPaths: paths(loader.getSkills?.().skills),
    templatePaths: paths(loader.getPrompts?.().prompts),
    contextFiles: loader.getAgentsFiles?.().agentsFiles ?? [],
    noSkills: true,
    noTemplates: true,
  };
}
