import type { Validator } from "@cfworker/json-schema";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { coerceArguments } from "./coerce-arguments.ts";
import { ToolError } from "./errors.ts";
import type { AgentTool } from "./tool.ts";

/** How many characters of the received arguments an error repeats. */
const MAX_SHOWN_CHARACTERS = 2000;

/** The validators of tools' schemas; making one takes longer than a check (row "`read` turn: CPU"). */
export class Validators {
  readonly #made = new WeakMap<object, Validator>();
  #library: typeof import("@cfworker/json-schema") | undefined;

  async of({ parameters }: AgentTool): Promise<Validator> {
    this.#library ??= await import("@cfworker/json-schema");
    let validator = this.#made.get(parameters);
    if (validator === undefined) {
      validator = new this.#library.Validator(parameters, "2020-12", false);
      this.#made.set(parameters, validator);
    }
    return validator;
  }
}

/**
 * The arguments of a call, coerced to the tool's schema.
 *
 * @throws {ToolError} naming each field that does not fit, or showing the text that is not JSON.
 */
export async function validateArguments(
  tool: AgentTool,
  call: ToolCall,
  validators: Validators = new Validators(),
): Promise<Record<string, unknown>> {
  const check = await argumentsCheck(tool, validators);
  return check(call);
}

/** The same as a function that needs no waiting once it is there. */
export async function argumentsCheck(
  tool: AgentTool,
  validators: Validators = new Validators(),
): Promise<(call: ToolCall) => Record<string, unknown>> {
  const validator = await validators.of(tool);
  return (call) => checkArguments(validator, tool, call);
}

function checkArguments(
  validator: Validator,
  tool: AgentTool,
  call: ToolCall,
): Record<string, unknown> {
  if (tool.readArguments !== undefined) return tool.readArguments(call);
  if (call.argumentsError !== undefined) {
    throw new ToolError(
      `Validation failed for tool "${tool.name}":\n  - arguments: not valid JSON, so nothing was run\n\nReceived arguments:\n${shorten(call.argumentsError)}`,
    );
  }
  const received = tool.prepareArguments?.(call.arguments) ?? call.arguments;
  // Arguments that fit are left alone, because coercion is a guess.
  if (validator.validate(received).valid) return received;
  const args = coerceArguments(received, tool.parameters);
  const result = validator.validate(args);
  if (result.valid) return args as Record<string, unknown>;
  const problems = result.errors
    .filter((error) => !structuralKeywords.has(error.keyword) || result.errors.length === 1)
    .map((error) => `  - ${describeProblem(error)}`);
  throw new ToolError(
    `Validation failed for tool "${tool.name}":\n${[...new Set(problems)].join("\n")}\n\nReceived arguments:\n${shorten(JSON.stringify(call.arguments, null, 2))}`,
  );
}

/** Keywords that only repeat that something nested in them failed. */
const structuralKeywords = new Set(["properties", "items", "anyOf", "oneOf", "allOf", "$ref"]);

/** The two most frequent problems, in the wording that models know best. */
function describeProblem({ keyword, instanceLocation, error }: Problem): string {
  const path = fieldPath(instanceLocation);
  const name = /"([^"]+)"\.$/.exec(error)?.[1];
  if (name === undefined) return `${path}: ${error}`;
  if (keyword === "type") return `${path}: must be ${name}`;
  if (keyword !== "required") return `${path}: ${error}`;
  const missing = path === "arguments" ? name : `${path}.${name}`;
  return `${missing}: must have required property '${name}'`;
}

interface Problem {
  readonly keyword: string;
  readonly instanceLocation: string;
  readonly error: string;
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
