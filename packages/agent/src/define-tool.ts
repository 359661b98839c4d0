import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { ToolError } from "./errors.ts";
import type { AgentTool, ToolCallContext } from "./tool.ts";

/** A schema that checks values and can be told as JSON Schema: what `z.object(…)` of zod 4 is. */
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

/** A tool whose arguments are described by a schema of a library that knows their type. */
export interface SchemaTool<Schema extends ArgumentsSchema<unknown>>
  extends ToolParts<OutputOf<Schema>> {
  readonly parameters: Schema;
}

/** A tool whose arguments are described by JSON Schema, TypeBox's included. */
export interface JsonSchemaTool<Arguments> extends ToolParts<Arguments> {
  readonly parameters: object;
}

/**
 * Makes a tool. With a schema like zod's, `execute` gets what the schema makes of the arguments,
 * defaults and transforms included; with JSON Schema, say their type: `defineTool<{ path: string }>`.
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
  // What fits JSON Schema comes here as it is; its type is the author's word.
  const run = execute as (args: unknown, call: ToolCallContext) => Promise<ToolResult>;
  if (!isArgumentsSchema(parameters)) {
    return { ...rest, parameters: { ...parameters }, execute: run };
  }
  const { validate, jsonSchema } = parameters["~standard"];
  // Some vendors refuse a schema that names its dialect.
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
