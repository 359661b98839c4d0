import { type AgentTool, withReadOnly } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import { noteModel, resumedModel, type SessionLog } from "@tau-agent/sessions/log";
import {
  type Diagnostic,
  dialogSink,
  firstSink,
  functionSink,
  type RequestSink,
  type ToolEnvironment,
} from "@tau-agent/system";
import { summaryModel } from "../compaction/summary-model.ts";
import { HostTools } from "../host-tools/host-tools.ts";
import { HostUris } from "../host-tools/host-uris.ts";
import { listTextCommands } from "../resources/list-commands.ts";
import { PromptResources } from "../resources/resources.ts";
import { resumeLatest } from "../run/resume-latest.ts";
import { Survival } from "../run/survival.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { buildSession } from "../session/build-session.ts";
import { SessionRules } from "../stream-rules/session-rules.ts";
import { createSessionTasks, type SessionTasks } from "../subagents/session-tasks.ts";
import { callToolTool } from "../tools/call-tool/definition.ts";
import { createTool } from "../tools/common/tool-row.ts";
import { createTools } from "../tools/index.ts";
import { jobToolNames } from "../tools/jobs/definition.ts";
import { subagentToolNames } from "../tools/subagents/definition.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { createUserInput } from "../user-input/create-user-input.ts";
import { checkSessionOptions } from "./options/check-session-options.ts";
import { chooseFallbacks } from "./options/choose-fallbacks.ts";
import { chooseLevel, chooseModel, laterChoice } from "./options/choose-model.ts";
import { likeSession } from "./options/like-session.ts";
import { toolDiagnostics } from "./options/refuse-mistakes.ts";
import { withScriptedModel } from "./options/scripted-options.ts";
import type { CreateAgentSessionOptions, SessionSetup } from "./options/session-options.ts";
import { sessionStartOf } from "./options/session-start.ts";
import { createAskUser, offersQuestions } from "./parts/ask-user.ts";
import { createDurability } from "./parts/create-durability.ts";
import { currentEnvironment } from "./parts/current-environment.ts";
import type { Durability } from "./parts/durability.ts";
import { createJobs } from "./parts/jobs.ts";
import { createMcp } from "./parts/mcp.ts";
import { openSurroundings } from "./parts/open-surroundings.ts";
import { ruleSaver } from "./parts/permissions.ts";
import { createReadEntry } from "./parts/read-entry.ts";
import { createRewind } from "./parts/rewind.ts";
import { type CreatedSession, SessionDraft, type Surroundings } from "./parts/session-draft.ts";
import { sessionFolders } from "./parts/session-folders.ts";
import { leftOutByPolicy } from "./parts/session-policy.ts";
import { sessionTexts } from "./parts/session-texts.ts";
import { createTelemetry } from "./parts/telemetry.ts";
import { createToolEnvironment } from "./parts/tool-environment.ts";
import { createToolSearch, offerTools } from "./parts/tool-search.ts";

/** Options from an embedder, or for a subagent in this process. */
type AskedSession = Omit<CreateAgentSessionOptions, "credentials"> &
  Pick<SessionSetup, "credentials">;

/**
 * Creates a session. Reads settings, keys and models as far as needed to choose the model, and the
 * session file if one is continued.
 *
 * @throws {SessionError} `model_not_found`, `model_ambiguous`, `invalid_option`, `session_invalid`,
 *   `session_locked`, `session_write_failed`
 */
export async function createAgentSession(
  options: CreateAgentSessionOptions,
): Promise<AgentSession> {
  checkSessionOptions(options);
  return (await createSession(options)).session;
}

export async function createSession(asked: AskedSession): Promise<CreatedSession> {
  const session = sessionStartOf(asked.session);
  const options = await withScriptedModel({ ...asked, session });
  const surroundings = await openSurroundings(options);
  try {
    return await assemble(new SessionDraft(surroundings));
  } catch (error) {
    await surroundings.log.close();
    await surroundings.closeStore?.();
    await surroundings.closeWorkspace?.();
    await surroundings.sandboxed.sandbox?.close();
    throw error;
  }
}

async function assemble(draft: SessionDraft): Promise<CreatedSession> {
  const { surroundings, maskKeys } = draft;
  const { options, settings, registry, scope, extensions, log, requests } = surroundings;
  const { diagnostics, policy } = surroundings;
  const choice = { registry, settings, scope, resumed: resumedModel(log.tree), diagnostics };
  const chosen = await chooseModel(options, choice);
  const fallbacks = await chooseFallbacks(options, choice);
  const thinkingLevel = chooseLevel(options, choice, chosen);
  const isNew = log.tree.length === 0;
  noteModel(log, chosen.model, thinkingLevel);
  nameSession(log, options.name?.trim());
  const resources = createResources(surroundings);
  diagnostics.push(...(await fileDiagnostics(surroundings)));
  const telemetry = await createTelemetry(draft);
  const durability = await createDurability(draft);
  const uris = new HostUris(requests);
  const given = { telemetry, durability, resources, clientUris: uris };
  const toolEnvironment = createToolEnvironment(draft, given);
  const jobs = createJobs(draft, toolEnvironment, isNew);
  const tasks = createTasks(draft, toolEnvironment, durability);
  const builtIn = [...createTools(toolEnvironment, jobs), ...tasks.tools];
  const tools = createToolSet(draft, builtIn);
  const opened = extensions?.opened;
  const mcp = createMcp(draft, toolEnvironment);
  const rules = createRules(draft, resources);
  const textCommands = () => listTextCommands(resources, settings.get("enableSkillCommands"));
  const { session, parts } = draft.complete(
    buildSession({
      log,
      requests,
      permissions: surroundings.permissions,
      settings,
      registry,
      scope,
      sandboxed: surroundings.sandboxed,
      closeStore: surroundings.closeStore,
      closeWorkspace: surroundings.closeWorkspace,
      standing: surroundings.standing,
      diagnostics,
      model: chosen.model,
      thinkingLevel,
      fallbacks,
      findModel: laterChoice(options, choice, (found) => draft.parts.problems.noteOnce(found)),
      stream: streamOf(draft, telemetry),
      policy,
      tools,
      hostTools: new HostTools(requests, (own) => tools.offer("host", own), { uris, policy }),
      toolExecution: options.toolExecution,
      maxTurns: options.maxTurns,
      budget: tasks.budget,
      saveRules: ruleSaver(draft),
      asksAgain: asksAgain(options),
      feed: tasks.feed,
      subagents: tasks.subagents,
      watchReply: (run) => rules.watch(run),
      hooks: opened?.hooks,
      maskKeys,
      telemetry,
      mcp,
      toolsReady: () => Promise.all([mcp.ready(), tasks.describe()]),
      offersQuestions: () => offersQuestions(draft),
      toolEnvironment,
      jobs,
      survival: survivalOf(draft, toolEnvironment, durability),
      rewind: createRewind(draft, toolEnvironment),
      ...sessionTexts(draft, { resources, mcp, textCommands }),
      userInput: createUserInput({ resources, settings, toolEnvironment, mcp }),
      environment: currentEnvironment,
      ...sessionFolders(draft, resources),
    }),
  );
  tasks.follow(session, () => parts.origins.current);
  await connect(draft, parts, () => opened?.connect({ session, parts, resources, textCommands }));
  if (surroundings.disk === undefined) await tasks.describe();
  else {
    // The first request waits for this; the start does not.
    tasks.describe().catch(() => {});
    resources.readAhead();
  }
  return { session, parts };
}

/** Connects a session to its surroundings, and continues the work of an earlier host. */
async function connect(
  draft: SessionDraft,
  parts: CreatedSession["parts"],
  connectExtensions: () => void,
): Promise<void> {
  const { options, requests, sandboxed, standing } = draft.surroundings;
  sandboxed.secrets?.listen({
    note: (found) => parts.problems.noteOnce(found),
    noteSecret: draft.keys.noteSecret,
  });
  standing.reportTo((event) => void parts.emit(event));
  connectExtensions();
  if (options.resume === "auto") resumeLatest(parts, options.clientReady);
  requests.attach(embedderSink(draft));
  await parts.inputs.survival?.open();
}

/** Sends requests only to models that exist. */
function streamOf(
  { surroundings: { options, registry, extensions } }: SessionDraft,
  telemetry: Awaited<ReturnType<typeof createTelemetry>>,
): StreamFunction {
  const opened = extensions?.opened?.system.stream;
  const stream = opened ?? options.stream ?? options.sharing.createStream();
  const allowed: StreamFunction = (model, ...request) => {
    registry.requireModel(model);
    return stream(model, ...request);
  };
  return telemetry?.traceRequests(allowed) ?? allowed;
}

function survivalOf(
  draft: SessionDraft,
  environment: ToolEnvironment,
  durability: Durability | undefined,
): Survival | undefined {
  const load = durability && (() => durability.calls(environment));
  return load && new Survival(load, () => draft.parts.conversation);
}

function createToolSet(draft: SessionDraft, builtIn: readonly AgentTool[]): ToolSet {
  const { options, settings, extensions, diagnostics, policy } = draft.surroundings;
  const tools = new ToolSet({
    builtIn,
    custom: options.customTools?.map(withReadOnly),
    selection: options.tools,
    settings,
    search: createToolSearch(draft),
    caller: createTool(callToolTool, {}),
    onDemand: new Set([...jobToolNames, ...subagentToolNames]),
    onRewrite: [createReadEntry(draft), createAskUser(draft)],
    isAllowed: policy && ((name) => policy.allowsTool(name)),
  });
  const opened = extensions?.opened;
  if (opened) tools.offer("extension", opened.tools, opened.inactiveTools);
  diagnostics.push(
    ...toolDiagnostics(tools, options, opened !== undefined),
    ...leftOutByPolicy(policy, settings, opened?.tools),
  );
  return tools;
}

/** When to repeat the questions of an earlier host; undefined if nobody can answer. */
function asksAgain({ clientReady, approve, answerQuestions }: SessionSetup) {
  return clientReady ?? ((approve ?? answerQuestions) && Promise.resolve());
}

function nameSession(log: SessionLog, name: string | undefined): void {
  if (name && name !== log.name) log.append({ type: "session_info", name });
}

function createResources(surroundings: Surroundings): PromptResources {
  const { options, places, settings, workingFolder, disk } = surroundings;
  return new PromptResources({
    ...options.prompt,
    ...places,
    disk,
    packagePaths: options.extensions?.paths,
    settings,
    workingFolder,
  });
}

/** Problems with models.json, extensions, missing packages, and the model for summaries. */
async function fileDiagnostics(surroundings: Surroundings): Promise<readonly Diagnostic[]> {
  const { settings, registry, extensions, places } = surroundings;
  const findPackages = async () => {
    if (settings.packages.length === 0) return [];
    const packages = await import("../resources/packages/find-packages.ts");
    return (await packages.findPackages(settings, places)).diagnostics;
  };
  const summaries: Diagnostic[] = [];
  const note = (problem: Diagnostic): void => void summaries.push(problem);
  const [models, packages] = await Promise.all([
    registry.diagnostics(),
    findPackages(),
    summaryModel({ settings, registry, note }),
  ]);
  return [...models, ...(extensions?.diagnostics ?? []), ...packages, ...summaries];
}

function createTasks(
  draft: SessionDraft,
  environment: ToolEnvironment,
  durability: Durability | undefined,
): SessionTasks {
  const { settings, places, sandboxed, disk, workspace, policy } = draft.surroundings;
  const { options: given } = draft.surroundings;
  // Durable effects need a single owner. A subagent's host that acts through this one could neither hold a sandbox
  // there nor use the workspace name that a policy allows.
  const isEnclosed = (sandboxed.sandbox ?? policy) !== undefined;
  const isHere = durability !== undefined || (workspace !== undefined && isEnclosed);
  const own = { ...(workspace && { workspace }), durableOwner: durability?.owner };
  const options = { ...given, ...own, ...(isHere && { startSubagentHost: undefined }) };
  return createSessionTasks(options, {
    environment,
    settings,
    agentDirectory: places.agentDirectory,
    disk,
    session: () => draft.session,
    openPart: (...part) => draft.parts.conversation.log.parts?.openPart(...part),
    readPart: (reference) => draft.parts.conversation.log.parts?.readPart(reference),
    restoreFiles: (paths) => draft.parts.conversation.log.parts?.restoreNamed(paths),
    notify: (message) => draft.parts.notices.deliver(message),
    offerTools: () => offerTools(draft, subagentToolNames),
    createSession: async (...changes) =>
      (await createSession(likeSession(options, sandboxed, ...changes))).session,
  });
}

function createRules(draft: SessionDraft, resources: PromptResources): SessionRules {
  const { workingFolder, settings } = draft.surroundings;
  return new SessionRules({
    workingFolder,
    rules: () => resources.rules(),
    session: () => ({ ...draft.parts, settings }),
  });
}

/** The answers of an embedder's callbacks; a host attaches its client instead. */
function embedderSink({ surroundings, parts }: SessionDraft): RequestSink {
  const { options, requests } = surroundings;
  const sendUiRequest = options.extensions?.sendUiRequest;
  return firstSink([
    functionSink(options, requests, (diagnostic) => parts.problems.noteOnce(diagnostic)),
    ...(sendUiRequest === undefined ? [] : [dialogSink(sendUiRequest)]),
  ]);
}
