import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { coerceArguments } from "./coerce-arguments.ts";
import { ToolError } from "./errors.ts";
import { guardSchema } from "./guard-schema.ts";
import type { Check, GuardedSchema, SchemaProblem } from "./guarded-schema.ts";
import type { AgentTool } from "./tool.ts";

/** How many characters of the received arguments an error repeats. */
const MAX_SHOWN_CHARACTERS = 2000;

/**
 * The arguments of a call, coerced to the tool's schema.
 *
 * @throws {ToolError} with each invalid field, or with the text that is not JSON
 */
export async function validateArguments(
  tool: AgentTool,
  call: ToolCall,
): Promise<Record<string, unknown>> {
  const check = await argumentsCheck(tool);
  return check(call);
}

/** The same check as a function that is synchronous once loaded. */
export async function argumentsCheck(
  tool: AgentTool,
): Promise<(call: ToolCall) => Record<string, unknown>> {
  const guard = await guardSchema(tool.parameters, "parameters");
  return (call) => checkArguments(guard, tool, call);
}

function checkArguments(
  guard: GuardedSchema,
  tool: AgentTool,
  call: ToolCall,
): Record<string, unknown> {
  const refuse = (problems: readonly string[], received: string): never => {
    const lines = [...new Set(problems)].map((problem) => `\n  - ${problem}`).join("");
    throw new ToolError(
      `Validation failed for tool "${tool.name}":${lines}\n\nReceived arguments:\n${shorten(received)}`,
    );
  };
  if (call.argumentsError !== undefined) {
    return refuse(["arguments: not valid JSON, so nothing was run"], call.argumentsError);
  }
  const received = tool.prepareArguments?.(call.arguments) ?? call.arguments;
  const checked = guard.inTime(received, (problemsOf) => fitted(tool, received, problemsOf));
  if ("endless" in checked) return refuse([`arguments: ${checked.endless}`], shown(call));
  const { args, problems } = checked.result;
  return problems.length === 0 ? args : refuse(problems, shown(call));
}

/** The arguments coerced to the schema, and the remaining problems. */
function fitted(
  tool: AgentTool,
  received: Record<string, unknown>,
  problemsOf: Check,
): { readonly args: Record<string, unknown>; readonly problems: readonly string[] } {
  // Valid arguments are not coerced, because coercion is a guess.
  if (problemsOf(received).length === 0) return { args: received, problems: [] };
  const args = coerceArguments(received, tool.parameters) as Record<string, unknown>;
  const all = problemsOf(args);
  const own = all.filter(({ keyword }) => !structuralKeywords.has(keyword) || all.length === 1);
  return { args, problems: own.map(describeProblem) };
}

function shown(call: ToolCall): string {
  return JSON.stringify(call.arguments, null, 2);
}

/** Keywords that only report that something nested in them has failed. */
const structuralKeywords = new Set(["properties", "items", "anyOf", "oneOf", "allOf", "$ref"]);

/** The two most frequent problems, phrased in the way that models understand best. */
function describeProblem({ keyword, instanceLocation, error }: SchemaProblem): string {
  const path = fieldPath(instanceLocation);
  const name = /"([^"]+)"\.$/.exec(error)?.[1];
  if (name === undefined) return `${path}: ${error}`;
  if (keyword === "type") return `${path}: must be ${name}`;
  if (keyword !== "required") return `${path}: ${error}`;
  const missing = path === "arguments" ? name : `${path}.${name}`;
  return `${missing}: must have required property '${name}'`;
}

function fieldPath(pointer: string): string {
  const path = pointer
    .replace(/^#\/?/, "")
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
  return path === "" ? "arguments" : path;
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`;
}
