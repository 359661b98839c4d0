import type { StreamFunction } from "@tau-agent/ai";
import type { ModelRegistry } from "@tau-agent/models";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, ResourceEntry } from "@tau-agent/system";
import type { ExtensionFactory } from "./api/api.ts";
import type { ExtensionMode } from "./api/context.ts";
import type { ProviderStream } from "./api/native-provider.ts";
import type { VirtualModel } from "./api/virtual-model.ts";
import { EventChannels } from "./context/event-channels.ts";
import { createExtensionApi } from "./context/extension-api.ts";
import {
  type ContextSources,
  createCommandContext,
  createContext,
} from "./context/extension-context.ts";
import { BEGIN_LIMIT_MS, inTime } from "./hooks/in-time.ts";
import { RegisteredServers } from "./hooks/registered-servers.ts";
import { type ExtensionFailure, ExtensionRunner } from "./hooks/runner.ts";
import { askProjectTrust } from "./hooks/session-events.ts";
import { type DiscoverOptions, discoverExtensions, type ExtensionFile } from "./load/discover.ts";
import { hostCodeOf } from "./load/host-code.ts";
import { type HostModules, hostNameOf, modulesElsewhere } from "./load/host-imports.ts";
import {
  type InlineFactory,
  inlineFactories,
  inOrder,
  type LoadedFactory,
  loadFactories,
  loadFailure,
} from "./load/load.ts";
import { madeTools } from "./load/made-tools.ts";
import { oldHostMembers } from "./load/old-host-members.ts";
import { Extension } from "./load/registration.ts";
import { withSourceInfo } from "./load/source-info.ts";
import { Binding, Staged } from "./port/binding.ts";
import type { ExecEnvironment } from "./port/exec.ts";
import type { SessionPort } from "./port/session-port.ts";
import { ModelsView } from "./providers/extension-models.ts";
import {
  type RegisteredProvider,
  registeredProviderOf,
  withProviderStreams,
} from "./providers/provider-config.ts";
import { VirtualModels } from "./providers/virtual-models.ts";
import type { UiPort } from "./ui/ui-port.ts";

export interface ExtensionSystemOptions extends Omit<DiscoverOptions, "part" | "entries"> {
  /** The setting `extensions`, which is read again on reload. */
  readonly entries: () => readonly ResourceEntry[];
  readonly hostModules: HostModules;
  readonly factories?: readonly (InlineFactory | ExtensionFactory)[];
  /** Long command-line flags that the host does not know. */
  readonly flagValues: ReadonlyMap<string, string | true>;
  readonly mode: ExtensionMode;
  readonly ui: UiPort;
  readonly registry: ModelRegistry;
  readonly stream: StreamFunction;
  readonly execEnvironment: ExecEnvironment;
  readonly onFailure: (failure: ExtensionFailure) => void;
}

type Part = "own" | "project";

/** One instance of each extension, and what they act on. */
interface Generation {
  readonly binding: Binding;
  readonly runner: ExtensionRunner;
}

/**
 * The extensions of a host: it finds, loads and runs them, and tells them when sessions begin and end. A new session
 * gets new instances of the same code; a reload also reads the code again.
 */
export class ExtensionSystem {
  readonly #options: ExtensionSystemOptions;
  readonly #hostModules: HostModules;
  readonly #channels: EventChannels;
  readonly #models: ModelsView;
  readonly #streams = new Map<string, ProviderStream>();
  readonly #providers = new Map<string, RegisteredProvider>();
  readonly #stream: StreamFunction;
  readonly #virtual: VirtualModels;
  readonly #parts = new Set<Part>();
  #diagnostics: Diagnostic[] = [];
  #untrusted: readonly Diagnostic[] = [];
  #factories: readonly LoadedFactory[] = [];
  #generation: Generation;
  #hasEnded = true;
  readonly mcpServers = new RegisteredServers(() => this.runner);

  constructor(options: ExtensionSystemOptions) {
    this.#options = options;
    const { hostModules, execEnvironment } = options;
    this.#hostModules =
      execEnvironment.elsewhere === undefined
        ? hostModules
        : modulesElsewhere(hostModules, () => this.#port("tools")?.toolEnvironment);
    this.#channels = new EventChannels((channel, error) => this.#fail(`events:${channel}`, error));
    this.#virtual = new VirtualModels({
      registry: options.registry,
      stream: withProviderStreams(options.stream, (name) => this.#streams.get(name)),
      context: () => this.runner.context,
      port: () => this.#port("route"),
    });
    this.#stream = this.#virtual.stream;
    this.#models = new ModelsView({
      registry: options.registry,
      stream: this.#stream,
      registered: this.#providers,
      registerProvider: (name, config) => this.#addProvider(name, config),
      unregisterProvider: (name) => this.#removeProvider(name),
    });
    this.#generation = this.#createGeneration([]);
  }

  /** The runner for the extensions of the current session. */
  get runner(): ExtensionRunner {
    return this.#generation.runner;
  }

  get stream(): StreamFunction {
    return this.#stream;
  }

  /** Whether the code of any extension contains a word. */
  mentions(word: "modelRegistry" | "getSystemPrompt"): boolean {
    return this.#factories.some(({ mentions }) => mentions.has(word));
  }

  /** Problems with extensions, including conflicts and unknown flags. */
  get diagnostics(): readonly Diagnostic[] {
    const untrusted = this.#parts.has("project") ? [] : this.#untrusted;
    return [...this.#diagnostics, ...untrusted, ...this.runner.conflicts, ...this.#unknownFlags()];
  }

  /** Loads and runs one group of extensions: the user's own before the project's. */
  async load(part: Part): Promise<void> {
    this.#parts.add(part);
    const known = new Set(this.#factories.map(({ file }) => file.realPath));
    const added = (await this.#find(part)).filter(({ realPath }) => !known.has(realPath));
    const inline = part === "own" ? this.#inline() : [];
    if (added.length + inline.length === 0) return;
    const factories = [...(await this.#import(added)), ...inline];
    this.#factories = inOrder([...this.#factories, ...factories]);
    const before = this.#generation;
    const fresh = await this.#instantiate(factories, before.binding);
    const order = this.#factories.map(({ file }) => file.realPath);
    const all = [...before.runner.extensions, ...fresh].sort(
      (a, b) => order.indexOf(a.file.realPath) - order.indexOf(b.file.realPath),
    );
    this.#generation = this.#createGeneration(all, before.binding);
  }

  /** Asks the user's extensions whether to trust the project. */
  askTrust() {
    return askProjectTrust(this.runner, this.#options.cwd);
  }

  async bind(port: SessionPort): Promise<void> {
    this.#hasEnded = false;
    if (this.mentions("modelRegistry")) {
      // A failure to list models must not keep the session from starting.
      await this.#models.refresh().catch((error) => this.#fail("modelRegistry", error));
    }
    this.#generation.binding.bind(port);
    this.mcpServers.tell();
  }

  /** Tells extensions that their session ends, once for each session. */
  async shutdown(event: {
    readonly reason: "quit" | "reload" | "new" | "resume" | "fork";
    readonly targetSessionFile?: string | undefined;
  }): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // Nobody can answer dialogs once the host ends.
    if (event.reason === "quit") this.#options.ui.close();
    else this.#options.ui.settleAll("end");
    await this.runner.emit({ type: "session_shutdown", ...event });
    this.#options.ui.settleAll("end");
  }

  /** Creates new instances for another session; the old ones become stale. */
  async renew(reason: string, port: SessionPort): Promise<void> {
    this.#retire(reason);
    const binding = new Binding();
    const extensions = await this.#instantiate(this.#factories, binding);
    this.#generation = this.#createGeneration(extensions, binding);
    await this.bind(port);
  }

  /** The current session. */
  #port(member: string): SessionPort | undefined {
    const { binding } = this.#generation;
    return binding.isBound ? binding.port(member) : undefined;
  }

  /** Discovers extensions again and reloads their code. */
  async reload(port: SessionPort): Promise<void> {
    this.#diagnostics = [];
    const files: ExtensionFile[] = [];
    for (const part of this.#parts) files.push(...(await this.#find(part)));
    this.#factories = inOrder([...(await this.#import(unique(files))), ...this.#inline()]);
    await this.renew("a reload", port);
  }

  async #find(part: Part): Promise<readonly ExtensionFile[]> {
    const { entries, hostModules, execEnvironment, ...places } = this.#options;
    const found = await discoverExtensions({ ...places, entries: entries(), part });
    const isHosts = (name: string) => hostNameOf(name, hostModules) !== undefined;
    execEnvironment.sandbox?.keepForHost(hostCodeOf(found, isHosts));
    this.#diagnostics.push(...found.diagnostics);
    if (part === "own") this.#untrusted = found.untrusted;
    return found.files;
  }

  #inline(): LoadedFactory[] {
    return inlineFactories(this.#options.factories ?? []);
  }

  async #import(files: readonly ExtensionFile[]): Promise<LoadedFactory[]> {
    const hostModules = this.#hostModules;
    const cacheDirectory = `${this.#options.agentDirectory}/cache`;
    const { factories, diagnostics } = await loadFactories(files, { hostModules, cacheDirectory });
    this.#diagnostics.push(...diagnostics);
    return factories;
  }

  /** Runs factories; registrations of a factory that fails are discarded. */
  async #instantiate(factories: readonly LoadedFactory[], binding: Binding): Promise<Extension[]> {
    const extensions: Extension[] = [];
    for (const loaded of factories) {
      const extension = new Extension(loaded.file);
      const staged = new Staged(binding);
      const listeners: (() => void)[] = [];
      try {
        const { cwd } = this.#options;
        const extras = { cwd, ...(await oldHostMembers(loaded.mentions, this.#hostModules)) };
        const channels = recording(this.#channels, listeners);
        const { execEnvironment, flagValues } = this.#options;
        const api = createExtensionApi({
          extension,
          binding: staged,
          channels,
          execEnvironment,
          flagValues,
          extras,
          onFailure: (event, error) => this.#fail(event, error, extension),
          registerProvider: (name, config) => {
            registeredProviderOf(name, config, execEnvironment.environment);
            if (staged.isCommitted) this.#addProvider(name, config);
            else extension.providers.set(name, config);
          },
          unregisterProvider: (name) => {
            extension.providers.delete(name);
            if (staged.isCommitted) this.#removeProvider(name);
          },
          registerVirtualModel: (definition) => {
            VirtualModels.check(definition);
            if (staged.isCommitted) this.#addVirtual(definition);
            else extension.virtualModels.set(`${definition.provider}/${definition.id}`, definition);
          },
          unregisterVirtualModel: (provider, id) => {
            extension.virtualModels.delete(`${provider}/${id}`);
            if (staged.isCommitted) this.#virtual.remove(provider, id);
          },
          mcpServers: () => this.runner.mcpServers,
          mcpServersChanged: () => {
            if (staged.isBound) this.mcpServers.changed();
          },
          commands: () => [
            ...this.runner.describedCommands,
            ...staged.port("pi.getCommands").textCommands.map(withSourceInfo),
          ],
        });
        for (const tool of madeTools(await this.#made(extension, loaded.factory(api))))
          api.registerTool(tool);
        for (const [name, config] of extension.providers) this.#addProvider(name, config);
        for (const definition of extension.virtualModels.values()) this.#addVirtual(definition);
        staged.isCommitted = true;
        extensions.push(extension);
      } catch (error) {
        for (const remove of listeners) remove();
        staged.invalidate("its own failed start");
        this.#diagnostics.push(loadFailure(loaded.file, error));
      }
    }
    return extensions;
  }

  /** Waits for the result of an extension's factory, which the start depends on. */
  #made<Made>(extension: Extension, made: Made | Promise<Made>): Promise<Made> {
    return inTime(made, {
      isAsking: () => this.#options.ui.isAsking,
      limitMs: BEGIN_LIMIT_MS,
      onSlow: (seconds) => {
        const error = new Error(`The start has been waiting for this extension for ${seconds} s`);
        this.#fail("load", error, extension);
      },
    });
  }

  #createGeneration(extensions: readonly Extension[], binding = new Binding()): Generation {
    const { ui, execEnvironment, mode } = this.#options;
    const sources: ContextSources = {
      binding,
      ui: ui.ui,
      hasUi: ui.hasUi,
      place: execEnvironment,
      mode,
      models: this.#models,
      onFailure: (event, error) => this.#fail(event, error),
      freshContext: () => this.runner.commandContext,
    };
    const runner = new ExtensionRunner({
      extensions,
      context: createContext(sources),
      commandContext: createCommandContext(sources),
      onFailure: this.#options.onFailure,
      isAsking: () => ui.isAsking,
    });
    return { binding, runner };
  }

  #retire(reason: string): void {
    this.#generation.binding.invalidate(reason);
    this.#channels.clear();
    this.#options.ui.settleAll("end");
    for (const name of [...this.#providers.keys()]) this.#removeProvider(name);
    this.#virtual.clear();
  }

  #addProvider(name: string, registered: RegisteredProvider): void {
    const { registry, execEnvironment } = this.#options;
    const { provider, stream } = registeredProviderOf(
      name,
      registered,
      execEnvironment.environment,
    );
    registry.addProvider(provider);
    this.#providers.set(name, registered);
    if (stream === undefined) this.#streams.delete(name);
    else this.#streams.set(name, stream);
    this.#modelsChanged();
  }

  #addVirtual(definition: VirtualModel): void {
    this.#virtual.add(definition);
    this.#modelsChanged();
  }

  #modelsChanged(): void {
    if (!this.#hasEnded) void this.#models.refresh().catch(() => {});
  }

  #removeProvider(name: string): void {
    if (!this.#providers.delete(name)) return;
    this.#options.registry.removeProvider(name);
    this.#streams.delete(name);
  }

  #unknownFlags(): Diagnostic[] {
    const known = this.runner.flagTypes;
    return [...this.#options.flagValues.keys()]
      .filter((name) => !known.has(name))
      .map((name) => ({
        severity: "warning",
        message: `--${name} is not a flag of this version or of an extension; it is ignored`,
      }));
  }

  #fail(event: string, error: unknown, extension?: Extension): void {
    const extensionPath = extension?.path ?? "";
    const reason = errorMessage(error);
    this.#options.onFailure({ extensionPath, event, error: reason });
  }
}

/** Records listeners, so that they can be removed. */
function recording(channels: EventChannels, removers: (() => void)[]) {
  return {
    on: (channel: string, handler: (data: unknown) => unknown) => {
      const remove = channels.on(channel, handler);
      removers.push(remove);
      return remove;
    },
    emit: (channel: string, data?: unknown) => channels.emit(channel, data),
  };
}

function unique(files: readonly ExtensionFile[]): ExtensionFile[] {
  return [...new Map(files.map((file) => [file.realPath, file])).values()];
}
