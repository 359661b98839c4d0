import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AuthStore, type Credential } from "@tau-agent/models";
import { isJsonObject, parseObject } from "@tau-agent/rpc-protocol/plain";
import { attempt } from "@tau-agent/system";
import type { HostPlaces } from "../base/host-places.ts";
import { unsupported } from "../base/unsupported.ts";

type Values = Record<string, unknown>;

/** The defaults of settings, by pi's names; other settings are undefined by default. */
const defaults: Values = {
  compaction: { enabled: true, reserveTokens: 20_000, keepRecentTokens: 20_000 },
  branchSummary: { reserveTokens: 20_000 },
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 2000, maxDelayMs: 60_000 },
  images: { autoResize: true, blockImages: false },
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  packages: [],
  extensions: [],
  skills: [],
  prompts: [],
  themes: [],
  enableSkillCommands: true,
  hideThinkingBlock: false,
  quietStartup: false,
  collapseChangelog: false,
  showImages: true,
};

/** Getters whose name differs from that of their setting. */
const paths: Readonly<Record<string, string>> = {
  CompactionSettings: "compaction",
  CompactionEnabled: "compaction.enabled",
  CompactionReserveTokens: "compaction.reserveTokens",
  CompactionKeepRecentTokens: "compaction.keepRecentTokens",
  BranchSummarySettings: "branchSummary",
  RetrySettings: "retry",
  RetryEnabled: "retry.enabled",
  ImageAutoResize: "images.autoResize",
  BlockImages: "images.blockImages",
  ExtensionPaths: "extensions",
  SkillPaths: "skills",
  PromptTemplatePaths: "prompts",
  ThemePaths: "themes",
};

/** Synchronous access for extensions to the settings and keys in the user's files. */
export function piSettings({ agentDirectory, cwd: ownCwd }: HostPlaces): object {
  const settings = (cwd = ownCwd, agentDir = agentDirectory) =>
    settingsManager(
      () => readObject(join(agentDir, "settings.json")),
      () => readObject(join(cwd, ".pi", "settings.json")),
    );
  const auth = (path = join(agentDirectory, "auth.json")) => authStorage(path);
  return {
    AuthStorage: { create: auth, fromFile: auth, inMemory: () => auth("") },
    readStoredCredential: (provider: string) => auth().get(provider),
    SettingsManager: {
      create: settings,
      inMemory: (values: Values = {}) =>
        settingsManager(
          () => values,
          () => ({}),
        ),
    },
    loadSettings: () => settings().getGlobalSettings(),
  };
}

interface SettingsManager {
  getGlobalSettings(): Values;
  getProjectSettings(): Values;
  readonly [member: string]: (...given: never[]) => unknown;
}

/** Every `getX` reads the setting `x`; every `setX` changes it for this manager only. */
function settingsManager(user: () => Values, project: () => Values): SettingsManager {
  let own: Values = {};
  const read = (path: string): unknown => {
    const layers = [defaults, user(), project(), own];
    const [key = "", member] = path.split(".");
    const merged = layers.map((layer) => layer[key]).reduce(mergeValues, undefined);
    return member === undefined ? merged : (merged as Values | undefined)?.[member];
  };
  const pathOf = (name: string) => paths[name] ?? `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  const fixed: SettingsManager = {
    getGlobalSettings: user,
    getProjectSettings: project,
    applyOverrides: (values: Values) => {
      own = { ...own, ...values };
    },
    setDefaultModelAndProvider: (defaultProvider: string, defaultModel: string) => {
      own = { ...own, defaultProvider, defaultModel };
    },
    isProjectTrusted: () => false,
    reload: async () => {},
    flush: async () => {},
    drainErrors: () => [],
  };
  return new Proxy(fixed, {
    get: (target, member) => {
      if (typeof member !== "string" || Object.hasOwn(target, member)) {
        return Reflect.get(target, member);
      }
      const [, kind, name = ""] = /^(get|set)([A-Z]\w*)$/.exec(member) ?? [];
      if (kind === "get") return () => read(pathOf(name));
      if (kind !== "set") return undefined;
      return (value: unknown) => {
        const [key = "", part] = pathOf(name).split(".");
        const before = own[key] as Values | undefined;
        own = { ...own, [key]: part === undefined ? value : { ...before, [part]: value } };
      };
    },
  });
}

/** The later value wins; objects are merged by member. */
function mergeValues(before: unknown, after: unknown): unknown {
  if (after === undefined) return before;
  return isJsonObject(before) && isJsonObject(after) ? { ...before, ...after } : after;
}

/** The keys in a file and those set since; without a file, keys are only in memory. */
function authStorage(path: string) {
  const changed = new Map<string, Credential | undefined>();
  const runtime = new Map<string, string>();
  const entries = () => {
    const all = { ...readObject(path), ...Object.fromEntries(changed) };
    const there = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(there) as Record<string, { key?: string; access?: string } & Values>;
  };
  const change = (provider: string, credential: Credential | undefined): void => {
    changed.set(provider, credential);
    if (!path.endsWith("auth.json")) return;
    const store = new AuthStore(path.slice(0, -"auth.json".length));
    store.set(provider, credential).catch(() => {});
  };
  const has = (provider: string) => Object.hasOwn(entries(), provider);
  return {
    get: (provider: string) => entries()[provider],
    has,
    hasAuth: (provider: string) => runtime.has(provider) || has(provider),
    list: () => Object.keys(entries()),
    getAll: entries,
    getApiKey: async (provider: string) =>
      runtime.get(provider) ?? entries()[provider]?.key ?? entries()[provider]?.access,
    set: change,
    remove: (provider: string) => change(provider, undefined),
    logout: (provider: string) => change(provider, undefined),
    login: unsupported("AuthStorage.login"),
    setRuntimeApiKey: (provider: string, key: string) => void runtime.set(provider, key),
    removeRuntimeApiKey: (provider: string) => void runtime.delete(provider),
    setFallbackResolver: () => {},
    getOAuthProviders: () => [],
    drainErrors: () => [],
    reload: () => changed.clear(),
  };
}

function readObject(path: string): Values {
  const text = attempt(() => readFileSync(path, "utf8"));
  return (text && parseObject(text)) || {};
}
