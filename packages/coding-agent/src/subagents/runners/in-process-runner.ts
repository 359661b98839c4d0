import type { PromptStatus, SessionEvent, SubagentLevel } from "@tau-agent/rpc-protocol";
import type { SessionLogView, SessionStart } from "@tau-agent/sessions/log";
import type { HostTools } from "../../host-tools/host-tools.ts";
import type { HostUris } from "../../host-tools/host-uris.ts";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import type { SessionBudget } from "../budgets/session-budget.ts";
import {
  excludedFor,
  type Subagent,
  type SubagentControl,
  type SubagentRequest,
  type SubagentRunner,
  type SubagentUse,
} from "./subagent-runner.ts";

type SubagentSessionOptions = ReturnType<typeof sessionOptions>;

interface SubagentSession {
  readonly budget: SessionBudget;
  readonly permissions: { set(change: PermissionChange): void };
  readonly hostTools: Pick<HostTools, "inherit"> & { readonly uris: Pick<HostUris, "inherit"> };
  readonly log: SessionLogView;
  readonly subagents: SubagentControl;
  steer(text: string): Promise<unknown>;
  readonly lastAssistantText: string | null;
  readonly stats: SubagentUse;
  subscribe(listener: (event: SessionEvent) => void | Promise<void>): () => void;
  prompt(
    text: string,
    options: {
      readonly traceparent: string | undefined;
      readonly verbatim: boolean;
      readonly streamingBehavior: "followUp";
    },
  ): Promise<{ readonly status: PromptStatus; readonly error?: string | undefined }>;
  setSubagentLevel(level: SubagentLevel): Promise<void>;
  dispose(): Promise<void>;
}

/** Creates a session like the caller's with these differences, and this text in its system prompt. */
export type CreateSubagentSession = (
  options: SubagentSessionOptions,
  systemPrompt: string,
) => Promise<SubagentSession>;

export function createInProcessRunner(create: CreateSubagentSession): SubagentRunner {
  return async (request) => {
    const session = await create(sessionOptions(request), request.agent.systemPrompt);
    session.permissions.set(request.permissions);
    session.budget.setLimits(request.budget);
    session.subscribe((event) => request.onEvent(event));
    return subagentOf(session, request);
  };
}

function sessionOptions(request: SubagentRequest) {
  const { agent, sessionDirectory, mcpServers } = request;
  return {
    cwd: request.cwd,
    provider: undefined,
    model: request.modelPattern ?? request.model,
    fallbackModels: request.fallbackModels,
    maxTurns: request.agent.maxTurns,
    thinkingLevel: request.thinkingLevel,
    session: startOf(request),
    sessionDirectory,
    name: `${agent.name}: ${request.id}`,
    agentName: agent.name,
    tools: { only: agent.tools, exclude: excludedFor(request) },
    trustProject: request.isProjectTrusted,
    taskDepth: request.depth,
    taskAgents: agent.spawns,
    mcp: { isOff: mcpServers.only.length === 0, only: mcpServers.only },
    mcpServers: mcpServers.added,
    taskFolder: request.standsFor,
    approve: request.approve,
    raiseBudget: request.raiseBudget,
    answerQuestions: request.answerQuestions,
    // Permissions are set later as a change from the caller, so none are given at the start.
    permissions: undefined,
    clientReady: undefined,
  };
}

function startOf({ resumes, sessionDirectory }: SubagentRequest): SessionStart {
  if (resumes !== undefined) return { kind: "file", path: resumes };
  return { kind: sessionDirectory === undefined ? "memory" : "new" };
}

function subagentOf(
  session: SubagentSession,
  { traceparent }: Pick<SubagentRequest, "traceparent">,
): Subagent {
  return {
    get sessionFile() {
      return session.log.path;
    },
    control: session.subagents,
    steer: async (message) => void (await session.steer(message)),
    transcript: async () => [session.log.header, ...session.log.tree.entries],
    prompt: async (text, verbatim) => {
      // A resumed subagent may first have to settle a question of an earlier host.
      const options = { traceparent, verbatim, streamingBehavior: "followUp" } as const;
      const { status, error } = await session.prompt(text, options);
      const answer = session.lastAssistantText ?? "";
      if (status !== "paused") {
        return { status: status === "handled" ? "completed" : status, text: answer, error };
      }
      const limit = "It was stopped after the most turns that its agent may take (maxTurns).";
      return { status: "aborted", text: answer, error: limit };
    },
    setHostTools: async (tools) => session.hostTools.inherit(tools),
    setHostUris: async (served) => session.hostTools.uris.inherit(served),
    setEventLevel: (level) => session.setSubagentLevel(level),
    setBudget: async (change) => session.budget.setLimits(change),
    setPermissions: async (change) => session.permissions.set(change),
    used: async () => session.stats,
    stop: () => session.dispose(),
  };
}
