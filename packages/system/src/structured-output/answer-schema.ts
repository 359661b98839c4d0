import { checkSchema, guardSchema } from "@tau-agent/agent";
import { attempt } from "../base/attempt.ts";

const READ_LIMIT_MS = 500;

const TOO_LARGE = "The number is too large: it must be between -1.797e308 and 1.797e308.";

export interface AnswerSchema {
  /** The text that tells the model what its answer must look like. */
  readonly instruction: string;
  /** The value in an answer, or the reason why there is none. */
  check(text: string): { readonly value: unknown } | { readonly problem: string };
  /** Why a value does not fit; undefined when it does. */
  problemOf(value: unknown): string | undefined;
  /** The values in a text: the whole text, or its last fenced block. Stops when checks take too long. */
  read(text: string): Iterable<unknown>;
}

/**
 * Reads a JSON Schema.
 *
 * @throws {ToolError} naming the invalid place
 */
export async function readAnswerSchema(schema: unknown): Promise<AnswerSchema> {
  checkSchema(schema, "outputSchema");
  const guard = await guardSchema(schema as object, "outputSchema");
  const problemOf = (value: unknown): string | undefined => {
    const infinite = placeOfInfinite(value);
    if (infinite !== undefined) return `${infinite}: ${TOO_LARGE}`;
    const checked = guard.inTime(value, (problemsOf) => problemsOf(value));
    if ("endless" in checked) return `The answer ${checked.endless}`;
    const lines = checked.result.map(
      ({ instanceLocation, error }) => `${instanceLocation}: ${error}`,
    );
    return lines.length === 0 ? undefined : lines.slice(0, 20).join("\n");
  };
  // Some mistakes only show when the validator is built.
  problemOf({});
  const instruction = `Your last message must be one JSON value and nothing else, fitting this JSON Schema:\n${JSON.stringify(schema)}`;
  return {
    instruction,
    problemOf,
    read: (text) => inTurn(withInner(candidatesOf(text))),
    check: (text) => {
      const problems: string[] = [];
      for (const value of inTurn(withInner([...candidatesOf(text), ...outermostOf(text)]))) {
        const problem = problemOf(value);
        if (problem === undefined) return { value };
        problems.push(problem);
      }
      return { problem: problems[0] ?? "It is not JSON." };
    },
  };
}

/**
 * The place of a number in a value that JSON cannot represent, such as the one `1e400` is parsed to: it
 * would become `null` on its way to the caller.
 */
function placeOfInfinite(root: unknown): string | undefined {
  const open: [place: string, value: unknown][] = [["#", root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [place, value] = next;
    if (typeof value === "number" && !Number.isFinite(value)) return place;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, part] of Object.entries(value)) open.push([`${place}/${name}`, part]);
  }
  return undefined;
}

function* inTurn(values: readonly unknown[]): Generator<unknown> {
  const deadline = performance.now() + READ_LIMIT_MS;
  for (const value of values) {
    yield value;
    if (performance.now() > deadline) return;
  }
}

/** The parts of an answer that may be JSON: all of it, or its last fenced block. */
function candidatesOf(text: string): (string | undefined)[] {
  return [text, [...text.matchAll(/```(?:json)?[ \t]*\n([^`]*)\n```/g)].at(-1)?.[1]];
}

/** The parts of an answer in prose that may be JSON: the outermost brackets or braces. */
function outermostOf(text: string): (string | undefined)[] {
  return [/[[{]/, /\{/, /\[/].map((first) => {
    const start = text.search(first);
    const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
    return start === -1 || end < start ? undefined : text.slice(start, end + 1);
  });
}

/** The values of texts that are JSON, followed by the values of JSON strings inside them. */
function withInner(texts: readonly (string | undefined)[]): unknown[] {
  const found = [...new Set(texts)].flatMap((text) => parsed(text));
  return [...found, ...found.flatMap((value) => (typeof value === "string" ? parsed(value) : []))];
}

function parsed(text: string | undefined): unknown[] {
  if (text === undefined) return [];
  return attempt(() => [JSON.parse(text)]) ?? [];
}
