import { resolve } from "node:path";
import type {
  CreateAgentSessionOptions,
  ExtensionOptions,
  SessionStart,
} from "@tau-agent/coding-agent";
import type { CliOptions } from "../command-line/cli-options.ts";
import { settleUnknown } from "../command-line/settle-unknown.ts";
import { refuse, wholeNumber } from "../command-line/values.ts";
import type { ProcessEnvironment } from "../process/environment.ts";
import { hostsAbove } from "../process/host-processes.ts";
import { readWorkspace } from "./read-workspace.ts";
import { secretFilesOf } from "./secret-files.ts";

function isBelowHost({ sessionHandle, subagentSandbox }: ProcessEnvironment): boolean {
  return sessionHandle !== undefined || subagentSandbox !== undefined;
}

/** How long the shutdown of a host waits for the export of its spans; the shutdown may take 5 seconds in total. */
const TRACE_FLUSH_MS = 2000;

/** The parts of the process that extensions can reach. */
export type ExtensionSeams = Pick<
  ExtensionOptions,
  "sendUiRequest" | "showNotice" | "onShutdown"
> & {
  readonly beforeExtensions?: () => Promise<void>;
} & Pick<CreateAgentSessionOptions, "clientReady" | "clientPlace">;

export async function sessionOptions(
  options: CliOptions,
  environment: ProcessEnvironment,
  seams: ExtensionSeams = {},
): Promise<CreateAgentSessionOptions> {
  const { sendUiRequest, showNotice, onShutdown, beforeExtensions } = seams;
  return {
    ...sessionFolder(options, environment),
    baseDirectory: environment.cwd,
    environment: environment.variables,
    agentDirectory: environment.agentDirectory,
    homeDirectory: environment.homeDirectory,
    temporaryDirectory: environment.temporaryDirectory,
    provider: options.provider,
    model: options.model,
    findLocalServers: options.listModels === undefined ? true : "always",
    fallbackModels: options.fallbackModel.length > 0 ? options.fallbackModel : undefined,
    models: list(options.models),
    thinkingLevel: options.thinking,
    toolExecution: options.toolExecution,
    apiKey: options.apiKey ?? environment.subagentKey,
    session: sessionStart(options),
    sessionDirectory: options.sessionDir ?? environment.sessionDirectory,
    durability: options.durability,
    durabilityAdoptMs: wholeNumber("--durability-adopt-ms", options.durabilityAdoptMs),
    maxTurns: wholeNumber("--max-turns", options.maxTurns, { what: "is not a number of replies" }),
    resume: options.resumeInterrupted ? "auto" : undefined,
    store: await storeOf(options, environment),
    projectKey: options.projectKey,
    leaseMs: wholeNumber("--lease-ms", options.leaseMs),
    name: options.name,
    // Checked where it is read, like the settings.
    secretFiles: secretFilesOf(options, environment),
    hostProcesses: isBelowHost(environment) ? hostsAbove(environment.program) : undefined,
    diagnostics: environment.subagentDiagnostics as CreateAgentSessionOptions["diagnostics"],
    sandbox: environment.subagentSandbox as CreateAgentSessionOptions["sandbox"],
    telemetry: {
      register: async () => {
        const { exportTraces } = await import("./export-traces.ts");
        await exportTraces(environment.variables);
      },
      // A host ends soon after its session, so spans that are not exported by then are lost.
      flushMs: TRACE_FLUSH_MS,
    },
    permissions: { mode: options.permissionMode },
    policy: options.policy.length > 0 ? options.policy : undefined,
    clientReady: seams.clientReady,
    clientPlace: seams.clientPlace,
    // A subagent's host gets the command line of its parent host, which has already been checked.
    refusesMistakes: options.taskDepth === undefined,
    mcp: { isOff: options.noMcp, only: list(options.mcpServers) },
    trustProject: options.approve ? true : options.noApprove ? false : undefined,
    tools: {
      only: list(options.tools),
      exclude: list(options.excludeTools),
      none: options.noTools,
      noBuiltIn: options.noBuiltinTools,
    },
    taskDepth: wholeNumber("--task-depth", options.taskDepth, {
      pattern: /^\d{1,3}$/,
      what: "is no depth",
    }),
    taskAgents: list(options.taskAgents),
    agentName: options.agentName,
    taskFolder: options.taskFolder,
    startSubagentHost: async (request) => {
      const { startSubagentHost } = await import("./subagent-host.ts");
      return startSubagentHost(request, { options, environment });
    },
    prompt: {
      skillPaths: options.skill,
      templatePaths: options.promptTemplate,
      noSkills: options.noSkills ?? false,
      noTemplates: options.noPromptTemplates ?? false,
      noContextFiles: options.noContextFiles ?? false,
      systemPrompt: options.systemPrompt,
      appendSystemPrompts: options.appendSystemPrompt,
    },
    extensions: {
      paths: options.extension,
      onlyNamed: options.noExtensions ?? false,
      flagValues: options.unknown,
      onFlags: (flags) => settleUnknown(options, flags),
      mode: options.mode === "rpc" || options.mode === "json" ? options.mode : "print",
      sendUiRequest,
      showNotice,
      onShutdown,
      hostModules: async () => {
        await beforeExtensions?.();
        const { loadHostModules } = await import("../extensions/host-modules.ts");
        return loadHostModules(environment);
      },
    },
  };
}

/**
 * Where the session is stored. A trajectory includes subagents even if the session is not saved, so they are
 * kept in memory.
 */
async function storeOf(
  { noSession, trajectoryFile, store }: CliOptions,
  environment: ProcessEnvironment,
): Promise<CreateAgentSessionOptions["store"]> {
  if (!noSession) return store ?? environment.store;
  if (trajectoryFile === undefined) return undefined;
  const { MemorySessionStore } = await import("@tau-agent/coding-agent/session-store");
  return new MemorySessionStore();
}

/** If no folder is named, the workspace supplies its own. */
function sessionFolder(
  options: CliOptions,
  environment: ProcessEnvironment,
): Pick<CreateAgentSessionOptions, "cwd" | "workspace"> {
  const { cwd, workspace } = options;
  if (workspace === undefined) return { cwd: resolve(environment.cwd, cwd ?? "") };
  return { cwd, workspace: readWorkspace(options) };
}

/**
 * At most one of the flags may choose the conversation to start with. Clients of pi that name a file also
 * pass `--continue`; the file takes precedence.
 */
function sessionStart(options: CliOptions): SessionStart {
  const { session, fork, sessionId: id, noSession, trajectoryFile } = options;
  const isContinued = options.continue || options.resume;
  const chosen = [
    ["--session", session !== undefined],
    ["--continue", isContinued && session === undefined],
    ["--fork", fork !== undefined],
    ["--no-session", noSession],
  ].filter(([, isGiven]) => isGiven);
  if (chosen.length > 1) {
    const [first, second] = chosen.map(([name]) => String(name));
    refuse(String(first), `it rules out ${second}`);
  }
  if (noSession) return trajectoryFile === undefined ? { kind: "memory", id } : { kind: "new", id };
  if (session !== undefined) return { kind: "file", path: session, goesToItsFolder: true };
  if (fork !== undefined) return { kind: "fork", from: fork, id };
  if (isContinued) return { kind: "latest" };
  return id === undefined ? { kind: "new" } : { kind: "id", id };
}

function list(value: string | undefined): string[] | undefined {
  return value
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
