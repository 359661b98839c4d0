import type { ModelRegistry } from "@tau-agent/models";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, lineOf, type SettingsStore } from "@tau-agent/system";
import type { ToolSet } from "../../tools/tool-set.ts";
import type { SessionSetup } from "./session-options.ts";

/**
 * Fails the start if settings.json, auth.json or models.json is broken: without its content, the session would not do
 * what its user wants. A single mistake in models.json only disables the member that contains it.
 *
 * @throws {SessionError} `invalid_settings`
 */
export async function refuseBrokenFiles(
  settings: SettingsStore,
  registry: ModelRegistry,
): Promise<void> {
  const auth = registry.keys.store;
  await auth.all();
  const found = [
    ...settings.diagnostics.filter(isOfSettings),
    ...auth.diagnostics,
    ...(await registry.diagnostics()).filter(({ severity }) => severity === "error"),
  ];
  const [first] = found.filter(({ path }) => path !== undefined);
  if (first === undefined) return;
  const { path = "", member, message, reason = message } = first;
  const line = first.line ?? (member === undefined ? undefined : await lineOf(path, member));
  const place = line === undefined ? path : `${path}:${line}`;
  throw new SessionError("invalid_settings", { path: place, reason }, { cause: first });
}

/**
 * Whether a diagnostic should fail the start. An invalid member of permissions does not: it only makes them stricter.
 */
function isOfSettings({ severity, member = "" }: Diagnostic): boolean {
  return severity === "error" && !/^permissions(?:\.|$)/.test(member);
}

/**
 * Problems with the selection of tools. If mistakes are refused, an unknown name fails the start. Extensions may add
 * tools later, so with extensions only a probable misspelling does.
 *
 * @throws {SessionError} `invalid_option`
 */
export function toolDiagnostics(
  tools: Pick<ToolSet, "diagnose">,
  { refusesMistakes, tools: { only = [] } = {} }: SessionSetup,
  hasExtensions: boolean,
): readonly Diagnostic[] {
  const diagnostics = tools.diagnose();
  if (!refusesMistakes) return diagnostics;
  const named = new Set(only.map((pattern) => pattern.replace(/^[+-]/, "")));
  const unknown = diagnostics.find(
    ({ member = "", code }) => named.has(member) && (!hasExtensions || code === "tool_misspelt"),
  );
  if (unknown === undefined) return diagnostics;
  throw new SessionError("invalid_option", {
    option: "tools",
    reason: `there is ${unknown.reason}`,
  });
}
