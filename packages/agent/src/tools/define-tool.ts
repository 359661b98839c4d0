import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { ToolError } from "./errors.ts";
import type { AgentTool, ToolCallContext } from "./tool.ts";

/** A schema that validates values and converts to JSON Schema, such as `z.object(…)` of zod 4. */
export interface ArgumentsSchema<Arguments> {
  readonly "~standard": {
    readonly types?: { readonly output: Arguments } | undefined;
    readonly validate: (value: unknown) => Checked<Arguments> | Promise<Checked<Arguments>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

type Checked<Arguments> =
  | { readonly value: Arguments; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type ToolParts<Arguments> = Omit<AgentTool, "parameters" | "execute"> & {
  readonly execute: (args: Arguments, call: ToolCallContext) => Promise<ToolResult>;
};

type OutputOf<Schema extends ArgumentsSchema<unknown>> = NonNullable<
  Schema["~standard"]["types"]
>["output"];

/** A tool whose parameters are described by a schema library that infers their type. */
export interface SchemaTool<Schema extends ArgumentsSchema<unknown>>
  extends ToolParts<OutputOf<Schema>> {
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
export function defineTool<Schema extends ArgumentsSchema<unknown>>(
  tool: SchemaTool<Schema>,
): AgentTool;
export function defineTool<Arguments = Record<string, unknown>>(
  tool: JsonSchemaTool<Arguments>,
): AgentTool;
export function defineTool(
  tool: SchemaTool<ArgumentsSchema<unknown>> | JsonSchemaTool<Record<string, unknown>>,
): AgentTool {
  const { parameters, execute, ...rest } = tool;
  // Only arguments that fit the JSON Schema get here; their type is as the author declares it.
  const run = execute as (args: unknown, call: ToolCallContext) => Promise<ToolResult>;
  if (!isArgumentsSchema(parameters)) {
    return { ...rest, parameters: { ...parameters }, execute: run };
  }
  const { validate, jsonSchema } = parameters["~standard"];
  // Some vendors reject a schema that names its dialect.
  const { $schema: _, ...described } = jsonSchema.input({ target: "draft-2020-12" });
  return {
    ...rest,
    parameters: described,
    execute: async (args, call) => run(argumentsFrom(await validate(args), tool.name), call),
  };
}

function isArgumentsSchema(schema: object): schema is ArgumentsSchema<unknown> {
  return "~standard" in schema && Object(schema["~standard"]).jsonSchema !== undefined;
}

function argumentsFrom(checked: Checked<unknown>, tool: string): unknown {
  if (checked.issues === undefined) return checked.value;
  const problems = checked.issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return `  - ${keys.join(".") || "arguments"}: ${message}`;
  });
  throw new ToolError(`Validation failed for tool "${tool}":\n${problems.join("\n")}`);
}
