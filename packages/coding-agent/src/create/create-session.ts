import { withReadOnly } from "@tau-agent/agent";
import { builtInProviders, createStream, type StreamFunction } from "@tau-agent/ai";
import { McpPool } from "@tau-agent/mcp";
import {
  builtInCatalog,
  createModelRegistry,
  type ModelRegistry,
  proxiedFetch,
  type ScopedModel,
} from "@tau-agent/models";
import {
  noteModel,
  type OpenOptions,
  openSession,
  resumedModel,
  type SessionHome,
  type SessionLog,
} from "@tau-agent/sessions/log";
import {
  createKeyMask,
  type Diagnostic,
  dialogSink,
  firstSink,
  functionSink,
  HostRequests,
  ProcessRegistry,
  type RequestSink,
  SettingsStore,
} from "@tau-agent/system";
import { HostTools } from "../host-tools/host-tools.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import { listTextCommands } from "../resources/list-commands.ts";
import { PromptResources } from "../resources/resources.ts";
import { AgentSession } from "../session/agent-session.ts";
import { buildSession, type SessionParts } from "../session/build-session.ts";
import type { SessionInputs } from "../session/session-inputs.ts";
import { SessionRules } from "../stream-rules/session-rules.ts";
import { createSessionTasks } from "../subagents/session-tasks.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import { createTools } from "../tools/index.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { createUserInput } from "../user-input/create-user-input.ts";
import { chooseLevel, chooseModel, laterChoice, resolveScope } from "./choose-model.ts";
import { createJobs } from "./create-jobs.ts";
import { createRewind } from "./create-rewind.ts";
import { createTelemetry } from "./create-telemetry.ts";
import { createToolEnvironment } from "./create-tool-environment.ts";
import { createToolSearch } from "./create-tool-search.ts";
import { currentEnvironment } from "./current-environment.ts";
import { keySourcesOf } from "./key-sources.ts";
import { likeSession } from "./like-session.ts";
import { packageDiagnostics } from "./package-diagnostics.ts";
import { createPermissions, ruleSaver } from "./permissions.ts";
import { type Places, resolvePlaces } from "./places.ts";
import { refuseBrokenFiles, toolDiagnostics } from "./refuse-mistakes.ts";
import { type CreatedSandbox, createSandbox } from "./sandbox.ts";
import { withScriptedModel } from "./scripted-options.ts";
import { SessionExtensions } from "./session-extensions.ts";
import { sessionFolders } from "./session-folders.ts";
import { createMcp } from "./session-mcp.ts";
import type { CreateAgentSessionOptions, SessionSetup } from "./session-options.ts";
import { isStoreNamed, sessionPlace } from "./session-place.ts";
import { sessionStartOf } from "./session-start.ts";
import { sessionTexts } from "./session-texts.ts";
import { keepTrustAcross, resolveProjectTrust } from "./trust.ts";
import { storedFolder, WorkingFolder } from "./working-folder.ts";

/** A session with the parts it is made of, for code of this package that needs more than embedders. */
export interface CreatedSession {
  readonly session: AgentSession;
  readonly parts: SessionParts;
}

/** What a session is assembled from, once its files are read. */
interface Surroundings {
  readonly places: Places;
  readonly workingFolder: WorkingFolder;
  readonly settings: SettingsStore;
  readonly registry: ModelRegistry;
  /** The `fetch` that goes through the user's proxy, if there is one. */
  readonly fetch: () => Promise<typeof globalThis.fetch | undefined>;
  readonly processes: ProcessRegistry;
  readonly requests: HostRequests;
  readonly sandbox: CreatedSandbox["sandbox"];
  readonly sandboxed: CreatedSandbox;
  readonly permissions: SessionPermissions;
  readonly extensions: SessionExtensions | undefined;
  readonly home: SessionHome;
  readonly openOptions: OpenOptions;
  readonly closeStore?: (() => Promise<void>) | undefined;
  readonly log: SessionLog;
  readonly scope: readonly ScopedModel[];
  readonly diagnostics: Diagnostic[];
}

/** Creates a session; see `createAgentSession`. */
export async function createSession(asked: CreateAgentSessionOptions): Promise<CreatedSession> {
  const session = sessionStartOf(asked.session);
  // Subagents in this process get the options of their caller.
  const options = await withScriptedModel({ mcpPool: new McpPool(), ...asked, session });
  const diagnostics: Diagnostic[] = [];
  const given = resolvePlaces(options);
  const first = await loadSettings(options, given);
  const stored = await folderOfSession(options, given, first);
  const places = stored?.places ?? given;
  const settings = places.cwd === given.cwd ? first : await loadSettings(options, places);
  diagnostics.push(...settings.diagnostics);
  const fetch = proxiedFetch({
    environment: options.environment ?? {},
    setting: () => settings.get("httpProxy"),
  });
  const processes = new ProcessRegistry({ systemRoot: options.environment?.SystemRoot });
  const registry = createRegistry(options, places, { fetch, processes });
  const workingFolder = new WorkingFolder(places.cwd);
  const requests = new HostRequests();
  const environment = options.environment ?? {};
  const { hostProcesses } = options;
  const isolation = { places, settings, workingFolder, environment, hostProcesses };
  const sandboxed = await createSandbox(options.sandbox, isolation);
  const { sandbox } = sandboxed;
  diagnostics.push(...sandboxed.diagnostics);
  const own = {
    ...{ places, workingFolder, settings, registry, processes, requests },
    ...{ sandboxed, sandbox },
  };
  const extensions = openExtensions(options, own);
  await extensions?.loadOwn();
  diagnostics.push(...(await decideTrust(options, { places, given }, settings, extensions)));
  diagnostics.push(...(stored?.diagnostics ?? []));
  if (options.refusesMistakes) await refuseBrokenFiles(settings, registry);
  await extensions?.loadProject();
  const permissions = createPermissions(settings, options.permissions);
  diagnostics.push(...permissions.diagnostics);
  const keepsQuestions = options.clientReady !== undefined || options.approve !== undefined;
  const openOptions = { cwd: places.cwd, keepsQuestions };
  const { home, closeStore } = await sessionPlace(options, places, settings);
  const [loaded, scope] = await Promise.all([
    openSession(stored?.session ?? options.session, home, openOptions),
    resolveScope(registry, options.models ?? settings.get("enabledModels"), diagnostics),
  ]);
  const { log } = loaded;
  diagnostics.push(...loaded.diagnostics);
  try {
    const files = {
      fetch,
      extensions,
      permissions,
      home,
      openOptions,
      closeStore,
      log,
      scope,
      diagnostics,
    };
    return await assemble(options, { ...own, ...files });
  } catch (error) {
    await log.close();
    await closeStore?.();
    await sandbox?.close();
    throw error;
  }
}

async function assemble(
  options: SessionSetup,
  surroundings: Surroundings,
): Promise<CreatedSession> {
  const { settings, registry, scope, extensions, log, places, diagnostics } = surroundings;
  const choice = { registry, settings, scope, resumed: resumedModel(log.tree), diagnostics };
  const chosen = await chooseModel(options, choice);
  const thinkingLevel = chooseLevel(options, choice, chosen);
  noteModel(log, chosen.model, thinkingLevel);
  nameSession(log, options.name?.trim());
  const resources = createResources(options, surroundings);
  const [models, packages] = await Promise.all([
    registry.diagnostics(),
    packageDiagnostics(settings, places),
  ]);
  diagnostics.push(...models, ...(extensions?.diagnostics ?? []), ...packages);
  const keySources = keySourcesOf(options, places, registry);
  const maskKeys = createKeyMask(keySources);
  const telemetry = await createTelemetry(options, { settings, maskKeys, parts: () => parts });
  const toolEnvironment = createToolEnvironment({
    ...places,
    ...surroundings,
    telemetry,
    ...toolOptions(options),
    standsFor: options.taskFolder,
    keySources,
    askToLeave: (...question) => parts.gate.askToLeave(...question),
    session: () => session,
  });
  const jobs = createJobs(options, { ...surroundings, toolEnvironment, parts: () => parts });
  const tasks = createSessionTasks(options, {
    ...{ environment: toolEnvironment, settings },
    agentDirectory: places.agentDirectory,
    session: () => session,
    openPart: (...part) => parts.conversation.log.parts?.openPart(...part),
    createSession: async (...changes) =>
      (await createSession(likeSession(options, surroundings, ...changes))).session,
  });
  const rules = new SessionRules({
    ...surroundings,
    rules: () => resources.rules(),
    session: () => ({ ...parts, settings }),
  });
  const { opened } = extensions ?? {};
  const tools = new ToolSet({
    builtIn: [...createTools(toolEnvironment, jobs), ...tasks.tools],
    custom: options.customTools?.map(withReadOnly),
    selection: options.tools,
    settings,
    search: createToolSearch(() => ({ tools, conversation: parts.conversation })),
  });
  if (opened) tools.offer("extension", opened.tools, opened.inactiveTools);
  diagnostics.push(...toolDiagnostics(tools, options, opened !== undefined));
  const mcp = createMcp(options, {
    ...surroundings,
    ...{ environment: toolEnvironment, tools, maskKeys, noteSecret: keySources.noteSecret },
    isProjectTrusted: () => session.isProjectTrusted,
    parts: () => parts,
  });
  const textCommands = () => listTextCommands(resources, settings.get("enableSkillCommands"));
  const parts = buildSession({
    ...surroundings,
    ...{ model: chosen.model, thinkingLevel },
    findModel: laterChoice(options, choice, (problem) => parts.problems.noteOnce(problem)),
    stream: streamOf(opened?.system.stream ?? options.stream ?? createStream(), telemetry),
    tools,
    hostTools: new HostTools(surroundings.requests, (given) => tools.offer("host", given)),
    toolExecution: options.toolExecution,
    budget: tasks.budget,
    saveRules: savesRules(surroundings, (diagnostic) => parts.problems.note(diagnostic)),
    asksAgain: options.clientReady ?? (options.approve && Promise.resolve()),
    feed: tasks.feed,
    watchReply: (run) => rules.watch(run),
    hooks: opened?.hooks,
    ...{ maskKeys, telemetry, mcp },
    toolsReady: () => mcp.ready(),
    toolEnvironment,
    jobs,
    rewind: createRewind(options, { ...surroundings, toolEnvironment, parts: () => parts }),
    ...sessionTexts({ resources, mcp, textCommands, opened, parts: () => parts }),
    userInput: createUserInput({ resources, settings, fetch: surroundings.fetch, mcp }),
    environment: currentEnvironment,
    ...sessionFolders(surroundings, resources),
  });
  const session: AgentSession = new AgentSession(parts);
  tasks.follow(session, () => parts.origins.current);
  opened?.connect({ session, parts, resources, textCommands });
  surroundings.requests.attach(embedderSink(options, surroundings.requests, parts));
  return { session, parts };
}

function nameSession(log: SessionLog, name: string | undefined): void {
  if (name && name !== log.name) log.append({ type: "session_info", name });
}

function streamOf(stream: StreamFunction, telemetry: SessionTelemetry | undefined): StreamFunction {
  return telemetry?.traceRequests(stream) ?? stream;
}

function savesRules(
  surroundings: Surroundings,
  note: (diagnostic: Diagnostic) => void,
): SessionInputs["saveRules"] {
  const { agentDirectory } = surroundings.places;
  return ruleSaver({ ...surroundings, agentDirectory, note });
}

/** Where tools work, as far as options say it. */
function toolOptions({ environment = {}, files, runCommand }: SessionSetup) {
  return { environment, files, runCommand };
}

/** What an embedder answers itself; the host of a client attaches another. */
function embedderSink(
  options: SessionSetup,
  requests: HostRequests,
  { problems }: SessionParts,
): RequestSink {
  const sendUiRequest = options.extensions?.sendUiRequest;
  return firstSink([
    functionSink(options, requests, (diagnostic) => problems.noteOnce(diagnostic)),
    ...(sendUiRequest === undefined ? [] : [dialogSink(sendUiRequest)]),
  ]);
}

function createResources(
  options: SessionSetup,
  { places, settings, workingFolder }: Surroundings,
): PromptResources {
  return new PromptResources({
    ...options.prompt,
    ...places,
    packagePaths: options.extensions?.paths,
    settings,
    workingFolder,
  });
}

/** The folder a session of a file belongs to; what is in a store goes on in the folder of the start. */
async function folderOfSession(
  options: SessionSetup,
  given: Places,
  untrusted: SettingsStore,
): ReturnType<typeof storedFolder> {
  const settings = await trustedSettings(options, given, untrusted);
  return isStoreNamed(options, settings) ? undefined : storedFolder(options, given, settings);
}

/**
 * The settings of the folder of the start, to find a session by its id: a trusted project may keep
 * its sessions elsewhere. The session's own folder is trusted or not for itself.
 */
async function trustedSettings(
  options: SessionSetup,
  places: Places,
  untrusted: SettingsStore,
): Promise<SettingsStore> {
  const { session } = options;
  if (session?.kind !== "file" || session.goesToItsFolder !== true) return untrusted;
  const settings = await loadSettings(options, places);
  await decideTrust(options, { places, given: places }, settings, undefined);
  return settings;
}

async function loadSettings(
  { settings }: SessionSetup,
  { agentDirectory, cwd }: Places,
): Promise<SettingsStore> {
  return settings ?? SettingsStore.load({ agentDirectory, cwd });
}

async function decideTrust(
  options: SessionSetup,
  { places, given }: { places: Places; given: Places },
  settings: SettingsStore,
  extensions: SessionExtensions | undefined,
): Promise<readonly Diagnostic[]> {
  if (options.settings !== undefined) return [];
  const { agentDirectory, cwd } = places;
  // A yes is for the folder of the start; a session file must not name another one for it.
  const isStart = cwd === given.cwd;
  const flag = isStart || options.trustProject === false ? options.trustProject : undefined;
  const trust = await resolveProjectTrust({
    agentDirectory,
    cwd,
    settings,
    flag,
    isSubagent: (options.taskDepth ?? 0) > 0,
    askExtensions: extensions && (() => extensions.askTrust()),
  });
  // A rule that an answer saves must not make the project a changed one.
  if (trust.isTrusted) settings.trustProject((write) => keepTrustAcross(places, write));
  return trust.diagnostics;
}

/** No extension is looked for unless the embedder says which to give the session. */
function openExtensions(
  options: SessionSetup,
  parts: Pick<
    Surroundings,
    "places" | "workingFolder" | "settings" | "registry" | "processes" | "requests" | "sandbox"
  >,
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
  options: SessionSetup,
  { agentDirectory }: Places,
  shared: Pick<Surroundings, "fetch" | "processes">,
): ModelRegistry {
  const registry = createModelRegistry({
    agentDirectory,
    environment: options.environment ?? {},
    catalog: builtInCatalog(),
    apis: options.stream === undefined ? Object.keys(builtInProviders) : undefined,
    ...shared,
  });
  for (const provider of options.providers ?? []) registry.addProvider(provider);
  return registry;
}
