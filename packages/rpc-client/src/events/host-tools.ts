import type {
  HostToolCall,
  HostToolResult,
  HostToolUpdate,
  Params,
  ToolResult,
} from "@tau-agent/rpc-protocol";
import { checkValue, jsonSchemaOf, type TypedSchema } from "@tau-agent/rpc-protocol/plain";
import { RunningCalls } from "./running-calls.ts";

/** What a running tool receives besides its arguments. */
export interface HostToolContext {
  readonly toolCallId: string;
  /** The calling subagent, as in `subagent_start`; nested ids are joined by `/`. */
  readonly agentId?: string | undefined;
  /** Aborted when the host no longer wants the result. */
  readonly signal: AbortSignal;
  /** Reports the output so far: a text, or a result. */
  readonly update: (partial: string | ToolResult) => void;
}

interface HostToolParts<Arguments> {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  /** Whether the tool changes nothing, so that no approval is required. */
  readonly readOnly?: boolean;
  /** Whether its results may contain text from others, which models receive in a fence, as data. */
  readonly openWorld?: boolean;
  /** How long a call may take, in ms. */
  readonly timeoutMs?: number;
  /** Whether it is omitted from requests until the model finds it with `tool_search`. */
  readonly deferLoading?: boolean;
  /** Whether subagents also get the tool. */
  readonly subagents?: boolean;
  /** A string becomes a text result; a thrown error becomes an error result. */
  execute(
    args: Arguments,
    context: HostToolContext,
  ): string | ToolResult | Promise<string | ToolResult>;
}

/** A tool of the client, ready to be registered. */
export interface DefinedTool {
  readonly definition: Params<"set_host_tools">["tools"][number];
  run(args: Record<string, unknown>, context: HostToolContext): Promise<string | ToolResult>;
}

/** Defines a tool whose arguments are described and typed by a schema like zod's. */
export function defineTool<Arguments>(
  tool: HostToolParts<Arguments> & { readonly parameters: TypedSchema<Arguments> },
): DefinedTool;
/** Defines a tool whose arguments are described by JSON Schema. */
export function defineTool<Arguments = Record<string, unknown>>(
  tool: HostToolParts<Arguments> & { readonly parameters: object },
): DefinedTool;
export function defineTool({
  parameters,
  execute,
  ...described
}: HostToolParts<never> & { readonly parameters: object }): DefinedTool {
  return {
    definition: { ...described, parameters: jsonSchemaOf(parameters) },
    run: async (args, context) => {
      const checked = await checkValue(parameters, args);
      if ("problems" in checked) throw new TypeError(checked.problems.join("\n"));
      return execute(checked.value as never, context);
    },
  };
}

export class HostToolRunner extends RunningCalls<HostToolUpdate, HostToolResult> {
  tools: ReadonlyMap<string, DefinedTool> = new Map();

  run({ id, toolCallId, agentId, toolName, arguments: args }: HostToolCall): Promise<void> {
    return this.begin(id, async (signal, send) => {
      const update = (partial: string | ToolResult): void =>
        send({ type: "host_tool_update", id, partialResult: asResult(partial) });
      try {
        const tool = this.tools.get(toolName);
        if (tool === undefined) throw new Error(`This client has no tool ${toolName}`);
        const { isError, ...result } = asResult(
          await tool.run(args, { toolCallId, agentId, signal, update }),
        );
        return { type: "host_tool_result", id, result, ...(isError === true && { isError }) };
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return { type: "host_tool_result", id, result: asResult(text), isError: true };
      }
    });
  }
}

/** Registers tools with the host; if the host refuses them, the earlier ones stay. */
export async function registerTools(
  runner: HostToolRunner | undefined,
  tools: readonly DefinedTool[],
  send: (
    definitions: DefinedTool["definition"][],
  ) => Promise<{ readonly toolNames: readonly string[] }>,
): Promise<readonly string[]> {
  const previous = runner?.tools ?? new Map();
  const added = new Map(tools.map((tool) => [tool.definition.name, tool]));
  // Set before the host knows the tools, because the first call may arrive together with its answer. Replaced
  // tools are kept, because a reply that has begun may still call them.
  if (runner) runner.tools = new Map([...previous, ...added]);
  try {
    const { toolNames } = await send(tools.map(({ definition }) => definition));
    return toolNames;
  } catch (error) {
    if (runner) runner.tools = previous;
    throw error;
  }
}

function asResult(given: string | ToolResult): ToolResult {
  return typeof given === "string" ? { content: [{ type: "text", text: given }] } : given;
}
