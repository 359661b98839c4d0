import { createModelRegistry } from "@tau-agent/models";
import { SessionLog } from "@tau-agent/sessions/log";
import { FileQueue, ProcessRegistry, SettingsStore } from "@tau-agent/system";
import { createStream } from "@tau-agent/ai";
import { ExtensionSystem, type ExtensionSystemOptions } from "../../extension-system.ts";
import type { ExtensionFailure } from "../../hooks/runner.ts";
import type { SessionPort } from "../session-port.ts";
import { createHeadlessUiPort } from "../../ui/ui-port.ts";
import { withWorkspace } from "../../../tools/common/local-place.ts";

/** A registry without models, in a folder. */
function emptyRegistry(agentDirectory: string) {
  return createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment: {},
    catalog: { providers: () => ({}), models: async () => [] },
  });
}

/** A session that records requests. */
export function fakePort(
  agentDirectory: string,
  changes: Partial<SessionPort> = {},
): SessionPort & { readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const log = SessionLog.create({ cwd: agentDirectory });
  const note =
    (name: string, result: unknown = undefined) =>
    (...given: unknown[]): never => {
      calls.push([name, ...given]);
      return result as never;
    };
  const done = Promise.resolve({ cancelled: false });
  return {
    calls,
    log,
    registry: emptyRegistry(agentDirectory),
    settings: SettingsStore.inMemory(),
    stream: createStream(),
    execEnvironment: { cwd: agentDirectory, environment: {}, processes: new ProcessRegistry({}) },
    toolEnvironment: {
      ...withWorkspace({
        ...{ cwd: agentDirectory, homeDirectory: agentDirectory, environment: {} },
        ...{ fileQueue: new FileQueue(), processes: new ProcessRegistry({}) },
      }),
      temporaryDirectory: agentDirectory,
    },
    model: undefined,
    scopedModels: [],
    thinkingLevel: "off",
    signal: undefined,
    isIdle: true,
    isProjectTrusted: false,
    hasPendingMessages: false,
    contextUsage: undefined,
    systemPrompt: "",
    promptInput: { tools: [], cwd: agentDirectory },
    buildSystemPrompt: async () => "",
    textCommands: [],
    setModel: note("setModel", Promise.resolve(true)),
    setThinkingLevel: note("setThinkingLevel"),
    abort: note("abort"),
    shutdown: note("shutdown"),
    compact: note("compact", Promise.resolve({})),
    sendMessage: note("sendMessage", Promise.resolve()),
    sendUserMessage: note("sendUserMessage", Promise.resolve()),
    append: (entry) => log.append(entry),
    messagesWith: () => [],
    pendingMessages: [],
    addEntries: note("addEntries", Promise.resolve()),
    setName: note("setName"),
    allTools: () => [],
    activeTools: () => [],
    setActiveTools: note("setActiveTools"),
    toolsChanged: note("toolsChanged"),
    waitForIdle: note("waitForIdle", Promise.resolve()),
    newSession: note("newSession", done),
    fork: note("fork", done),
    navigateTree: note("navigateTree", done),
    switchSession: note("switchSession", done),
    reload: note("reload", done),
    ...changes,
  };
}

/** An extension system for a folder, with the failures it reported. */
export function systemIn(agentDirectory: string, changes: Partial<ExtensionSystemOptions> = {}) {
  const failures: ExtensionFailure[] = [];
  const system = new ExtensionSystem({
    agentDirectory,
    cwd: agentDirectory,
    homeDirectory: agentDirectory,
    paths: [],
    onlyNamed: false,
    entries: () => [],
    hostModules: {},
    flagValues: new Map(),
    mode: "rpc",
    ui: createHeadlessUiPort(),
    registry: emptyRegistry(agentDirectory),
    stream: createStream(),
    execEnvironment: { cwd: agentDirectory, environment: {}, processes: new ProcessRegistry({}) },
    onFailure: (failure) => failures.push(failure),
    ...changes,
  });
  return { system, failures };
}
