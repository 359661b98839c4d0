import { readEntry } from "@tau-agent/mcp";
import { isSettingKey, settingsTable } from "@tau-agent/system";
import type { ExtensionApi, ExtensionEvents } from "../api/api.ts";
import type { ExtensionEventName, RegisteredMcpServer } from "../api/events.ts";
import type { ProviderConfig } from "../api/models.ts";
import type { NativeProvider } from "../api/native-provider.ts";
import type { VirtualModel } from "../api/virtual-model.ts";
import type { AnyHandler, Extension } from "../load/registration.ts";
import type { Binding } from "../port/binding.ts";
import { type ExecEnvironment, execCommand } from "../port/exec.ts";
import { type RegisteredProvider, registrationOf } from "../providers/provider-config.ts";
import { shownText } from "../ui/shown-text.ts";

export interface ApiSources {
  readonly extension: Extension;
  readonly binding: Binding;
  readonly channels: ExtensionEvents;
  readonly execEnvironment: ExecEnvironment;
  /** Values of long command-line flags that the host does not know. */
  readonly flagValues: ReadonlyMap<string, string | true>;
  readonly onFailure: (event: string, error: unknown) => void;
  readonly registerProvider: (name: string, provider: RegisteredProvider) => void;
  readonly unregisterProvider: (name: string) => void;
  readonly registerVirtualModel: (definition: VirtualModel) => void;
  readonly unregisterVirtualModel: (provider: string, id: string) => void;
  readonly commands: () => ReturnType<ExtensionApi["getCommands"]>;
  readonly mcpServers: () => ReturnType<ExtensionApi["getMcpServers"]>;
  readonly mcpServersChanged: () => void;
  /** Members that only older hosts have: `typebox`, `zod`, `logger`, … */
  readonly extras: object;
}

export function createExtensionApi(sources: ApiSources): ExtensionApi {
  const api = { ...registrations(sources), ...actions(sources), events: channelsOf(sources) };
  return Object.defineProperties(api, Object.getOwnPropertyDescriptors(sources.extras));
}

/** A stale extension can neither add listeners nor send messages. */
function channelsOf({ binding, channels }: ApiSources): ExtensionApi["events"] {
  return {
    on: (channel, handler) => {
      binding.check("pi.events.on");
      return channels.on(channel, handler);
    },
    emit: (channel, data) => {
      binding.check("pi.events.emit");
      channels.emit(channel, data);
    },
  };
}

type Registrations = Pick<
  ExtensionApi,
  | "on"
  | "registerTool"
  | "registerCommand"
  | "registerShortcut"
  | "registerFlag"
  | "getFlag"
  | "registerMessageRenderer"
  | "registerEntryRenderer"
  | "registerMarkdownTransformer"
  | "registerToolRenderer"
  | "registerProvider"
  | "unregisterProvider"
  | "registerMcpServer"
  | "unregisterMcpServer"
  | "getMcpServers"
  | "registerVirtualModel"
  | "unregisterVirtualModel"
>;

/** Members that work immediately, even while the extension is loading. */
function registrations(sources: ApiSources): Registrations {
  const { extension, binding } = sources;
  const checked = (member: string): Extension => {
    binding.check(`pi.${member}`);
    return extension;
  };
  return {
    on: (name: ExtensionEventName, handler: unknown) =>
      checked("on").addHandler(name, handler as AnyHandler),
    registerTool: (tool) => {
      checked("registerTool").addTool(tool as Parameters<Extension["addTool"]>[0]);
      if (binding.isBound) binding.port("pi.registerTool").toolsChanged();
    },
    registerCommand: (name, command) => checked("registerCommand").addCommand(name, command),
    registerShortcut: (shortcut, options) => {
      checked("registerShortcut").shortcuts.set(shortcut, options);
    },
    registerFlag: (name, flag) => checked("registerFlag").addFlag(name, flag),
    getFlag: (name) => {
      const flag = checked("getFlag").flags.get(name);
      const given = flag === undefined ? undefined : sources.flagValues.get(name);
      if (given === undefined) return flag?.default;
      if (flag?.type === "boolean") return given === true || given !== "false";
      return given === true ? "" : given;
    },
    registerMessageRenderer: (type, renderer) => {
      checked("registerMessageRenderer").messageRenderers.set(type, renderer);
    },
    registerEntryRenderer: (type, renderer) => {
      checked("registerEntryRenderer").entryRenderers.set(type, renderer);
    },
    registerMarkdownTransformer: () => () => {},
    registerToolRenderer: () => () => {},
    registerProvider: (given: string | NativeProvider, config?: ProviderConfig) => {
      checked("registerProvider");
      sources.registerProvider(...registrationOf(given, config));
    },
    unregisterProvider: (name) => {
      checked("unregisterProvider");
      sources.unregisterProvider(name);
    },
    registerMcpServer: (name, config) => {
      const { mcpServers, path } = checked("registerMcpServer");
      checkMcpServer(name, config, { path, known: sources.mcpServers() });
      mcpServers.set(name, config);
      sources.mcpServersChanged();
    },
    unregisterMcpServer: (name) => {
      if (checked("unregisterMcpServer").mcpServers.delete(name)) sources.mcpServersChanged();
    },
    getMcpServers: () => sources.mcpServers(),
    unregisterVirtualModel: (provider, id) => {
      checked("unregisterVirtualModel");
      sources.unregisterVirtualModel(provider, id);
    },
    registerVirtualModel: (definition) => {
      checked("registerVirtualModel");
      sources.registerVirtualModel(definition);
    },
  };
}

/** @throws {Error} if the entry cannot be used, or the name belongs to another extension's server */
function checkMcpServer(
  name: string,
  config: unknown,
  { path, known }: { readonly path: string; readonly known: readonly RegisteredMcpServer[] },
): void {
  const read = readEntry(name, config, "extension");
  if ("problem" in read) throw new Error(`pi.registerMcpServer("${name}"): ${read.problem}`);
  const other = known.find((server) => server.name === name && server.extensionPath !== path);
  if (other === undefined) return;
  throw new Error(`pi.registerMcpServer("${name}"): ${other.extensionPath} has registered it`);
}

/** Members that act on the session, and therefore need one. */
function actions(sources: ApiSources): Omit<ExtensionApi, keyof Registrations | "events"> {
  const { binding, execEnvironment } = sources;
  const port = (member: string) => binding.port(`pi.${member}`);
  /** No caller awaits these, so their failures are reported as the extension's errors. */
  const later = (member: string, done: Promise<unknown>): void => {
    done.catch((error: unknown) => sources.onFailure(member, error));
  };
  return {
    sendMessage: (message, options = {}) =>
      later("sendMessage", port("sendMessage").sendMessage(message, options)),
    sendUserMessage: (content, options = {}) =>
      later("sendUserMessage", port("sendUserMessage").sendUserMessage(content, options)),
    appendEntry: (customType, data) => {
      const value = data === undefined ? {} : { data };
      port("appendEntry").append({ type: "custom", customType: shownText(customType), ...value });
    },
    setSessionName: (name) => port("setSessionName").setName(name),
    getSessionName: () => port("getSessionName").log.name,
    setLabel: (targetId, label) => {
      // Older hosts took a display name here.
      if (!binding.isBound) return binding.check("pi.setLabel");
      const text = label === undefined ? {} : { label };
      port("setLabel").append({ type: "label", targetId, ...text });
    },
    exec: (file, args, options) => {
      binding.check("pi.exec");
      return execCommand(execEnvironment, { file, args }, options);
    },
    getActiveTools: () => port("getActiveTools").activeTools(),
    getAllTools: () => port("getAllTools").allTools(),
    setActiveTools: (names) => port("setActiveTools").setActiveTools(names),
    getCommands: () => {
      port("getCommands");
      return sources.commands();
    },
    setModel: (model) => port("setModel").setModel(model),
    getThinkingLevel: () => port("getThinkingLevel").thinkingLevel,
    setThinkingLevel: (level) => port("setThinkingLevel").setThinkingLevel(level),
    getSettings: () => {
      const { settings } = port("getSettings");
      const keys = Object.keys(settingsTable).filter(isSettingKey);
      return Object.fromEntries(keys.map((key) => [key, settings.get(key)]));
    },
  };
}
