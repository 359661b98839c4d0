import { ToolError } from "@tau-agent/agent";
import type { KeptCredentials } from "@tau-agent/models";
import type {
  AnswerQuestions,
  Approve,
  GetCredentials,
  ManagedPolicy,
  RaiseBudget,
  SessionEvent,
} from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { DiagnosticsEntry, ToolEnvironment } from "@tau-agent/system";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import {
  excludedFor,
  type Subagent,
  type SubagentRequest,
  type SubagentRunner,
} from "./subagent-runner.ts";

/** What is needed to start a subagent's host. */
export interface SubagentHostRequest {
  /** The program and its first arguments from the setting `task.command`; the host's own if undefined. */
  readonly command: readonly string[] | undefined;
  /** Arguments of the host, after `--mode rpc`. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables to add to its environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** The span to which its prompts belong. */
  readonly traceparent: string | undefined;
  /** The sandbox of its tools, in the form of the settings. */
  readonly sandbox: Readonly<Record<string, unknown>> | undefined;
  /** Limits that its session must not be able to widen. */
  readonly policy: readonly ManagedPolicy[];
  /** Where its tools act, if the arguments contain `--workspace`; undefined for the machine of its host. */
  readonly workspace: Workspace | undefined;
  /** The checks for files that its tools change, if they do not come from the settings. */
  readonly diagnostics: { readonly entries: readonly DiagnosticsEntry[] } | undefined;
  /** Ends the host, even one that fails to start. */
  readonly signal: AbortSignal;
  /** The subagent waits for a returned promise. */
  readonly onEvent: (event: SessionEvent) => void | Promise<void>;
  /** Answers its tools' requests for approval. */
  readonly approve: Approve;
  /** Decides about limits that it has used up. */
  readonly raiseBudget: RaiseBudget;
  /** Answers the questions of its model; undefined if nobody can. */
  readonly answerQuestions: AnswerQuestions | undefined;
  /** Provides the keys of providers; undefined if the session has no such source. */
  readonly credentials: GetCredentials | undefined;
}

/** The part of an RPC client that a subagent uses. */
export type SubagentHost = Subagent;

/** Starts a host; the caller provides the protocol's client. */
export type StartSubagentHost = (request: SubagentHostRequest) => Promise<SubagentHost>;

export interface ProcessRunnerOptions {
  readonly startHost: StartSubagentHost;
  /** `{cwd}` is replaced with the subagent's folder. */
  readonly command: () => readonly string[] | undefined;
  /** The hosts' environment variables, and the registry that kills them. */
  readonly environment: Pick<ToolEnvironment, "environment" | "processes" | "sandbox">;
  /** The source of the session's keys. */
  readonly credentials: KeptCredentials;
  readonly policy: readonly ManagedPolicy[];
  readonly diagnostics?: SubagentHostRequest["diagnostics"];
  /** The session's workspace if it is remote. Hosts of subagents reach it through this host. */
  readonly workspace?: SubagentHostRequest["workspace"];
}

export function createProcessRunner(options: ProcessRunnerOptions): SubagentRunner {
  const { command, environment, credentials } = options;
  return async (request) => {
    const { cwd, onEvent, budget, signal, permissions } = request;
    const { approve, raiseBudget, answerQuestions } = request;
    const own = command() ?? [];
    const words = own.length === 0 ? undefined : own.map((word) => word.replaceAll("{cwd}", cwd));
    const { workspace } = options;
    const args = [...hostArguments(request), ...workspaceArguments(workspace, cwd)];
    const planned = environment.processes.prepareHost(environment.environment);
    const { traceparent } = request;
    const variables = withTrace(planned.variables, traceparent);
    const sandbox = environment.sandbox?.inherited;
    const started = await options
      .startHost({
        command: words,
        args,
        cwd,
        variables,
        traceparent,
        sandbox,
        policy: options.policy,
        workspace,
        diagnostics: options.diagnostics,
        signal,
        onEvent,
        approve,
        raiseBudget,
        answerQuestions,
        credentials: credentials.isOffered ? (asked) => credentials.answer(asked) : undefined,
      })
      .catch((error: unknown) => {
        environment.processes.hostEnded(planned);
        if (words === undefined) throw error;
        const reason = errorMessage(error);
        throw new ToolError(
          `The setting task.command does not start a host: ${reason}`,
          undefined,
          {
            cause: error,
          },
        );
      });
    const host: SubagentHost & Required<Pick<SubagentHost, "setPermissions">> = {
      get sessionFile() {
        return started.sessionFile;
      },
      control: started.control,
      steer: started.steer && ((message) => started.steer?.(message) ?? Promise.resolve()),
      prompt: (...prompt) => started.prompt(...prompt),
      setBudget: (change) => started.setBudget(change),
      setPermissions: async (change) => {
        if (started.setPermissions === undefined) {
          throw new ToolError("The subagent's host cannot limit what its tools may do.");
        }
        await started.setPermissions(change);
      },
      setHostTools: async (tools) => started.setHostTools?.(tools),
      setHostUris: async (served) => started.setHostUris?.(served),
      setEventLevel: (level) => started.setEventLevel(level),
      used: async () => started.used?.(),
      transcript: async () => (await started.transcript?.()) ?? [],
      stop: async () => {
        // The subagent's command may have started processes that outlive it.
        await started.stop().finally(() => environment.processes.hostEnded(planned));
      },
    };
    try {
      await host.setPermissions(permissions).catch((error: unknown) => {
        // A host that cannot take permissions may still run if everything is allowed.
        if (!allowsAll(permissions)) throw error;
      });
      if (Object.keys(budget).length > 0) await host.setBudget(budget);
      const { added } = request.mcpServers;
      if (Object.keys(added).length > 0) await started.setMcpServers?.(added);
    } catch (error) {
      await host.stop();
      throw error;
    }
    return host;
  };
}

function allowsAll({ mode, rules = [] }: PermissionChange): boolean {
  return mode === "all" && rules.every(({ action }) => action === "allow");
}

/** Sets the active span, for hosts that do not support a traceparent in prompts. */
function withTrace(
  variables: Readonly<Record<string, string>>,
  traceparent: string | undefined,
): Readonly<Record<string, string>> {
  return traceparent === undefined ? variables : { ...variables, TRACEPARENT: traceparent };
}

/** This host is the client of the subagent's host, and serves the workspace to it. */
function workspaceArguments(workspace: Workspace | undefined, cwd: string): string[] {
  if (workspace === undefined) return [];
  return ["--workspace", JSON.stringify({ client: true, cwd, id: workspace.id })];
}

function hostArguments(request: SubagentRequest): string[] {
  const { agent, model, modelPattern, sessionDirectory } = request;
  const { spawns, tools } = agent;
  const args = ["--protocol", "pi", "--thinking", request.thinkingLevel];
  if (modelPattern !== undefined) args.push("--model", modelPattern);
  else if (model !== undefined) {
    args.push("--provider", model.provider, "--model", model.id);
  }
  for (const name of request.fallbackModels ?? []) args.push("--fallback-model", name);
  if (agent.maxTurns !== undefined) args.push("--max-turns", String(agent.maxTurns));
  if (request.resumes !== undefined) args.push("--session", request.resumes);
  else if (sessionDirectory === undefined) args.push("--no-session");
  else args.push("--session-dir", sessionDirectory);
  args.push("--name", `${agent.name}: ${request.id}`);
  args.push(request.isProjectTrusted ? "--approve" : "--no-approve");
  if (agent.systemPrompt !== "") args.push("--append-system-prompt", agent.systemPrompt);
  if (tools !== undefined) args.push("--tools", tools.join(","));
  const excluded = excludedFor(request);
  if (excluded.length > 0) args.push("--exclude-tools", excluded.join(","));
  if (request.maySpawn && spawns !== undefined) args.push("--task-agents", spawns.join(","));
  args.push("--task-depth", String(request.depth));
  // The name is used only in spans.
  if (request.traceparent !== undefined) args.push("--agent-name", agent.name);
  const { only } = request.mcpServers;
  args.push(...(only.length > 0 ? ["--mcp-servers", only.join(",")] : ["--no-mcp"]));
  if (request.standsFor !== undefined) args.push("--task-folder", request.standsFor);
  return args;
}
