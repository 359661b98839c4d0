import { join } from "node:path";
import type { AgentTool } from "@tau-agent/agent";
import { createStream, listProviders, loadModels, type StreamFunction } from "@tau-agent/ai";
import type { Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic } from "../base/diagnostic.ts";
import { createModelRegistry } from "../models/create-model-registry.ts";
import type { CustomProvider } from "../models/custom-models.ts";
import { type InitialModel, selectInitialModel } from "../models/initial-model.ts";
import { proxiedFetch } from "../models/proxied-fetch.ts";
import type { ModelRegistry } from "../models/registry.ts";
import { resolveModelScope, type ScopedModel } from "../models/resolver.ts";
import { chooseThinkingLevel, isThinkingLevel } from "../models/thinking-level.ts";
import { ProcessRegistry } from "../processes/process-registry.ts";
import { listTextCommands } from "../resources/list-commands.ts";
import { PromptResources, type PromptResourcesOptions } from "../resources/resources.ts";
import type { AgentSessionParts } from "../run/session-parts.ts";
import { AgentSession } from "../session/agent-session.ts";
import { noteModel } from "../session-log/note-model.ts";
import {
  openExistingSession,
  openSession,
  type SessionStart,
} from "../session-log/open-session.ts";
import { type ResumedModel, resumedModel } from "../session-log/session-context.ts";
import { SessionLog, type SessionLogOptions } from "../session-log/session-log.ts";
import { SettingsStore } from "../settings/store.ts";
import { SessionRules } from "../stream-rules/session-rules.ts";
import { createSessionTasks, type TaskOptions } from "../subagents/session-tasks.ts";
import { createTools } from "../tools/index.ts";
import { selectTools, type ToolSelection } from "../tools/tool-selection.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { createUserInput } from "../user-input/create-user-input.ts";
import { createToolEnvironment } from "./create-tool-environment.ts";
import { type Places, resolvePlaces, sessionLogOptions } from "./places.ts";
import { type ExtensionOptions, SessionExtensions } from "./session-extensions.ts";
import { resolveProjectTrust } from "./trust.ts";
import { storedFolder, WorkingFolder } from "./working-folder.ts";

/** Texts of the system prompt and where they come from. */
export type PromptOptionsOfSession = Omit<
  PromptResourcesOptions,
  | "settings"
  | "agentDirectory"
  | "cwd"
  | "homeDirectory"
  | "packagePaths"
  | "workingFolder"
  | "baseDirectory"
>;

/** What a session is made from. Only `cwd` has to be given. */
export interface CreateAgentSessionOptions extends TaskOptions {
  /** The project's directory; tools work here. */
  readonly cwd: string;
  /** Where relative paths of the other options start; default `cwd`. */
  readonly baseDirectory?: string | undefined;
  /** Environment variables for keys and commands; nothing is read from the process itself. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Default `~/.pi/agent`. */
  readonly agentDirectory?: string | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  readonly provider?: string | undefined;
  /** A pattern as for `--model`, or a model of your own. */
  readonly model?: string | Model | undefined;
  /** Patterns of the models to cycle through. */
  readonly models?: readonly string[] | undefined;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** A key for the chosen provider, for this session only. */
  readonly apiKey?: string | undefined;
  readonly session?: SessionStart | undefined;
  /** Folder for session files, used as it is. */
  readonly sessionDirectory?: string | undefined;
  readonly name?: string | undefined;
  /** Which of the built-in tools are active; default all. */
  readonly tools?: ToolSelection | undefined;
  /** Tools of your own; one with a built-in's name replaces it. */
  readonly customTools?: readonly AgentTool[] | undefined;
  readonly prompt?: PromptOptionsOfSession | undefined;
  /** Providers beside the built-in ones and those of models.json. */
  readonly providers?: readonly CustomProvider[] | undefined;
  /** Default: the four built-in wire formats. */
  readonly stream?: StreamFunction | undefined;
  /** Settings instead of the files. */
  readonly settings?: SettingsStore | undefined;
  /** Code of the user's that extends the session; none is looked for without this. */
  readonly extensions?: ExtensionOptions | undefined;
  /** Trust the project, or do not, whatever the saved decisions say. */
  readonly trustProject?: boolean | undefined;
}

/**
 * Makes a session: reads settings, keys and models as far as they are needed to know the model, and
 * the session file if one is continued.
 *
 * @throws {SessionError} `model_not_found`, `model_ambiguous`, `invalid_option`, `session_invalid`,
 *   `session_locked`, `session_write_failed`
 */
export async function createAgentSession(
  options: CreateAgentSessionOptions,
): Promise<AgentSession> {
  const given = resolvePlaces(options);
  const first = await loadSettings(options, given);
  const stored = await storedFolder(options, given, first);
  const places = stored?.places ?? given;
  const settings = places.cwd === given.cwd ? first : await loadSettings(options, places);
  const fetch = proxiedFetch({
    environment: options.environment ?? {},
    setting: () => settings.get("httpProxy"),
  });
  const processes = new ProcessRegistry({ systemRoot: options.environment?.SystemRoot });
  const registry = createRegistry(options, places, { fetch, processes });
  const workingFolder = new WorkingFolder(places.cwd);
  const own = { places, workingFolder, settings, registry, processes };
  const extensions = openExtensions(options, own);
  await extensions?.load("own");
  const trust =
    options.settings === undefined
      ? await trustDiagnostics(options, places, settings, extensions)
      : [];
  if (settings.isProjectTrusted) await extensions?.load("project");
  const logOptions = sessionLogOptions(options, places, settings);
  const [loaded, scope] = await Promise.all([
    openSession(stored?.session ?? options.session, logOptions),
    resolveScope(registry, options.models ?? settings.get("enabledModels")),
  ]);
  try {
    const found = [...trust, ...(stored?.diagnostics ?? [])];
    const parts = { places, settings, found, registry, fetch, logOptions, loaded, scope };
    const shared = { ...parts, workingFolder, processes, extensions };
    return await assemble(options, shared);
  } catch (error) {
    loaded.log.close();
    throw error;
  }
}

interface LoadedParts {
  readonly places: Places;
  readonly workingFolder: WorkingFolder;
  readonly settings: SettingsStore;
  /** What was found wrong with the project. */
  readonly found: readonly Diagnostic[];
  readonly registry: ModelRegistry;
  /** The `fetch` of the user's proxy, if there is one. */
  readonly fetch: () => Promise<typeof globalThis.fetch | undefined>;
  readonly processes: ProcessRegistry;
  readonly extensions: SessionExtensions | undefined;
  readonly logOptions: SessionLogOptions;
  readonly loaded: { readonly log: SessionLog; readonly diagnostics: readonly Diagnostic[] };
  readonly scope: {
    readonly models: readonly ScopedModel[];
    readonly diagnostics: readonly Diagnostic[];
  };
}

async function assemble(
  options: CreateAgentSessionOptions,
  parts: LoadedParts,
): Promise<AgentSession> {
  const { workingFolder, places, settings, found, registry, loaded, scope, extensions } = parts;
  const { log } = loaded;
  const resumed = resumedModel(log.tree.ancestors());
  const chosen = await chooseModel(options, { registry, settings, scope: scope.models, resumed });
  const thinkingLevel = chooseLevel(options, settings, resumed, chosen);
  noteModel(log, chosen.model, thinkingLevel);
  const name = options.name?.trim();
  if (name && name !== log.name) log.append({ type: "session_info", name });
  const resources = new PromptResources({
    ...options.prompt,
    packagePaths: options.extensions?.paths,
    settings,
    agentDirectory: places.agentDirectory,
    cwd: places.cwd,
    workingFolder,
    baseDirectory: places.baseDirectory,
    homeDirectory: places.homeDirectory,
  });
  const [models, packages] = await Promise.all([
    registry.diagnostics(),
    packageDiagnostics(settings, places),
  ]);
  let session: AgentSession | undefined;
  const toolEnvironment = createToolEnvironment({
    ...places,
    workingFolder,
    settings,
    processes: parts.processes,
    environment: options.environment ?? {},
    currentSession: () => session,
  });
  const tasks = createSessionTasks(options, {
    environment: toolEnvironment,
    settings,
    agentDirectory: places.agentDirectory,
    createSession: (differences, systemPrompt) => createLike(options, differences, systemPrompt),
  });
  const builtIn = [...createTools(toolEnvironment), ...tasks.tools];
  const rules = new SessionRules({ workingFolder, rules: () => resources.rules() });
  const { opened } = extensions ?? {};
  const selectAll = (added: readonly AgentTool[]) =>
    selectTools(builtIn, [...added, ...(options.customTools ?? [])], options.tools, settings);
  const selected = selectAll(opened?.tools ?? []);
  const textCommands = () => listTextCommands(resources, settings.get("enableSkillCommands"));
  session = new AgentSession({
    log,
    settings,
    registry,
    model: chosen.model,
    thinkingLevel,
    scope: scope.models,
    stream: opened?.system.stream ?? options.stream ?? createStream(),
    tools: new ToolSet(
      selected.all,
      selected.tools.filter(({ name }) => !opened?.inactiveTools.has(name)),
    ),
    budget: tasks.budget,
    watchReply: (run) => rules.watch(run),
    hooks: opened?.hooks,
    listCommands: async () => [...(opened?.hooks.commandInfos() ?? []), ...(await textCommands())],
    toolEnvironment,
    systemPrompt: (tools) => resources.systemPrompt(tools),
    userInput: createUserInput({ resources, settings, fetch: parts.fetch }),
    ...sessionFolders(options, parts, resources),
    diagnostics: [
      ...settings.diagnostics,
      ...found,
      ...models,
      ...loaded.diagnostics,
      ...scope.diagnostics,
      ...chosen.diagnostics,
      ...selected.diagnostics,
      ...(extensions?.diagnostics ?? []),
      ...packages,
    ],
  });
  tasks.attach(session);
  rules.attach(session);
  const connected = { session, resources, scopedModels: scope.models, textCommands };
  opened?.connect({ ...connected, selectTools: selectAll });
  return session;
}

/** Where the session's files are, and the folder it works in. */
function sessionFolders(
  options: CreateAgentSessionOptions,
  { places, workingFolder, settings, logOptions }: LoadedParts,
  resources: PromptResources,
): Pick<
  AgentSessionParts,
  "sessionDirectory" | "sessionsRoot" | "openLog" | "isProjectTrusted" | "enterFolder" | "createLog"
> {
  return {
    sessionDirectory: logOptions.directory,
    sessionsRoot: join(places.agentDirectory, "sessions"),
    openLog: (path) => openExistingSession(path, logOptions),
    isProjectTrusted: () => settings.isProjectTrusted && workingFolder.isHome,
    enterFolder: ({ header }) => {
      const { hasMoved, diagnostics } = workingFolder.enter(header);
      if (hasMoved) resources.reload();
      return { hasMoved, diagnostics };
    },
    createLog: ({ parentSession }) => {
      const { cwd } = workingFolder;
      const place = sessionLogOptions(options, { ...places, cwd }, settings);
      return SessionLog.create({ ...place, parentSession });
    },
  };
}

/** A session like another one but for a few things, for a subagent in this process. */
function createLike(
  options: CreateAgentSessionOptions,
  differences: Partial<CreateAgentSessionOptions>,
  systemPrompt: string,
): Promise<AgentSession> {
  const texts = [...(options.prompt?.appendSystemPrompts ?? []), systemPrompt];
  const prompt = { ...options.prompt, appendSystemPrompts: texts };
  // The key is one provider's; a subagent with another one's model must not send it there.
  const own = typeof options.model === "object" ? options.model.provider : options.provider;
  const { model } = differences;
  const apiKey = typeof model === "object" && model.provider === own ? options.apiKey : undefined;
  const baseDirectory = options.baseDirectory ?? options.cwd;
  return createAgentSession({ ...options, ...differences, baseDirectory, prompt, apiKey });
}

async function loadSettings(
  { settings }: CreateAgentSessionOptions,
  { agentDirectory, cwd }: Places,
): Promise<SettingsStore> {
  return settings ?? SettingsStore.load({ agentDirectory, cwd });
}

async function trustDiagnostics(
  options: CreateAgentSessionOptions,
  { agentDirectory, cwd }: Places,
  settings: SettingsStore,
  extensions: SessionExtensions | undefined,
): Promise<readonly Diagnostic[]> {
  const flag = options.trustProject;
  const askExtensions = extensions && (() => extensions.askTrust());
  const trust = await resolveProjectTrust({
    agentDirectory,
    cwd,
    settings,
    flag,
    askExtensions,
  });
  if (trust.isTrusted) settings.trustProject();
  return trust.diagnostics;
}

/** Packages that are not there, or cannot be read. */
async function packageDiagnostics(
  settings: SettingsStore,
  { agentDirectory, cwd, homeDirectory }: Places,
): Promise<readonly Diagnostic[]> {
  if (settings.packages.length === 0) return [];
  const { findPackages } = await import("../resources/packages/find-packages.ts");
  return (await findPackages(settings, { agentDirectory, cwd, homeDirectory })).diagnostics;
}

/** Nothing is looked for unless the embedder says what extensions are to be given. */
function openExtensions(
  options: CreateAgentSessionOptions,
  parts: Pick<LoadedParts, "places" | "workingFolder" | "settings" | "registry" | "processes">,
): SessionExtensions | undefined {
  if (options.extensions === undefined) return undefined;
  return new SessionExtensions({
    ...parts,
    options: options.extensions,
    stream: options.stream ?? createStream(),
    environment: options.environment ?? {},
  });
}

function createRegistry(
  options: CreateAgentSessionOptions,
  places: Places,
  shared: Pick<LoadedParts, "fetch" | "processes">,
): ModelRegistry {
  const providers = Object.fromEntries(listProviders().map(({ id, ...info }) => [id, info]));
  const registry = createModelRegistry({
    agentDirectory: places.agentDirectory,
    environment: options.environment ?? {},
    catalog: { providers: () => providers, models: loadModels },
    ...shared,
  });
  for (const provider of options.providers ?? []) registry.addProvider(provider);
  return registry;
}

async function resolveScope(
  registry: ModelRegistry,
  patterns: readonly string[] | undefined,
): Promise<{ models: readonly ScopedModel[]; diagnostics: readonly Diagnostic[] }> {
  if (patterns === undefined || patterns.length === 0) return { models: [], diagnostics: [] };
  return resolveModelScope(registry, patterns);
}

interface ModelChoice {
  readonly registry: ModelRegistry;
  readonly settings: SettingsStore;
  readonly scope: readonly ScopedModel[];
  readonly resumed: ResumedModel;
}

async function chooseModel(
  options: CreateAgentSessionOptions,
  { registry, settings, scope, resumed }: ModelChoice,
): Promise<InitialModel> {
  const { provider, model, apiKey } = options;
  if (typeof model === "object") {
    if (apiKey !== undefined) registry.keys.setRuntimeKey(model.provider, apiKey);
    return { model, source: "flag", diagnostics: [] };
  }
  if (apiKey !== undefined && provider !== undefined) registry.keys.setRuntimeKey(provider, apiKey);
  const chosen = await selectInitialModel({
    registry,
    flags: { provider, model },
    scope,
    saved: { provider: settings.get("defaultProvider"), model: settings.get("defaultModel") },
    resumed: resumed.model,
  });
  if (apiKey !== undefined && chosen.model !== undefined) {
    registry.keys.setRuntimeKey(chosen.model.provider, apiKey);
  }
  return chosen;
}

function chooseLevel(
  options: CreateAgentSessionOptions,
  settings: SettingsStore,
  { thinkingLevel }: ResumedModel,
  chosen: InitialModel,
): ThinkingLevel {
  return chooseThinkingLevel(chosen.model, {
    flag: options.thinkingLevel,
    suffix: chosen.thinkingLevel,
    session:
      thinkingLevel !== undefined && isThinkingLevel(thinkingLevel) ? thinkingLevel : undefined,
    settings,
  });
}
