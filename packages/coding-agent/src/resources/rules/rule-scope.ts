import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import { globFilter } from "@tau-agent/system";

export interface RuleScope {
  /** The scope as written in the file; undefined for text and all tools. */
  readonly tokens: readonly string[] | undefined;
  readonly globs: readonly string[] | undefined;
  readonly watchesText: boolean;
  readonly watchesThinking: boolean;
  readonly tools: readonly ToolScope[];
}

interface ToolScope {
  /** Undefined for all tools. */
  readonly name: string | undefined;
  /** Tests a path relative to the project; undefined if the file does not matter. */
  readonly isFile: ((path: string) => boolean) | undefined;
}

/** Whether a rule applies to a call; `file` if that depends on the call's file. */
export type ToolInterest = "always" | "file" | "never";

/**
 * Reads a rule's scope: `text`, `thinking`, `tool`, `tool:name`, `tool:name(glob, glob)`.
 *
 * @returns the scope, or the invalid word
 */
export function parseScope(
  tokens: readonly string[] | undefined,
  globs: readonly string[] | undefined,
): RuleScope | { readonly unknown: string } {
  const isAllowed = globs && fileTest(globs);
  const tools: ToolScope[] = [];
  const words = new Set<string>();
  for (const token of tokens ?? ["text", "tool"]) {
    const [, word = "", name, list] =
      /^([a-z]+)(?::([^()]+))?(?:\(([^()]*)\))?$/i.exec(token) ?? [];
    const isTool = /^tool(?:s|call|calls)?$/i.test(word);
    if (
      !isTool &&
      (!/^(?:text|thinking)$/i.test(word) || name !== undefined || list !== undefined)
    ) {
      return { unknown: token };
    }
    if (!isTool) words.add(word.toLowerCase());
    else {
      const isListed = list === undefined ? undefined : fileTest(splitList(list));
      tools.push({ name: name?.trim(), isFile: both(isAllowed, isListed) });
    }
  }
  // A rule about certain files does not apply to text, which belongs to no file.
  const isForFiles = globs !== undefined;
  return {
    tokens,
    globs,
    watchesText: words.has("text") && !isForFiles,
    watchesThinking: words.has("thinking") && !isForFiles,
    tools,
  };
}

/** Whether the scope applies to calls of a tool. */
export function interestIn(scope: RuleScope, toolName: string): ToolInterest {
  const own = scope.tools.filter(({ name }) => name === undefined || name === toolName);
  if (own.length === 0) return "never";
  return own.some(({ isFile }) => isFile === undefined) ? "always" : "file";
}

export function coversFiles(scope: RuleScope, toolName: string, paths: readonly string[]): boolean {
  return scope.tools.some(
    ({ name, isFile }) =>
      (name === undefined || name === toolName) && (isFile === undefined || paths.some(isFile)),
  );
}

/** Splits at commas outside brackets. */
export function splitList(list: string): string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const character of list) {
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character)) depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const pathNames = new Set(["path", "file_path", "filePath", "file", "filename", "paths"]);

/** The files of a call, as far as its arguments are known: during streaming, the last one may still grow. */
export function filesOf(
  call: Extract<AssistantContent, { type: "toolCall" }>,
  isComplete: boolean,
): string[] | undefined {
  const entries = Object.entries(call.arguments);
  const known = isComplete ? entries : entries.slice(0, -1);
  const found = known.filter(([name]) => pathNames.has(name)).flatMap(([, value]) => value);
  const paths = found.filter((value) => typeof value === "string");
  return paths.length > 0 || isComplete ? paths : undefined;
}

function fileTest(globs: readonly string[]): (path: string) => boolean {
  const filters = globs.map((glob) => globFilter(glob));
  return (path) => filters.some(({ matches }) => matches(path));
}

function both(
  first: ((path: string) => boolean) | undefined,
  second: ((path: string) => boolean) | undefined,
): ((path: string) => boolean) | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (path) => first(path) && second(path);
}
