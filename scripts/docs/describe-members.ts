import { memberSummaries } from "../../packages/rpc-protocol/src/member-summaries.ts";

type JsonSchema = Record<string, unknown>;

/** Types whose members have the same meanings. */
const sharedGroups: readonly (readonly [RegExp, string])[] = [
  [/^ExtensionUiRequest/, "ExtensionUiRequest"],
  [/^(?:Initialize|GetCapabilities)Response$/, "HostInfo"],
  [/^BranchResponse$/, "ForkResponse"],
  [/^SessionEntry$/, "KnownSessionEntry"],
  [/(?:Command|Response)$/, "request"],
];

/**
 * Adds a description to each member in `defs`. Throws if one has none, or if a description has no
 * member.
 */
export function describeMembers(
  defs: Readonly<Record<string, JsonSchema>>,
  prefixes: readonly string[],
): void {
  const longestFirst = [...prefixes].sort((a, b) => b.length - a.length);
  const prefix = new RegExp(`^(?:${longestFirst.join("|")})(?=[A-Z])`);
  const describer = new MemberDescriber();
  for (const [name, schema] of Object.entries(defs)) {
    describer.visit(schema, name.replace(prefix, ""));
  }
  describer.check();
}

class MemberDescriber {
  readonly #missing = new Set<string>();
  readonly #unused = new Set(
    Object.entries(memberSummaries).flatMap(([group, members]) =>
      Object.keys(members).map((member) => `${group}.${member}`),
    ),
  );

  /** `owner` is the type, or for an object without a name the member it is the value of. */
  visit(schema: unknown, owner: string): void {
    if (!isRecord(schema)) return;
    const { properties, anyOf, oneOf, items, additionalProperties } = schema;
    for (const [name, member] of Object.entries(isRecord(properties) ? properties : {})) {
      if (!isRecord(member)) continue;
      this.visit(member, name === "data" ? owner : name);
      // A member with only one possible value explains itself.
      if (!("const" in member)) member.description = this.#describe(owner, name);
    }
    for (const option of [anyOf, oneOf].flat()) this.visit(option, owner);
    this.visit(items, owner);
    this.visit(additionalProperties, owner);
  }

  check(): void {
    const missing = [...this.#missing].join(", ");
    if (missing !== "")
      throw new Error(`No description in (type-)member-summaries.ts of ${missing}`);
    const unused = [...this.#unused].join(", ");
    if (unused !== "")
      throw new Error(`(type-)member-summaries.ts describes what is not: ${unused}`);
  }

  #describe(owner: string, name: string): string {
    const shared = sharedGroups.filter(([pattern]) => pattern.test(owner));
    for (const group of [owner, ...shared.map(([, group]) => group), "everywhere"]) {
      const text = this.#take(group, name);
      if (text !== undefined) return text;
    }
    this.#missing.add(`${owner}.${name}`);
    return "";
  }

  #take(group: string, name: string): string | undefined {
    const text = memberSummaries[group]?.[name];
    if (text !== undefined) this.#unused.delete(`${group}.${name}`);
    return text;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
