import type { ScenarioRequest } from "./scenario-request.ts";

/**
 * When a turn matches a request; all given members must hold. Members that end in `Matches` are regular
 * expressions, whose captures fill `{{1}}`, `{{2}}` or `{{name}}` in the turn's strings.
 */
export interface TurnCondition {
  readonly lastUserIncludes?: string | undefined;
  readonly lastUserMatches?: string | undefined;
  /** Matches any result of the last reply's calls. */
  readonly lastToolResultIncludes?: string | undefined;
  readonly lastToolResultMatches?: string | undefined;
  /** The tool with the last result. */
  readonly lastToolName?: string | undefined;
  readonly lastToolIsError?: boolean | undefined;
  readonly systemPromptIncludes?: string | undefined;
  /** Whether a tool of this name is offered. */
  readonly hasTool?: string | undefined;
  /** Whether any tool is offered; requests for summaries offer none. */
  readonly hasTools?: boolean | undefined;
  /** Whether the request ends in tool results. */
  readonly hasToolResults?: boolean | undefined;
}

/** The allowed members of a condition; an unknown member would always hold, so it is reported as a typing error. */
export const conditionMembers: readonly string[] = [
  "lastUserIncludes",
  "lastUserMatches",
  "lastToolResultIncludes",
  "lastToolResultMatches",
  "lastToolName",
  "lastToolIsError",
  "systemPromptIncludes",
  "hasTool",
  "hasTools",
  "hasToolResults",
] satisfies (keyof TurnCondition)[];

/** The captures of a condition's expressions, by number and name. */
export type Captures = Readonly<Record<string, string>>;

/** The captures if the condition holds, otherwise undefined. */
export function matchCondition(
  condition: TurnCondition | undefined,
  request: ScenarioRequest,
): Captures | undefined {
  if (condition === undefined) return {};
  const last = request.toolResults.at(-1);
  const results = request.toolResults.map((result) => result.text);
  const holds =
    includes([request.lastUserText], condition.lastUserIncludes) &&
    includes(results, condition.lastToolResultIncludes) &&
    includes([request.systemPrompt], condition.systemPromptIncludes) &&
    equals(last?.toolName, condition.lastToolName) &&
    equals(last?.isError, condition.lastToolIsError) &&
    equals(results.length > 0, condition.hasToolResults) &&
    equals(request.tools.length > 0, condition.hasTools) &&
    (condition.hasTool === undefined ||
      request.tools.some((tool) => tool.name === condition.hasTool));
  if (!holds) return undefined;
  const user = capture([request.lastUserText], condition.lastUserMatches);
  const result = capture(results, condition.lastToolResultMatches);
  return user === undefined || result === undefined ? undefined : { ...user, ...result };
}

/** Fills in `{{…}}` in every string of a value; unknown names are kept. */
export function fillCaptures<Value>(value: Value, captures: Captures): Value;
export function fillCaptures(value: unknown, captures: Captures): unknown {
  if (typeof value === "string") {
    return value.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => captures[name] ?? whole);
  }
  if (Array.isArray(value)) return value.map((member) => fillCaptures(member, captures));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, fillCaptures(member, captures)]),
  );
}

function includes(texts: readonly string[], part: string | undefined): boolean {
  return part === undefined || texts.some((text) => text.includes(part));
}

function equals<Value>(actual: Value, wanted: Value | undefined): boolean {
  return wanted === undefined || actual === wanted;
}

function capture(texts: readonly string[], pattern: string | undefined): Captures | undefined {
  if (pattern === undefined) return {};
  for (const text of texts) {
    const match = new RegExp(pattern, "m").exec(text);
    if (match === null) continue;
    const numbered = match
      .slice(1)
      .map((value, index) => [String(index + 1), value ?? ""] as const);
    return { ...Object.fromEntries(numbered), ...match.groups };
  }
  return undefined;
}
