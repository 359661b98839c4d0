import { existsSync } from "node:fs";
import type { Attachment, ResourceReference, UserContent } from "@tau-agent/rpc-protocol/messages";
import { type JsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { type McpPlaces, trustedFiles, userFile } from "./config/places.ts";
import type { McpServerList } from "./session/environment.ts";
import type { McpServers } from "./session/mcp-servers.ts";

export interface RemoteCommand {
  readonly name: string;
  readonly description?: string | undefined;
  readonly source: "prompt";
}

export interface McpAccessOptions {
  readonly places: () => McpPlaces;
  /** Servers of the embedder, by name, as in `mcpServers` of mcp.json. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Whether to use no servers at all, whatever is configured. */
  readonly isOff: boolean;
  /** Throws for names of servers that may not be added; by default all are allowed. */
  readonly refuse?: ((names: readonly string[]) => void) | undefined;
  /** Creates the servers and loads the code for them. */
  readonly create: () => Promise<McpServers>;
  /** When servers may be started in the background. */
  readonly startAfter: Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Gives access to a session's MCP servers without slowing down its start: without a configuration, no
 * MCP code is loaded.
 */
export class McpAccess {
  readonly #options: McpAccessOptions;
  #servers: Promise<McpServers | undefined> | undefined;
  #loaded: McpServers | undefined;
  /** The servers that this session added, which replace those it was created with. */
  #added: Readonly<Record<string, unknown>>;
  /** Whether the servers of the files were stopped. */
  #isStopped = false;
  /** The servers of extensions, by name. */
  #registered: Readonly<Record<string, unknown>> = {};
  #isEnded = false;

  constructor(options: McpAccessOptions) {
    this.#options = options;
    this.#added = options.given;
    options.startAfter.then(() => this.#start()).catch(options.onFailure);
  }

  /** Resolves when the tools that a request declares are available, or after 10 s. */
  async ready(): Promise<void> {
    await (await this.#start())?.ready();
  }

  /** The servers and their tools, once none of them is connecting for the first time. */
  async connected(): Promise<McpServerList> {
    await (await this.#start())?.settled();
    return this.list();
  }

  /** The servers and their tools. */
  async list(): Promise<McpServerList> {
    return (await this.#start())?.list() ?? { servers: [], errors: [] };
  }

  /**
   * Replaces the servers that this session added; with none, those of the files stop, too.
   *
   * @throws {ProtocolError} `invalid_params` naming the entry; {SessionError} `policy_denied`
   */
  async set(servers: Readonly<Record<string, unknown>>): Promise<McpServerList> {
    const names = Object.keys(servers);
    this.#options.refuse?.(names);
    const isNeeded = names.length > 0;
    const loaded = await (isNeeded ? this.#load() : this.#start());
    const list = (await loaded?.set(servers)) ?? { servers: [], errors: [] };
    this.#added = servers;
    this.#isStopped ||= !isNeeded;
    return list;
  }

  /** Replaces the servers of extensions; the files' take precedence over them. */
  register(servers: readonly { readonly name: string; readonly config: unknown }[]): void {
    const isChange = servers.length > 0 || Object.keys(this.#registered).length > 0;
    this.#registered = Object.fromEntries(servers.map(({ name, config }) => [name, config]));
    const { isOff, startAfter, onFailure } = this.#options;
    if (!isChange || isOff) return;
    const update = async () => {
      const loaded = await ((await this.#isConfigured()) ? this.#load() : this.#servers);
      if (!this.#isEnded) await loaded?.register(this.#registered);
    };
    void startAfter.then(update).catch(onFailure);
  }

  /** The servers, among those it names, that a subagent uses; its session reads the files itself. */
  forSubagent(names: readonly string[]): {
    readonly only: readonly string[];
    readonly added: Readonly<Record<string, unknown>>;
  } {
    const { isOff } = this.#options;
    const named = Object.entries(this.#added).filter(([name]) => names.includes(name));
    const added = Object.fromEntries(named);
    const hasFiles = !isOff && !this.#isStopped;
    return { only: hasFiles ? names : Object.keys(added), added };
  }

  /**
   * Logs in to a server; resolves once it is connected.
   *
   * @throws {SessionError} `mcp_server_not_found`, `mcp_login_failed`
   */
  async login(server: string): Promise<void> {
    await (await this.#load()).login(server);
  }

  /**
   * Deletes the login of a server.
   *
   * @throws {SessionError} `mcp_server_not_found`, `mcp_login_failed`
   */
  async logout(server: string): Promise<void> {
    await (await this.#load()).logout(server);
  }

  /** The part of the system prompt about the servers; empty if there are none. */
  get section(): string {
    return this.#loaded?.section ?? "";
  }

  /** The prompts of connected servers. */
  get commands(): readonly RemoteCommand[] {
    return (this.#loaded?.commands ?? []).map(({ name, prompt }) => ({
      name,
      description: prompt.description,
      source: "prompt",
    }));
  }

  /** The content that `/mcp__server__prompt …` is replaced by; undefined for any other text. */
  async expand(text: string): Promise<readonly UserContent[] | undefined> {
    if (!text.startsWith("/mcp__")) return undefined;
    const servers = await this.#start();
    await servers?.ready();
    return servers?.expand(text);
  }

  /**
   * The contents of a server's resource, as files of a prompt.
   *
   * @throws {SessionError} `mcp_server_not_found`, `mcp_failed`
   */
  async attach(resource: ResourceReference): Promise<readonly Attachment[]> {
    return (await this.#serversWith(resource)).attach(resource);
  }

  /**
   * The contents of a resource as sent by its server, for a client that shows them.
   *
   * @throws {SessionError} `mcp_server_not_found`, `mcp_failed`
   */
  async read(resource: ResourceReference): Promise<{ contents: JsonObject[] }> {
    return { contents: await (await this.#serversWith(resource)).read(resource) };
  }

  async #serversWith({ server }: ResourceReference): Promise<McpServers> {
    const servers = await this.#start();
    await servers?.settled();
    if (servers !== undefined) return servers;
    throw new SessionError("mcp_server_not_found", { server, hint: "" });
  }

  /** The name of the server that has a resource with this address; undefined if none has. */
  async serverOf(uri: string): Promise<string | undefined> {
    const servers = await this.#start();
    await servers?.ready();
    return servers?.serverOf(uri);
  }

  /** Ends all servers. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await (await this.#servers)?.end();
  }

  /** Starts the servers once; resolves to undefined if nothing is configured. */
  #start(): Promise<McpServers | undefined> {
    this.#servers ??= this.#openConfigured();
    return this.#servers;
  }

  async #openConfigured(): Promise<McpServers | undefined> {
    try {
      return (await this.#isConfigured()) ? await this.#open() : undefined;
    } catch (error) {
      // The next call tries again.
      this.#servers = undefined;
      throw error;
    }
  }

  async #load(): Promise<McpServers> {
    const known = await this.#servers;
    if (known !== undefined) return known;
    const opening = this.#open();
    this.#servers = opening;
    return opening;
  }

  async #open(): Promise<McpServers> {
    const servers = await this.#options.create();
    this.#loaded = servers;
    const places = this.#options.places();
    const { given, isOff, onFailure } = this.#options;
    if (!isOff && !this.#isEnded) {
      const sources = { given, registered: this.#registered };
      await servers.start(places, sources).catch(onFailure);
    }
    return servers;
  }

  async #isConfigured(): Promise<boolean> {
    const { isOff, given, places } = this.#options;
    if (isOff || this.#isEnded) return false;
    if (Object.keys({ ...given, ...this.#registered }).length > 0) return true;
    const where = places();
    if (existsSync(userFile(where.agentDirectory))) return true;
    const found = await Promise.all(trustedFiles(where).map(({ isThere }) => isThere()));
    return found.includes(true);
  }
}
