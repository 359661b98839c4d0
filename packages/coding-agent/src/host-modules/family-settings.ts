import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostPlaces } from "./host-places.ts";

type Values = Record<string, unknown>;

/** Settings and keys as extensions read them from the user's files, at once. */
export function familySettings({ agentDirectory, cwd: ownCwd }: HostPlaces): object {
  const auth = (path = join(agentDirectory, "auth.json")) => {
    const entries = () => readObject(path) as Record<string, { key?: string } & Values>;
    return {
      get: (provider: string) => entries()[provider],
      has: (provider: string) => Object.hasOwn(entries(), provider),
      hasAuth: (provider: string) => Object.hasOwn(entries(), provider),
      list: () => Object.keys(entries()),
      getAll: entries,
      getApiKey: async (provider: string) => entries()[provider]?.key,
      reload: () => {},
    };
  };
  const settings = (cwd = ownCwd, agentDir = agentDirectory) => {
    const user = () => readObject(join(agentDir, "settings.json"));
    const project = () => readObject(join(cwd, ".pi", "settings.json"));
    const get = (key: string): unknown => ({ ...user(), ...project() })[key];
    return {
      getGlobalSettings: user,
      getProjectSettings: project,
      getDefaultProvider: () => get("defaultProvider"),
      getDefaultModel: () => get("defaultModel"),
      getDefaultThinkingLevel: () => get("defaultThinkingLevel"),
      getTheme: () => get("theme"),
      getShellPath: () => get("shellPath"),
      getShellCommandPrefix: () => get("shellCommandPrefix"),
      getEnabledModels: () => get("enabledModels"),
      reload: async () => {},
    };
  };
  return {
    AuthStorage: { create: auth, fromFile: auth, inMemory: () => auth("") },
    readStoredCredential: (provider: string) => auth().get(provider),
    SettingsManager: { create: settings, inMemory: () => settings("", "") },
    loadSettings: () => settings().getGlobalSettings(),
  };
}

function readObject(path: string): Values {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? (value as Values) : {};
  } catch {
    return {};
  }
}
