import { ToolError } from "@tau-agent/agent";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { SettingsStore } from "@tau-agent/system";

export interface VerifyCommand {
  readonly name: string;
  readonly command: string;
  readonly timeoutMs: number;
  readonly optional: boolean;
}

export interface VerifyPlan {
  readonly profile: string | undefined;
  readonly mode: "none" | "command";
  readonly commands: readonly VerifyCommand[];
  readonly onFailure: "return_failure" | "retry_once" | "discard_patch";
  /** The maximum number of repairs after a failure; only with `retry_once`. */
  readonly maxRetries: number;
}

/** The request of a call: off, a plan, or a plan that the settings disable. */
export type VerifyRequest =
  | { readonly kind: "off" }
  | { readonly kind: "disabled" }
  | { readonly kind: "plan"; readonly plan: VerifyPlan };

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const MAX_TIMEOUT_MS = 2_147_483_647;
const policies = ["return_failure", "retry_once", "discard_patch"] as const;

/**
 * Reads the `verify` argument together with the settings. A project's profiles are part of its
 * settings, so they count only once the project is trusted.
 *
 * @throws {ToolError} that names the invalid profile or field
 */
export function readVerifyRequest(
  verify: unknown,
  isIsolated: boolean,
  settings: Pick<SettingsStore, "get">,
): VerifyRequest {
  const isEnabled = settings.get("task.verification.enabled");
  const isRequired =
    isEnabled && isIsolated && settings.get("task.verification.requireForIsolated");
  const isAsked = verify !== undefined && verify !== null && verify !== false;
  if (!isAsked && !isRequired) return { kind: "off" };
  if (!isIsolated) {
    throw new ToolError(
      "verify works on isolated tasks only: set isolated to true or leave it out.",
    );
  }
  const config = readConfig(isAsked ? verify : true, settings);
  if (!isEnabled) return { kind: "disabled" };
  return { kind: "plan", plan: readPlan(config, settings) };
}

interface Config {
  readonly profile: string | undefined;
  readonly values: JsonObject;
}

function readConfig(verify: unknown, settings: Pick<SettingsStore, "get">): Config {
  if (verify === true || verify === "") {
    const profile = settings.get("task.verification.defaultProfile");
    if (profile !== "") return { profile, values: readProfile(profile, settings) };
    throw new ToolError(
      "There is no default verification profile: set task.verification.defaultProfile, or name a profile or commands in verify.",
    );
  }
  if (typeof verify === "string") return { profile: verify, values: readProfile(verify, settings) };
  if (!isJsonObject(verify)) {
    throw new ToolError(
      "verify must be a boolean, the name of a profile, or an object with commands.",
    );
  }
  const { profile, ...own } = verify;
  if (profile === undefined || profile === null) return { profile: undefined, values: own };
  if (profile !== true && typeof profile !== "string") {
    throw new ToolError("verify.profile must be a name.");
  }
  const { profile: name, values: base } = readConfig(profile, settings);
  // Given members replace those of the profile; commands are added to the profile's.
  const commands = [...listOf(base.commands), ...listOf(own.commands)];
  return { profile: name, values: { ...base, ...own, commands } };
}

function readProfile(name: string, settings: Pick<SettingsStore, "get">): JsonObject {
  const profiles = settings.get("task.verification.profiles");
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles).join(", ") || "none";
  throw new ToolError(
    `There is no verification profile "${name}" in task.verification.profiles (there: ${known}). Profiles of a project count once it is trusted.`,
  );
}

function readPlan({ profile, values }: Config, settings: Pick<SettingsStore, "get">): VerifyPlan {
  const { onFailure = "return_failure", mode = "command", maxRetries } = values;
  const policy = policies.find((word) => word === onFailure);
  if (policy === undefined) {
    throw new ToolError(`verify.onFailure must be one of ${policies.join(", ")}.`);
  }
  if (mode !== "command" && mode !== "none") {
    throw new ToolError('verify.mode must be "command" or "none".');
  }
  const commands = listOf(values.commands).map(readCommand);
  if (mode === "command" && commands.length === 0) {
    throw new ToolError("verify has no commands: a check that runs nothing proves nothing.");
  }
  const most = settings.get("task.verification.maxRetries");
  const retries = typeof maxRetries === "number" && maxRetries >= 0 ? Math.floor(maxRetries) : most;
  return { profile, mode, commands, onFailure: policy, maxRetries: Math.min(retries, most) };
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new ToolError("verify.commands must be a list.");
}

function readCommand(value: unknown, index: number): VerifyCommand {
  const at = `verify.commands[${index}]`;
  if (!isJsonObject(value)) throw new ToolError(`${at} must be an object with a command.`);
  const {
    name = `command ${index + 1}`,
    command,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    optional,
  } = value;
  if (typeof command !== "string" || command.trim() === "") {
    throw new ToolError(`${at}.command must be a shell command.`);
  }
  if (typeof name !== "string") throw new ToolError(`${at}.name must be a string.`);
  if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) {
    throw new ToolError(`${at}.timeoutMs must be a number above 0.`);
  }
  const limit = Math.min(timeoutMs, MAX_TIMEOUT_MS);
  return { name, command, timeoutMs: limit, optional: optional === true };
}
