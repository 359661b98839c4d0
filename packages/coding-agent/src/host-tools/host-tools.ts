import { type AgentTool, checkSchema, type ToolCallContext, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { ProtocolError, SessionError } from "@tau-agent/rpc-protocol/plain";
import { type ClosedRequest, type HostRequests, SparseSet } from "@tau-agent/system";
import type { SessionPolicy } from "../policy/session-policy.ts";
import type { HostUris } from "./host-uris.ts";
import { readToolResult } from "./tool-result.ts";

/** A tool that the client runs. */
export interface HostToolDefinition {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly readOnly?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the model can find it only through `tool_search`. */
  readonly deferLoading?: boolean | undefined;
  /** Whether subagents receive it, too. */
  readonly subagents?: boolean | undefined;
}

/** The context of a call of such a tool. */
export interface HostToolCallContext extends ToolCallContext {
  /** The subagent that makes the call; nested ids are joined by `/`. */
  readonly agentId?: string | undefined;
}

/** A client's tool and what runs it: the client itself, or the caller's session for a subagent. */
export interface RunnableHostTool {
  readonly definition: HostToolDefinition;
  run(args: Record<string, unknown>, context: HostToolCallContext): Promise<ToolResult>;
}

/** The client's tools in the form that the agent loop runs, and the URIs that the client serves. */
export class HostTools {
  readonly #requests: HostRequests;
  readonly #offer: (tools: readonly AgentTool[]) => void;
  readonly #policy: SessionPolicy | undefined;
  /** The URI schemes that the client serves. */
  readonly uris: HostUris;
  readonly #listeners = new SparseSet<() => void>();
  #tools: readonly RunnableHostTool[] = [];

  /** @param offer - receives all tools after each change */
  constructor(
    requests: HostRequests,
    offer: (tools: readonly AgentTool[]) => void,
    { uris, policy }: { readonly uris: HostUris; readonly policy?: SessionPolicy | undefined },
  ) {
    this.#requests = requests;
    this.uris = uris;
    this.#offer = offer;
    this.#policy = policy;
  }

  /**
   * Replaces all tools; open calls continue.
   *
   * @throws {ProtocolError} `invalid_params`, naming the member; {SessionError} `invalid_schema`,
   *   `policy_denied`. In these cases nothing changes.
   */
  set(definitions: readonly HostToolDefinition[]): readonly string[] {
    checkDefinitions(definitions);
    for (const { name } of definitions) this.#policy?.requireTool(name);
    this.inherit(
      definitions.map((definition) => ({
        definition,
        run: (args, context) => this.#ask(definition, args, context),
      })),
    );
    return definitions.map(({ name }) => name);
  }

  /** Replaces all tools with those of the caller's session. */
  inherit(tools: readonly RunnableHostTool[]): void {
    this.#tools = tools;
    this.#offer(tools.map(agentToolOf));
    for (const listener of this.#listeners) listener();
  }

  /** The tools for a subagent; its calls are reported with its id. The time limit is enforced here. */
  share(agentId: string): readonly RunnableHostTool[] {
    return this.#tools
      .filter(({ definition }) => definition.subagents === true)
      .map(({ definition: { timeoutMs: _, ...definition }, run }) => ({
        definition,
        run: (args, { agentId: nested, ...context }) =>
          run(args, {
            ...context,
            agentId: nested === undefined ? agentId : `${agentId}/${nested}`,
          }),
      }));
  }

  /** Calls the listener whenever the tools are replaced; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #ask(
    { name, timeoutMs }: HostToolDefinition,
    args: Record<string, unknown>,
    { toolCallId, agentId, signal, onUpdate }: HostToolCallContext,
  ): Promise<ToolResult> {
    const closed = await this.#requests.ask<ToolResult>({
      method: "host_tool",
      params: { toolName: name, arguments: args },
      toolCallId,
      agentId,
      timeoutMs,
      signal,
      onTimeout: "cancel",
      unanswered: "cancelled",
      onUpdate: (partial) => {
        const read = readToolResult(partial);
        if (read !== undefined) onUpdate(read);
      },
      read: (given) => ({ result: resultOf(given), outcome: "answered" }),
    });
    return outcomeOf(name, closed, timeoutMs);
  }
}

function agentToolOf({ definition, run }: RunnableHostTool): AgentTool {
  const { name, label, description, parameters, readOnly, openWorld, deferLoading } = definition;
  return {
    name,
    label: label ?? name,
    description,
    parameters,
    isReadOnly: readOnly ?? false,
    openWorld: openWorld ?? false,
    isDeferred: deferLoading ?? false,
    execute: run,
  };
}

function checkDefinitions(definitions: readonly HostToolDefinition[]): void {
  const names = new Set<string>();
  for (const [index, { name, parameters }] of definitions.entries()) {
    const problem = nameProblem(name, names);
    if (problem !== undefined) {
      const field = `tools[${index}].name`;
      throw new ProtocolError("invalid_params", {
        command: "set_host_tools",
        field,
        reason: problem,
      });
    }
    names.add(name);
    refuseSchema(parameters, `tools[${index}].parameters`);
  }
}

function nameProblem(name: string, known: ReadonlySet<string>): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return "it takes 1 to 64 letters, digits, underscores and dashes";
  }
  return known.has(name) ? "another tool of the list has this name" : undefined;
}

function refuseSchema(parameters: Record<string, unknown>, field: string): void {
  const { type = "object" } = parameters;
  if (type !== "object") {
    const reason = `expected the schema of an object, got ${JSON.stringify(type)}`;
    throw new SessionError("invalid_schema", { field, reason });
  }
  try {
    checkSchema(parameters, field);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new SessionError("invalid_schema", { field, reason: error.message });
  }
}

/** The result that the client sent; without content, an error. */
function resultOf(given: unknown): ToolResult {
  const { result, isError } = Object(given) as { result?: unknown; isError?: boolean };
  const read = readToolResult(result);
  if (read === undefined) {
    const text = "The client's result has no content that can be read.";
    return { content: [{ type: "text", text }], isError: true };
  }
  return isError === true ? { ...read, isError } : read;
}

function outcomeOf(
  name: string,
  { by, result, error }: ClosedRequest<ToolResult>,
  timeoutMs: number | undefined,
): ToolResult {
  if (result !== undefined) return result;
  if (error !== undefined) throw new ToolError(error);
  const reasons: Partial<Record<typeof by, string>> = {
    timeout: `it took longer than ${timeoutMs} ms`,
    nobody: "no client is there to run it",
    end: "the session has ended",
  };
  throw new ToolError(`The tool ${name} gave no result: ${reasons[by] ?? "it was aborted"}.`);
}
