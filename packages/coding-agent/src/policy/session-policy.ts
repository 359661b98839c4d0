import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { durabilities } from "@tau-agent/rpc-protocol/plain";
import { starMatcher, tightenCeiling } from "@tau-agent/system";
import { stricterMode } from "../permissions/rules/stricter-mode.ts";
import { commonGlobs } from "./common-globs.ts";
import { policyDenied } from "./policy-denied.ts";

type Globs = string[] | undefined;

/** Limits that nothing in a session can widen: all given policies combined. */
export class SessionPolicy {
  /** The policies as they were given. */
  readonly given: readonly ManagedPolicy[];
  /** The combined policy. */
  readonly merged: ManagedPolicy;
  readonly #fits: (globs: Globs, name: string) => boolean = fitter();

  constructor(given: readonly ManagedPolicy[]) {
    this.given = given;
    this.merged = given.reduce(narrowed, {});
  }

  allowsTool(name: string): boolean {
    return this.memberAgainstTool(name) === undefined;
  }

  /** The member that excludes a tool; undefined if none does. */
  memberAgainstTool(name: string): string | undefined {
    const { allow, deny = [] } = this.merged.tools ?? {};
    if (deny.length > 0 && this.#fits(deny, name)) return "tools.deny";
    return this.#fits(allow, name) ? undefined : "tools.allow";
  }

  allowsModel({ provider, id }: { readonly provider: string; readonly id: string }): boolean {
    return this.#fits(this.merged.models, `${provider}/${id}`);
  }

  allowsServer(name: string): boolean {
    return this.#fits(this.merged.mcpServers, name);
  }

  /** @param names - the path of its file, and the source of its package */
  allowsExtension(...names: readonly (string | undefined)[]): boolean {
    const { extensions } = this.merged;
    if (extensions === false) return false;
    return names.some((name) => name !== undefined && this.#fits(extensions, name));
  }

  /** @param name - the name in the settings, or the id of an object; undefined for a workspace without either */
  allowsWorkspace(name: string | undefined): boolean {
    const { workspaces } = this.merged;
    if (workspaces === undefined) return true;
    return workspaces !== false && name !== undefined && workspaces.includes(name);
  }

  /** @throws {SessionError} `policy_denied` */
  requireTool(name: string): void {
    const member = this.memberAgainstTool(name);
    if (member !== undefined) throw policyDenied(member, `there is no tool ${name}`);
  }

  /** @throws {SessionError} `policy_denied` */
  requireModel(model: { readonly provider: string; readonly id: string }): void {
    if (this.allowsModel(model)) return;
    throw policyDenied("models", `${model.provider}/${model.id} is none of its models`);
  }

  /** @throws {SessionError} `policy_denied` */
  requireServers(names: readonly string[]): void {
    const name = names.find((each) => !this.allowsServer(each));
    if (name !== undefined) throw policyDenied("mcpServers", `${name} is none of its servers`);
  }
}

/** Combines two policies into one that allows only what both allow. */
function narrowed(one: ManagedPolicy, other: ManagedPolicy): ManagedPolicy {
  const merged = {
    permissions: optional(one.permissions, other.permissions, (a, b) => ({
      mode: optional(a.mode, b.mode, stricterMode),
      rules: optional(a.rules, b.rules, unique),
    })),
    sandbox: optional(one.sandbox, other.sandbox, tightenCeiling),
    tools: optional(one.tools, other.tools, (a, b) => ({
      allow: commonGlobs(a.allow, b.allow),
      deny: optional(a.deny, b.deny, unique),
    })),
    models: commonGlobs(one.models, other.models),
    mcpServers: commonGlobs(one.mcpServers, other.mcpServers),
    extensions: optional(one.extensions, other.extensions, (a, b) =>
      a === false || b === false ? false : (commonGlobs(a, b) ?? []),
    ),
    workspaces: optional(one.workspaces, other.workspaces, (a, b) =>
      a === false || b === false ? false : a.filter((name) => b.includes(name)),
    ),
    durability: optional(one.durability, other.durability, (a, b) =>
      durabilities.indexOf(a) > durabilities.indexOf(b) ? a : b,
    ),
  };
  return withoutAbsent(merged) as ManagedPolicy;
}

function optional<T>(
  one: T | undefined,
  other: T | undefined,
  join: (one: T, other: T) => T,
): T | undefined {
  return one === undefined || other === undefined ? (one ?? other) : join(one, other);
}

function unique<T>(one: readonly T[], other: readonly T[]): T[] {
  const all = [...one, ...other].map((each) => [JSON.stringify(each), each] as const);
  return [...new Map(all).values()];
}

function withoutAbsent(value: object): object {
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.map(([name, each]) => [
      name,
      typeof each === "object" && !Array.isArray(each) ? withoutAbsent(each) : each,
    ]),
  );
}

/** Compiles each list once. */
function fitter(): (globs: Globs, name: string) => boolean {
  const compiled = new Map<readonly string[], ((name: string) => boolean)[]>();
  return (globs, name) => {
    if (globs === undefined) return true;
    const matchers = compiled.get(globs) ?? globs.map(starMatcher);
    compiled.set(globs, matchers);
    return matchers.some((fits) => fits(name));
  };
}
