import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentTool } from "@tau-agent/agent";
import {
  type KeptCredentials,
  type ModelRegistry,
  resolveModel,
  type ScopedModel,
} from "@tau-agent/models";
import type { ApprovalRequest, ApprovalResult } from "@tau-agent/rpc-protocol";
import type { CustomMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import {
  type LogParts,
  type SessionLogView,
  type SessionPart,
  SUBAGENT_ENTRY,
} from "@tau-agent/sessions/log";
import type {
  DiagnosticsEntry,
  HostRequests,
  SettingsStore,
  ToolEnvironment,
} from "@tau-agent/system";
import { isAfterUntrusted } from "../foreign-text/after-untrusted.ts";
import type { HostTools, RunnableHostTool } from "../host-tools/host-tools.ts";
import type { OfferedTools } from "../jobs/session-jobs.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { SessionPolicy } from "../policy/session-policy.ts";
import type { Disk } from "../resources/files/disk.ts";
import { createTool } from "../tools/common/tool-row.ts";
import {
  abortSubagentTool,
  listSubagentsTool,
  subagentOutputTool,
} from "../tools/subagents/definition.ts";
import { isSelected, type ToolSelection } from "../tools/tool-selection.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { AgentDefinition } from "./agents/agent-definition.ts";
import { BudgetQuestions } from "./budgets/budget-questions.ts";
import type { BudgetedSession } from "./budgets/budgeted-session.ts";
import { SessionBudget } from "./budgets/session-budget.ts";
import type { CreateSubagentSession } from "./runners/in-process-runner.ts";
import type { StartSubagentHost } from "./runners/process-runner.ts";
import type { SubagentRunner, SubagentServers } from "./runners/subagent-runner.ts";
import { taskTool } from "./task-tool/definition.ts";
import { TaskDescription } from "./task-tool/describe-task.ts";
import { questionShare } from "./tasks/question-share.ts";
import { SessionSubagents } from "./tasks/session-subagents.ts";
import { SubagentFeed } from "./tasks/subagent-feed.ts";
import { maySpawnAt, type TaskServices } from "./tasks/task-services.ts";

/** The options for a session's subagents. */
export interface TaskOptions {
  /** Starts a host for a subagent; without it, subagents run in this process. */
  readonly startSubagentHost?: StartSubagentHost | undefined;
  /** The session's nesting depth; 0 (default) for a person's. */
  readonly taskDepth?: number | undefined;
  /** The user's folder that `cwd` is an isolated copy of: permissions judge files as if they were there. */
  readonly taskFolder?: string | undefined;
  /** The agents that the session may start; default all. */
  readonly taskAgents?: readonly string[] | undefined;
  /** The checks for changed files, if they do not come from the settings. */
  readonly diagnostics?: { readonly entries: readonly DiagnosticsEntry[] } | undefined;
  /** Also limit subagents, unless the setting `task.narrowTools` is off; exclusions always apply. */
  readonly tools?: Pick<ToolSelection, "only" | "exclude"> | undefined;
}

interface TaskingAgentSession extends BudgetedSession {
  readonly policy?: SessionPolicy | undefined;
  readonly log: BudgetedSession["log"] & SessionLogView;
  note(customType: string, data: unknown): void;
  readonly models: {
    readonly registry: ModelRegistry;
    readonly model: Model | undefined;
    readonly thinkingLevel: ThinkingLevel;
  };
  readonly isProjectTrusted: boolean;
  readonly permissions: SessionPermissions;
  approve(agentId: string, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalResult>;
  readonly tools: ToolSet;
  readonly hostTools: HostTools;
  readonly requests: HostRequests;
  readonly mcp: { forSubagent(names: readonly string[]): SubagentServers };
}

/** The session whose use is counted, and whose client is asked when a limit is used up. */
interface CountedSession extends BudgetedSession {
  readonly requests: HostRequests;
  readonly permissions: SessionPermissions;
  /** Aborts with the current run. */
  readonly signal: AbortSignal | undefined;
}

/** A session's budget and its `task` tool, which is missing if subagents may not be nested any deeper. */
export interface SessionTasks {
  readonly budget: SessionBudget;
  readonly feed: SubagentFeed;
  readonly subagents: SessionSubagents;
  readonly tools: readonly AgentTool[];
  /**
   * Reads the description of `task` for the session's current folder and trust.
   *
   * @throws {WorkspaceError} if the project cannot be reached
   */
  describe(): Promise<void>;
  follow(session: CountedSession, promptId: () => string | undefined): void;
}

/** What subagents inherit from their session. */
interface InheritedOptions {
  readonly fallbackModels?: readonly string[] | undefined;
  readonly credentials: KeptCredentials;
}

/** What tasks need from their session. */
interface TaskParts {
  environment: ToolEnvironment;
  settings: SettingsStore;
  agentDirectory: string;
  /** The disk of the project; undefined for this machine's. */
  disk: Disk | undefined;
  createSession: CreateSubagentSession;
  /** Starts a subagent's log in the session's store; undefined without a store. */
  openPart: (...part: Parameters<LogParts["openPart"]>) => Promise<SessionPart> | undefined;
  /** The lines of such a log; undefined if there are none. */
  readPart: (reference: string) => Promise<readonly object[] | undefined> | undefined;
  /** Fetches missing files from the store, by their paths. */
  restoreFiles: (paths: readonly string[]) => Promise<void> | undefined;
  /** Tells the model about the end of a subagent that no call waits for. */
  notify: (message: CustomMessage) => void;
  /** Makes the tools for background subagents available to the model. */
  offerTools: () => OfferedTools;
  /** The session of the tasks; called when a task runs. */
  session: () => TaskingAgentSession;
}

/** Creates the parts that a session needs for tasks; loads and reads nothing yet. */
export function createSessionTasks(
  options: TaskOptions & InheritedOptions,
  parts: TaskParts,
): SessionTasks {
  const { settings } = parts;
  const { taskDepth: depth = 0, taskAgents } = options;
  const budget = new SessionBudget(settings);
  const feed = new SubagentFeed();
  let promptId = (): string | undefined => undefined;
  const runner = runnerOf(options, parts);
  const subagents = new SessionSubagents({
    log: () => parts.session().log,
    note: (record) => parts.session().note(SUBAGENT_ENTRY, record),
    notify: parts.notify,
    readStored: async (reference) => parts.readPart(reference),
    restore: async ({ sessionFile, keptPatch }) =>
      parts.restoreFiles([sessionFile, keptPatch].filter((path) => path !== undefined)),
    resume: async (record, message) => {
      const { resumeInBackground } = await import("./task-tool/resume-in-background.ts");
      await resumeInBackground(record, message, { ...services, description });
    },
  });
  const services: Omit<TaskServices, "description"> = {
    ...parts,
    budget,
    runner,
    feed,
    subagents,
    depth,
    allowedAgents: taskAgents,
    excludedTools: (agent) => [
      ...takenAway(options.tools),
      ...(isLimited(agent, options, settings) ? missingTools(parts.session()) : []),
    ],
    hostTools: (id, agent) => hostToolsFor(parts.session(), id, agent),
    session: () => {
      const session = parts.session();
      const { log, models, isProjectTrusted } = session;
      const { model, thinkingLevel } = models;
      return {
        sessionFile: log.path,
        openPart: parts.openPart,
        offerTools: parts.offerTools,
        model,
        fallbackModels: options.fallbackModels,
        thinkingLevel,
        isProjectTrusted,
        findModel: (pattern) => findModel(models, pattern),
        report: (event) => session.report(event),
        permissions: session.permissions,
        hostTools: session.hostTools,
        mcpServers: (names) => session.mcp.forSubagent(names),
        approve: (agentId, request, signal) => session.approve(agentId, request, signal),
        isAfterUntrusted: () => isAfterUntrusted(session.log.tree.ancestors()),
        answerQuestions: (agentId, caller) => {
          const { requests } = session;
          const timeoutMs = settings.get("questions.timeoutMs");
          return questionShare({
            requests,
            agentId,
            promptId: () => promptId(),
            timeoutMs,
            caller,
          });
        },
      };
    },
  };
  const description = new TaskDescription(services);
  const tool = createTool(taskTool, { ...services, description });
  const isOffered = maySpawnAt({ settings }, depth);
  const follow = [subagentOutputTool, abortSubagentTool, listSubagentsTool];
  return {
    budget,
    feed,
    subagents,
    tools: isOffered ? [tool, ...follow.map((row) => createTool(row, subagents))] : [],
    describe: async () => {
      if (isOffered) await description.read();
    },
    follow: (session, currentPrompt) => {
      promptId = currentPrompt;
      const { requests, permissions } = session;
      const questions = new BudgetQuestions({
        requests,
        promptId,
        timeoutMs: () => permissions.state.timeoutMs,
        signal: () => session.signal,
      });
      budget.attach(session, questions);
      if (depth === 0) cleanUpAtFirstRun(session, parts);
    },
  };
}

/** Loaded with the first subagent (row `start`). */
function runnerOf(
  { startSubagentHost, credentials, diagnostics }: TaskOptions & InheritedOptions,
  { settings, environment, disk, createSession, session }: TaskParts,
): SubagentRunner {
  return async (request) => {
    if (startSubagentHost === undefined) {
      const { createInProcessRunner } = await import("./runners/in-process-runner.ts");
      return createInProcessRunner(createSession)(request);
    }
    const { createProcessRunner } = await import("./runners/process-runner.ts");
    const command = () => settings.get("task.command");
    const policy = session().policy?.given ?? [];
    const workspace = disk && environment.workspace;
    const given = { credentials, policy, diagnostics, workspace };
    const runs = { startHost: startSubagentHost, command, environment, ...given };
    return createProcessRunner(runs)(request);
  };
}

/** The tools that are excluded for subagents at any depth, too. */
function takenAway({ only = [], exclude = [] }: ToolSelection = {}): readonly string[] {
  const removed = only.filter((pattern) => pattern.startsWith("-"));
  return [...exclude, ...removed.map((pattern) => pattern.slice(1))];
}

/**
 * Whether an agent is limited to the session's tools. A subagent's own tools come from its agent's
 * definition and do not limit its subagents.
 */
function isLimited(
  agent: AgentDefinition,
  { tools, taskDepth = 0 }: TaskOptions,
  settings: SettingsStore,
): boolean {
  if (agent.isLimitedToCaller === true) return true;
  const isListed = tools?.only?.some((pattern) => !pattern.startsWith("-")) ?? false;
  return isListed && taskDepth === 0 && settings.get("task.narrowTools");
}

function missingTools({ tools }: TaskingAgentSession): readonly string[] {
  const active = new Set(tools.available.map(({ name }) => name));
  return tools.all.map(({ name }) => name).filter((name) => !active.has(name));
}

/** The client's tools that the session may use itself and that the agent lists, if it lists any. */
function hostToolsFor(
  { tools, hostTools }: TaskingAgentSession,
  id: string,
  agent: AgentDefinition,
): readonly RunnableHostTool[] {
  const active = new Set(tools.available.map(({ name }) => name));
  return hostTools
    .share(id)
    .filter(({ definition: { name } }) => active.has(name) && isSelected(name, agent.tools));
}

interface Places {
  readonly environment: ToolEnvironment;
  readonly agentDirectory: string;
}

/** Undefined for an unknown model: the subagent's host may know it, or gives a better error. */
function findModel(
  { registry, model }: TaskingAgentSession["models"],
  pattern: string,
): Promise<ScopedModel | undefined> {
  const wanted = { model: pattern, preferredProvider: model?.provider };
  return resolveModel(registry, wanted).catch(() => undefined);
}

/** Removes what killed hosts left behind, during the first run, so that the start does not wait for it. */
function cleanUpAtFirstRun(session: BudgetedSession, places: Places): void {
  const unsubscribe = session.subscribe(({ type }) => {
    if (type !== "agent_start") return;
    unsubscribe();
    void cleanUp(places);
  });
}

async function cleanUp({ agentDirectory, environment }: Places): Promise<void> {
  const worktreesRoot = join(agentDirectory, "worktrees");
  if (!existsSync(worktreesRoot)) return;
  const { removeLeftoverTrees } = await import("@tau-agent/worktrees/isolation");
  // Errors are ignored: the next isolated task tries again.
  await removeLeftoverTrees(worktreesRoot, environment).catch(() => undefined);
}
