import type { AgentTool, ToolHooks } from "@tau-agent/agent";
import type { ExtensionUiRequest, SessionEvent } from "@tau-agent/rpc-protocol";
import type { Diagnostic, HostRequests, OutputFile } from "@tau-agent/system";
import type { PromptResources } from "../resources/resources.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionParts } from "../session/session-parts.ts";
import { createAgentSessionPort } from "./agent-session-port.ts";
import type { SlashCommandInfo } from "./api/api.ts";
import type { ExtensionTool } from "./api/tool.ts";
import { agentToolOf } from "./context/agent-tool.ts";
import { ExtensionHooks } from "./extension-hooks.ts";
import { ExtensionSystem, type ExtensionSystemOptions } from "./extension-system.ts";
import { withRequestEvents } from "./hooks/request-events.ts";
import type { ExtensionFailure } from "./hooks/runner.ts";
import { createHeadlessUiPort, createUiPort, type ShowNotice, type UiPort } from "./ui/ui-port.ts";

export interface OpenExtensionsOptions extends Omit<ExtensionSystemOptions, "ui" | "onFailure"> {
  /** Sends dialogs and notices to a client; without it there is no user interface. */
  readonly sendUiRequest: ((request: ExtensionUiRequest) => void) | undefined;
  /** Shows notices if there is no client. */
  readonly showNotice?: ShowNotice | undefined;
  readonly requests: HostRequests;
  readonly onShutdown: (() => void) | undefined;
  readonly openOutput: () => OutputFile;
}

export interface ConnectedParts {
  readonly session: AgentSession;
  readonly parts: SessionParts;
  readonly resources: PromptResources;
  readonly textCommands: () => Promise<readonly SlashCommandInfo[]>;
}

/** The extensions of one session, from discovery to shutdown. */
export class OpenExtensions {
  readonly system: ExtensionSystem;
  readonly hooks: ExtensionHooks;
  readonly #options: OpenExtensionsOptions;
  readonly #ui: UiPort;
  readonly #tools = new WeakMap<ExtensionTool, AgentTool>();
  readonly #early: Diagnostic[] = [];
  #session: AgentSession | undefined;
  #gate: ToolHooks | undefined;
  #resources: PromptResources | undefined;

  constructor(options: OpenExtensionsOptions) {
    this.#options = options;
    const { sendUiRequest } = options;
    this.#ui =
      sendUiRequest === undefined
        ? createHeadlessUiPort(options.showNotice)
        : createUiPort({
            requests: options.requests,
            send: (request) => this.#send(request, sendUiRequest),
            onDialog: (phase, kind, title) => {
              const type = `ui_prompt_${phase}` as const;
              void this.system.runner.emit({ type, reason: "ui_prompt", kind, title });
            },
          });
    this.system = new ExtensionSystem({
      ...options,
      ui: this.#ui,
      stream: withRequestEvents(options.stream, () => this.system.runner),
      onFailure: (failure) => this.#report(failure),
    });
    this.hooks = new ExtensionHooks({
      system: this.system,
      place: options.execEnvironment,
      openOutput: options.openOutput,
      ui: this.#ui,
      addResources: (paths) => this.#resources?.addPaths(paths),
    });
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.system.diagnostics, ...this.#early];
  }

  get tools(): AgentTool[] {
    const { tools, context } = this.system.runner;
    const { gate, active } = {
      gate: () => this.#gate ?? this.hooks.tools,
      active: () => this.#session?.tools.callable ?? [],
    };
    const nested = {
      active,
      during: this.#ui.during,
      get hooks() {
        return gate();
      },
    };
    return tools.map((owned) => {
      const known = this.#tools.get(owned.tool) ?? agentToolOf(owned, context, nested);
      this.#tools.set(owned.tool, known);
      return known;
    });
  }

  get inactiveTools(): ReadonlySet<string> {
    const inactive = this.system.runner.tools.filter(({ tool }) => tool.defaultActive === false);
    return new Set(inactive.map(({ tool }) => tool.name));
  }

  connect({ session, parts, resources, textCommands }: ConnectedParts): void {
    this.#session = session;
    this.#gate = parts.gate;
    this.#resources = resources;
    let known: readonly SlashCommandInfo[] = [];
    const port = createAgentSessionPort({
      session,
      parts,
      system: this.system,
      hooks: this.hooks,
      resources,
      execEnvironment: this.#options.execEnvironment,
      textCommands: () => known,
      onShutdown: this.#options.onShutdown,
      toolsChanged: () => session.tools.offer("extension", this.tools, this.inactiveTools),
    });
    this.hooks.connect(port, async () => {
      known = await textCommands();
    });
    session.subscribe((event: SessionEvent) => this.hooks.observer?.observe(event), {
      holdsAborts: true,
    });
  }

  /** Before the session exists, there are no listeners. */
  #send(request: ExtensionUiRequest, send: (request: ExtensionUiRequest) => void): void {
    if (this.#session !== undefined) send(request);
  }

  #report(failure: ExtensionFailure): void {
    if (this.#session !== undefined) {
      void this.#session.report({ type: "extension_error", ...failure });
      return;
    }
    const message = `${failure.event} failed in ${failure.extensionPath}: ${failure.error}`;
    this.#early.push({ severity: "error", message, path: failure.extensionPath });
  }
}
