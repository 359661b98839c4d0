import { type AgentTool, ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { ProtocolError } from "@tau-agent/rpc-protocol/plain";
import { SessionError } from "../base/errors.ts";
import type { ClosedRequest, HostRequests } from "../host-requests/host-requests.ts";
import { checkSchema } from "../structured-output/schema-check.ts";
import { readToolResult } from "./tool-result.ts";

/** A tool that the client runs. */
export interface HostToolDefinition {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly readOnly?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the model learns of it only from `tool_search`. */
  readonly deferLoading?: boolean | undefined;
}

/** The tools that the client runs, as the loop runs them. */
export class HostTools {
  readonly #requests: HostRequests;
  readonly #offer: (tools: readonly AgentTool[]) => void;

  /** @param offer - receives all tools each time. */
  constructor(requests: HostRequests, offer: (tools: readonly AgentTool[]) => void) {
    this.#requests = requests;
    this.#offer = offer;
  }

  /**
   * Replaces all tools; calls that are open go on.
   *
   * @throws {ProtocolError} `invalid_params` naming the member; {SessionError} `invalid_schema`. Nothing has
   *   changed then.
   */
  set(definitions: readonly HostToolDefinition[]): readonly string[] {
    const tools: AgentTool[] = [];
    const names = new Set<string>();
    for (const [index, definition] of definitions.entries()) {
      const { name } = definition;
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
      refuseSchema(definition.parameters, `tools[${index}].parameters`);
      tools.push(this.#toolOf(definition));
    }
    this.#offer(tools);
    return [...names];
  }

  #toolOf({
    name,
    label,
    description,
    parameters,
    readOnly,
    timeoutMs,
    deferLoading,
  }: HostToolDefinition): AgentTool {
    const requests = this.#requests;
    return {
      name,
      label: label ?? name,
      description,
      parameters,
      isReadOnly: readOnly ?? false,
      isDeferred: deferLoading ?? false,
      execute: async (args, { toolCallId, signal, onUpdate }) => {
        const closed = await requests.ask<ToolResult>({
          method: "host_tool",
          params: { toolName: name, arguments: args },
          toolCallId,
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
      },
    };
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

/** What the client sent; a result without content is an error. */
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
