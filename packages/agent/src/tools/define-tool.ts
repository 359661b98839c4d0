import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  checkValue,
  isTypedSchema,
  jsonSchemaOf,
  type TypedSchema,
  type ValueOf,
} from "@tau-agent/rpc-protocol/plain";
import { ToolError } from "./errors.ts";
import type { AgentTool, ToolCallContext } from "./tool.ts";

type ToolParts<Arguments> = Omit<AgentTool, "parameters" | "execute"> & {
  /** The same as `isReadOnly`, under the name that tools of clients and extensions use. */
  readonly readOnly?: boolean;
  readonly execute: (args: Arguments, call: ToolCallContext) => Promise<ToolResult>;
};

/** A tool whose parameters are described by a schema library that infers their type. */
export interface SchemaTool<Schema extends TypedSchema<unknown>>
  extends ToolParts<ValueOf<Schema>> {
  readonly parameters: Schema;
}

/** A tool whose parameters are described by JSON Schema, including TypeBox. */
export interface JsonSchemaTool<Arguments> extends ToolParts<Arguments> {
  readonly parameters: object;
}

/**
 * Defines a tool. With a schema like zod's, `execute` gets the parsed arguments, with defaults and
 * transforms applied. With JSON Schema, declare their type: `defineTool<{ path: string }>`.
 */
export function defineTool<Schema extends TypedSchema<unknown>>(
  tool: SchemaTool<Schema>,
): AgentTool;
export function defineTool<Arguments = Record<string, unknown>>(
  tool: JsonSchemaTool<Arguments>,
): AgentTool;
export function defineTool(
  tool: SchemaTool<TypedSchema<unknown>> | JsonSchemaTool<Record<string, unknown>>,
): AgentTool {
  const { parameters, execute, ...rest } = withReadOnly(tool);
  // The arguments have been validated against the JSON Schema; the author declares their type.
  const run = execute as (args: unknown, call: ToolCallContext) => Promise<ToolResult>;
  const described = jsonSchemaOf(parameters);
  if (!isTypedSchema(parameters)) return { ...rest, parameters: described, execute: run };
  return {
    ...rest,
    parameters: described,
    execute: async (args, call) => {
      const checked = await checkValue(parameters, args);
      if ("value" in checked) return run(checked.value, call);
      const problems = checked.problems.map((problem) => `  - ${problem}`).join("\n");
      throw new ToolError(`Validation failed for tool "${tool.name}":\n${problems}`);
    },
  };
}

/** Applies a tool's `readOnly`, the name that tools of clients and extensions use. */
export function withReadOnly<Tool extends object>(tool: Tool): Tool {
  const { readOnly, ...rest } = tool as Tool & { readonly readOnly?: unknown };
  return typeof readOnly === "boolean" ? ({ isReadOnly: readOnly, ...rest } as never) : tool;
}
