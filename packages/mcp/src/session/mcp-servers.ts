import { isDeepStrictEqual } from "node:util";
import type { ToolCallContext } from "@tau-agent/agent";
import type { Attachment, ResourceReference, UserContent } from "@tau-agent/rpc-protocol/messages";
import {
  errorMessage,
  isJsonObject,
  type JsonObject,
  nearestHint,
  ProtocolError,
  SessionError,
} from "@tau-agent/rpc-protocol/plain";
import { within } from "@tau-agent/system";
import type { McpLogins } from "../auth/logins.ts";
import { loadMcpConfig } from "../config/load-config.ts";
import type { McpPlaces } from "../config/places.ts";
import { readEntry } from "../config/read-entry.ts";
import type { McpServerConfig } from "../config/server-entry.ts";
import { type OpenContext, openServer } from "../connection/open-server.ts";
import { McpServer, type McpStatus } from "../connection/server.ts";
import { cleanLine } from "../names/clean-text.ts";
import { Catalogue } from "../tools/catalogue.ts";
import { OpenCalls } from "../tools/open-calls.ts";
import { createResourceTools } from "../tools/resource-tools.ts";
import type { KeepData } from "../tools/result-content.ts";
import { askElicitation } from "./elicitation.ts";
import type { McpEnvironment, McpServerInfo, McpServerList } from "./environment.ts";
import { attachResource, readContents, serverWithResource } from "./prompt-resources.ts";
import { fetchPrompt, type PromptCommand, promptCommands } from "./remote-prompts.ts";
import { serverDemands } from "./server-demands.ts";
import { ServerNotes } from "./server-notes.ts";
import { describeServers } from "./server-section.ts";
import { toolInfo } from "./tool-info.ts";

/** How long a prompt waits for servers whose tools it declares. */
const READY_MS = 10_000;
/** After this wait, users see what is being waited for. */
const WAIT_NOTE_MS = 1000;
const MAX_REASON = 1000;
const DIRECT_SHARE = 0.1;
const DEFAULT_WINDOW = 128_000;

/** Servers that are not from a file, as entries by name. */
interface GivenServers {
  /** The embedder's servers. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly registered: Readonly<Record<string, unknown>>;
}

export class McpServers {
  readonly #environment: McpEnvironment;
  readonly #openContext: OpenContext;
  readonly #logins: McpLogins;
  readonly #calls = new OpenCalls();
  readonly #catalogue: Catalogue;
  readonly #keep: KeepData;
  #servers = new Map<string, McpServer>();
  /** The servers of the files. */
  #configured: readonly McpServerConfig[] = [];
  #registered: readonly McpServerConfig[] = [];
  /** Whether only the servers that this session added are used. */
  #isStopped = false;
  #added: readonly McpServerConfig[] = [];
  #errors: readonly string[] = [];
  readonly #notes: ServerNotes;
  #startedAt = 0;
  #isEnded = false;

  constructor(
    environment: McpEnvironment,
    parts: {
      readonly openContext: Omit<OpenContext, "note" | "authorize">;
      readonly logins: McpLogins;
      readonly keep: KeepData;
    },
  ) {
    this.#environment = environment;
    this.#notes = new ServerNotes((note) => environment.note(environment.maskKeys(note)));
    this.#logins = parts.logins;
    this.#keep = parts.keep;
    this.#openContext = {
      ...parts.openContext,
      authorize: (target) => parts.logins.providerFor(target),
      note: (server, message) => this.#notes.add(server, message),
    };
    this.#catalogue = new Catalogue({
      calls: this.#calls,
      keep: parts.keep,
      canRead: () => this.#withResources().length > 0,
      openPages: (...request) => this.#openPages(...request),
      isDeclared: (name) => environment.tools.wasRequested(name),
      maxDirectTokens: () => (environment.contextWindow() ?? DEFAULT_WINDOW) * DIRECT_SHARE,
      note: (server, message) => this.#notes.add(server, message),
    });
  }

  /** Reads the files and starts the enabled servers; they connect in the background. */
  async start(places: McpPlaces, { given, registered }: GivenServers): Promise<void> {
    const { servers, errors } = await loadMcpConfig(places);
    this.#configured = servers;
    this.#registered = this.#read(registered, "extension");
    this.#errors = errors;
    for (const message of errors) {
      this.#environment.note({ severity: "error", code: "invalid_mcp_config", message });
    }
    const { only } = this.#environment;
    const isWanted = ({ name }: McpServerConfig) => only === undefined || only.includes(name);
    this.#added = this.#read(given, "session").filter(isWanted);
    await this.#apply();
  }

  async register(servers: Readonly<Record<string, unknown>>): Promise<void> {
    this.#registered = this.#read(servers, "extension");
    await this.#apply();
  }

  /** Resolves when direct tools are available, or 10 s after the start. */
  async ready(): Promise<void> {
    const waiting = [...this.#servers.values()].filter(
      ({ status, config }) => status === "connecting" && mayBeDirect(config),
    );
    const left = this.#startedAt + READY_MS - performance.now();
    if (waiting.length === 0 || left <= 0) return;
    const names = waiting.map(({ config }) => config.name);
    const notice = setTimeout(() => this.#noteWait(names, left), Math.min(WAIT_NOTE_MS, left));
    await within(left, Promise.all(waiting.map((server) => server.settled())));
    clearTimeout(notice);
  }

  #noteWait(names: readonly string[], waitMs: number): void {
    const seconds = Math.ceil(waitMs / 1000);
    const message = `Waiting up to ${seconds} s for MCP servers that connect (a program that npx starts may have to be downloaded first): ${names.join(", ")}. After that the prompt goes on without their tools`;
    this.#environment.note({ severity: "warning", code: "mcp_waiting", message });
  }

  /** Resolves when no server is connecting for the first time. */
  async settled(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.settled()));
  }

  list(): McpServerList {
    const entries = this.#catalogue.entries;
    const servers = [...this.#servers.values()].map((server): McpServerInfo => {
      const { config, status, error, restarts, transport } = server;
      const own = entries.filter((entry) => entry.server === server);
      return {
        name: config.name,
        source: config.source,
        transport,
        status,
        ...(error === undefined ? {} : { error }),
        exposure: config.entry.exposure ?? this.#catalogue.fallbackExposure,
        restarts,
        tools: own.map(toolInfo),
      };
    });
    return { servers, errors: [...this.#errors] };
  }

  /**
   * Replaces the servers that this session added; with none, those of the files stop, too.
   *
   * @throws {ProtocolError} `invalid_params` naming the entry; then nothing has changed
   */
  async set(servers: Readonly<Record<string, unknown>>): Promise<McpServerList> {
    this.#added = this.#read(servers, "session");
    this.#isStopped ||= this.#added.length === 0;
    await this.#apply();
    return this.list();
  }

  /** Logs in to a server; resolves once it is connected. */
  async login(name: string): Promise<void> {
    const server = this.#find(name);
    await this.#logins.login(server.config, this.#openContext);
    await server.reconnect();
    if (server.status === "connected") return;
    const reason = server.error ?? server.status;
    throw new SessionError("mcp_login_failed", { server: name, reason });
  }

  async logout(name: string): Promise<void> {
    const server = this.#find(name);
    await this.#logins.logout(server.config, this.#openContext);
    await server.reconnect();
  }

  get section(): string {
    return describeServers([...this.#servers.values()], this.#catalogue);
  }

  get commands(): readonly PromptCommand[] {
    return promptCommands([...this.#servers.values()]);
  }

  /** The content that a server's command is replaced by; undefined for any other text. */
  async expand(text: string): Promise<readonly UserContent[] | undefined> {
    const [, name, rest = ""] = /^\/(mcp__\w+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
    const command = this.commands.find((known) => known.name === name);
    if (command === undefined) return undefined;
    try {
      return await fetchPrompt(command, rest, this.#keep);
    } catch (error) {
      throw failureOf(command.server, error);
    }
  }

  /** The contents of a server's resource, as files of a prompt. */
  attach({ server, uri }: ResourceReference): Promise<readonly Attachment[]> {
    return this.#with(server, (found) => attachResource(found, uri, this.#keep));
  }

  /** The contents of a resource as sent by its server. */
  read({ server, uri }: ResourceReference): Promise<JsonObject[]> {
    return this.#with(server, (found) => readContents(found, uri));
  }

  async #with<Value>(name: string, work: (server: McpServer) => Promise<Value>): Promise<Value> {
    const server = this.#find(name);
    return work(server).catch((error: unknown) => {
      throw failureOf(server, error);
    });
  }

  async serverOf(uri: string): Promise<string | undefined> {
    return (await serverWithResource(this.#withResources(), uri))?.config.name;
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#servers.values()].map((server) => server.stop()));
  }

  #find(name: string): McpServer {
    const server = this.#servers.get(name);
    if (server === undefined) {
      const known = [...this.#registered, ...this.#configured, ...this.#added];
      const hint = nearestHint(
        name,
        known.map((config) => config.name),
      );
      throw new SessionError("mcp_server_not_found", { server: name, hint });
    }
    return server;
  }

  #read(
    servers: Readonly<Record<string, unknown>>,
    source: "session" | "extension",
  ): readonly McpServerConfig[] {
    return Object.entries(servers).map(([name, value]) => {
      const read = readEntry(name, value, source);
      if ("entry" in read) return { name, source, entry: read.entry };
      const [field, reason] = [`servers.${name}`, read.problem];
      throw new ProtocolError("invalid_params", { command: "set_mcp_servers", field, reason });
    });
  }

  /** Starts and stops servers until they are the configured ones. */
  async #apply(): Promise<void> {
    const { only, allows } = this.#environment;
    const configured = [...this.#registered, ...this.#configured].filter(
      ({ name }) => !this.#isStopped && (only === undefined || only.includes(name)),
    );
    const wanted = [...configured, ...this.#added].filter(({ name }) => allows?.(name) !== false);
    const configs = new Map(wanted.map((config) => [config.name, config]));
    const before = this.#servers;
    this.#servers = new Map(
      [...configs.values()].map((config) => {
        const known = before.get(config.name);
        const isSame = known !== undefined && isDeepStrictEqual(known.config, config);
        return [config.name, isSame ? known : this.#create(config)];
      }),
    );
    const kept = new Set(this.#servers.values());
    this.#startedAt = performance.now();
    for (const server of kept) server.start();
    this.#updateTools();
    await Promise.all([...before.values()].filter((s) => !kept.has(s)).map((s) => s.stop()));
  }

  #create(config: McpServerConfig): McpServer {
    const { name } = config;
    const server: McpServer = new McpServer({
      config,
      demands: serverDemands(config, {
        environment: this.#environment,
        calls: this.#calls,
        notes: this.#notes,
        server: () => server,
      }),
      open: (of, life) => openServer(of, this.#openContext, life),
      onRefused: (error) => this.#logins.noteRefusal(name, error),
      maskKeys: this.#environment.maskKeys,
      loginHint: `Log in with mcp_login, or with: tau mcp login ${name}`,
    });
    server.onChange((change) => {
      if (this.#isEnded || this.#servers.get(name) !== server) return;
      if (change === "lists") this.#updateTools();
      else this.#report(server);
    });
    return server;
  }

  #updateTools(): void {
    const servers = [...this.#servers.values()];
    this.#catalogue.update(servers);
    const readable = this.#withResources();
    const isDeferred = readable.every(({ config }) => this.#exposureOf(config) === "deferred");
    const resources = createResourceTools({
      calls: this.#calls,
      keep: this.#keep,
      canRead: () => true,
      openPages: (...request) => this.#openPages(...request),
      servers: () => this.#withResources(),
    }).map((tool) => ({ ...tool, isDeferred }));
    const offered = readable.length === 0 ? [] : this.#keptResources(resources);
    this.#environment.tools.offer("mcp", [...this.#catalogue.tools, ...offered]);
    this.#environment.tools.expectDeferred(servers.some((server) => this.#mayDefer(server)));
  }

  /** Whether the first request must allow for tools of a server that come late or are searched for. */
  #mayDefer({ config, status }: McpServer): boolean {
    const exposure = this.#exposureOf(config);
    if (exposure === "hidden" || status === "disabled") return false;
    return exposure === "deferred" || status !== "connected";
  }

  #resourceTools: ReturnType<typeof createResourceTools> | undefined;

  /** Created once, because declared tools must not change. */
  #keptResources(made: ReturnType<typeof createResourceTools>) {
    this.#resourceTools ??= made;
    return this.#resourceTools;
  }

  #exposureOf({ entry }: McpServerConfig) {
    return entry.exposure ?? this.#catalogue.fallbackExposure;
  }

  #withResources(): readonly McpServer[] {
    return [...this.#servers.values()].filter(
      (server) => server.hasResources && this.#exposureOf(server.config) !== "hidden",
    );
  }

  /** Opens the pages that the user must visit before a tool can work. */
  async #openPages(
    server: McpServer,
    { elicitations }: JsonObject,
    { signal, toolCallId }: ToolCallContext,
  ): Promise<string> {
    const { name } = server.config;
    const { requests } = this.#environment;
    const promptId = this.#environment.promptId();
    const answers: string[] = [];
    for (const params of (Array.isArray(elicitations) ? elicitations : []).filter(isJsonObject)) {
      const elicitation = { server: name, params: { ...params, mode: "url" }, toolCallId };
      const { action } = await askElicitation(
        { ...elicitation, promptId, signal },
        requests,
        (text) => this.#notes.add(name, text),
      );
      answers.push(action);
    }
    const isAgreed = answers.length > 0 && answers.every((action) => action === "accept");
    const hint = isAgreed
      ? "The user was sent there: call the tool again once they are done."
      : "The user did not agree to that.";
    return `The MCP server ${name} wants the user to open a page first. ${hint}`;
  }

  #report(server: McpServer): void {
    const { config, status, error } = server;
    const { name } = config;
    const told = error === undefined ? {} : { error };
    this.#environment.emit({ type: "mcp_server_status", server: name, status, ...told });
    if (isTrouble(status)) this.#notes.add(name, troubleText(server));
  }
}

function failureOf({ config }: McpServer, error: unknown): SessionError {
  const reason = cleanLine(errorMessage(error), MAX_REASON);
  return new SessionError("mcp_failed", { server: config.name, reason }, { cause: error });
}

function mayBeDirect({ entry }: McpServerConfig): boolean {
  const { exposure = "direct", toolExposure } = entry;
  return exposure === "direct" || toolExposure.some(([, tool]) => tool === "direct");
}

function isTrouble(status: McpStatus): boolean {
  return status === "failed" || status === "needs_auth" || status === "restarting";
}

function troubleText({ status, error, config }: McpServer): string {
  if (status === "needs_auth") return `needs a login: tau mcp login ${config.name}`;
  const text = status === "failed" ? "does not work" : "was lost and is started again";
  return `${text}: ${error ?? "no reason given"}`;
}
