import type { AgentTool } from "@tau-agent/agent";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { droppedByPolicy, policyDenied } from "../../policy/policy-denied.ts";
import { readPolicy } from "../../policy/read-policy.ts";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import type { SessionSetup } from "../options/session-options.ts";

/**
 * The policy of the options; without one, undefined, and no code is loaded.
 *
 * @throws {SessionError} `invalid_option`, naming the invalid member; `policy_denied` for an option that asks for more
 */
export async function readSessionPolicy(options: SessionSetup): Promise<SessionPolicy | undefined> {
  const { policy: given, tools, taskDepth = 0 } = options;
  const policy = await sessionPolicy(given);
  if (policy === undefined) return undefined;
  // Unavailable tools of a profile are left out silently.
  const named = taskDepth > 0 ? [] : [...(tools?.only ?? []), ...customNames(options)];
  for (const name of named) {
    if (!/^-|[*]/.test(name)) policy.requireTool(name.replace(/^[+]/, ""));
  }
  policy.requireServers(taskDepth > 0 ? [] : Object.keys(options.mcpServers ?? {}));
  return policy;
}

/**
 * The options with at least the durability that the policy requires.
 *
 * @throws {SessionError} `policy_denied` for an option that asks for less
 */
export function withDurabilityOf(
  policy: SessionPolicy | undefined,
  options: SessionSetup,
): SessionSetup {
  if (policy?.merged.durability !== "effects") return options;
  if (options.durability === "log") throw policyDenied("durability", WANTS_EFFECTS);
  return { ...options, durability: "effects" };
}

/** A diagnostic if the settings ask for less durability than the policy requires. */
export function weakerDurability(
  policy: SessionPolicy | undefined,
  settings: SettingsStore,
): readonly Diagnostic[] {
  const isWeaker = settings.has("durability") && settings.get("durability") === "log";
  if (!isWeaker || policy?.merged.durability !== "effects") return [];
  return [droppedByPolicy("durability", `The settings say log, and ${WANTS_EFFECTS}.`)];
}

const WANTS_EFFECTS = "effects survive the host";

function customNames({ customTools = [] }: SessionSetup): readonly string[] {
  return customTools.map(({ name }) => name);
}

/** Diagnostics for tools of settings and extensions that the policy excludes. */
export function leftOutByPolicy(
  policy: SessionPolicy | undefined,
  settings: SettingsStore,
  ofExtensions: readonly AgentTool[] = [],
): readonly Diagnostic[] {
  if (policy === undefined) return [];
  const named = (settings.get("defaultTools") ?? []).filter((pattern) => !/^-|[*]/.test(pattern));
  const names = [
    ...named.map((pattern) => ({ name: pattern.replace(/^[+]/, ""), from: "The settings name" })),
    ...ofExtensions.map(({ name }) => ({ name, from: "An extension brings" })),
  ];
  return names.flatMap(({ name, from }) => {
    const member = policy.memberAgainstTool(name);
    return member === undefined ? [] : [droppedByPolicy(member, `${from} ${name}.`)];
  });
}

/**
 * The combined policies; undefined if there are none.
 *
 * @throws {SessionError} `invalid_option`, naming the invalid member
 */
export async function sessionPolicy(
  given: SessionSetup["policy"],
): Promise<SessionPolicy | undefined> {
  const each: readonly unknown[] = given === undefined ? [] : [given].flat();
  if (each.length === 0) return undefined;
  const { SessionPolicy } = await import("../../policy/session-policy.ts");
  // Copied, so that it cannot change during the session.
  return new SessionPolicy(each.map((one) => structuredClone(readPolicy(one))));
}
