import { isJsonObject, type JsonObject, nearestHint } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "../base/diagnostic.ts";
import { isForeignKey } from "./foreign-keys.ts";
import { isSettingKey, type SettingKey, settingKeys, settingsTable } from "./schema.ts";
import type { Setting } from "./setting.ts";

export type SettingsLayer = ReadonlyMap<SettingKey, unknown>;

export interface LayerSource {
  readonly path: string;
  readonly isProject: boolean;
}

/** The row of `key`, without its value type. */
function settingOf(key: SettingKey): Setting<unknown> {
  return settingsTable[key];
}

export function settingProblem(key: SettingKey, value: unknown): string | undefined {
  const setting = settingOf(key);
  if (setting.accepts(value)) return undefined;
  const shown = JSON.stringify(value)?.slice(0, 60) ?? String(value);
  return `${key} must be ${setting.type}, not ${shown}`;
}

function isGroup(key: string): boolean {
  return settingKeys.some((setting) => setting.startsWith(`${key}.`));
}

/**
 * Reads a settings object whose keys are nested, dotted or both. An invalid value is dropped alone,
 * without its group; an unknown key is dropped, too. Both are reported in `diagnostics`.
 */
export function readLayer(
  object: JsonObject,
  source: LayerSource,
  diagnostics: Diagnostic[],
): SettingsLayer {
  const layer = new Map<SettingKey, unknown>();
  const { path } = source;
  const report = (severity: Diagnostic["severity"], member: string, message: string) => {
    const reason = message.replace(/^Setting |; it is ignored$/g, "");
    diagnostics.push({ severity, message: `${message} (in ${path})`, path, member, reason });
  };
  const take = (key: SettingKey, value: unknown) => {
    if (value === null) return;
    const problem = settingProblem(key, value);
    if (problem !== undefined) report("error", key, `Setting ${problem}; it is ignored`);
    else if (source.isProject && settingOf(key).scope === "user") {
      report(
        "warning",
        key,
        `Setting ${key} is only read from the user's own settings; it is ignored`,
      );
    } else layer.set(key, value);
  };
  const visit = (values: JsonObject, prefix: string) => {
    for (const [name, value] of Object.entries(values)) {
      const key = prefix + name;
      if (isSettingKey(key)) take(key, value);
      else if (isGroup(key) && isJsonObject(value)) visit(value, `${key}.`);
      else if (isGroup(key))
        report("error", key, `Setting ${key} must be an object; it is ignored`);
      else if (!isForeignKey(key)) report("warning", key, unknownSetting(key));
    }
  };
  visit(object, "");
  // Older files say queueMode where newer ones say steeringMode.
  const queueMode = layer.get("queueMode");
  if (queueMode !== undefined && !layer.has("steeringMode")) layer.set("steeringMode", queueMode);
  return layer;
}

export function unknownSetting(key: string): string {
  return `Unknown setting ${key}${nearestHint(key, settingKeys)}`;
}

function mergeDeep(below: JsonObject, above: JsonObject): JsonObject {
  const merged = new Map(Object.entries(below));
  for (const [name, value] of Object.entries(above)) {
    const old = merged.get(name);
    merged.set(name, isJsonObject(old) && isJsonObject(value) ? mergeDeep(old, value) : value);
  }
  return Object.fromEntries(merged);
}

/** The merged value of `key` from `layers`, weakest first. */
export function mergedValue(key: SettingKey, layers: readonly SettingsLayer[]): unknown {
  const setting: Setting<unknown> = settingsTable[key];
  let result: unknown;
  for (const layer of layers) {
    const value = layer.get(key);
    if (value === undefined) continue;
    if (setting.merge === "deep" && isJsonObject(result) && isJsonObject(value)) {
      result = mergeDeep(result, value);
    } else if (setting.merge === "concat" && Array.isArray(result) && Array.isArray(value)) {
      result = [...new Set([...value, ...result])];
    } else result = value;
  }
  return result === undefined ? setting.default : result;
}
