import type {
  Client,
  ClientCapabilities,
  Progress,
  StandardSchemaV1,
  Transport,
} from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { MAX_TIMER_MS, within } from "@tau-agent/system";
import { CallClocks } from "./call-clocks.ts";

export interface ServerDemands {
  readonly elicit: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Answers a request for a reply of the model; absent if that is not allowed. */
  readonly sample?: ((params: JsonObject, signal: AbortSignal) => Promise<JsonObject>) | undefined;
  /**
   * The folders in which the session works; absent for a server that is shared by sessions, or runs
   * on another machine.
   */
  readonly roots?: (() => readonly { readonly uri: string; readonly name: string }[]) | undefined;
  readonly onListChanged: (list: ServerList) => void;
  /** Receives the id of an elicitation whose page is finished. */
  readonly onElicited: (elicitationId: string) => void;
  readonly onLog: (level: string, text: string) => void;
}

export type ServerList = "tools" | "prompts" | "resources";

export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export interface ClientIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

/** A server must not be able to make the host read pages forever. */
const MAX_PAGES = 100;

/** Accepts a result unchecked: one invalid item of a list must not spoil the others. */
const asItCame: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "tau",
    validate: (value) =>
      isJsonObject(value) ? { value } : { issues: [{ message: "the result is not an object" }] },
  },
};

export type ServerConnection = Pick<
  McpConnection,
  "capabilities" | "instructions" | "request" | "list" | "close"
>;

/** One connection to a server: from `initialize` to the end of its transport. */
export class McpConnection {
  readonly #client: Client;
  readonly #clocks: CallClocks;
  readonly transport: Transport;

  private constructor(client: Client, clocks: CallClocks, transport: Transport) {
    this.#client = client;
    this.#clocks = clocks;
    this.transport = transport;
  }

  /** Connects and introduces the host; the transport is closed if that fails. */
  static async open(
    transport: Transport,
    options: {
      readonly identity: ClientIdentity;
      readonly demands: ServerDemands;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly onClosed: () => void;
    },
  ): Promise<McpConnection> {
    const { Client } = await import("@modelcontextprotocol/client");
    const { identity, demands, timeoutMs, signal } = options;
    const client = new Client(identity, { capabilities: capabilitiesFor(demands) });
    const clocks = new CallClocks();
    answer(client, demands, clocks);
    // Transport errors that end nothing are ignored; a failed request reports its own error.
    client.onerror = () => {};
    const onAbort = (): void => void transport.close().catch(() => {});
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect(transport, { timeout: timeoutMs });
    } catch (error) {
      await transport.close().catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    client.onclose = options.onClosed;
    return new McpConnection(client, clocks, transport);
  }

  get capabilities(): JsonObject {
    return { ...this.#client.getServerCapabilities() };
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  /**
   * Sends a request. Progress extends its time limit, which is paused while the server waits for an answer
   * of the user.
   *
   * @throws {RequestTimeout}
   */
  async request(method: string, params: JsonObject, limits: RequestLimits): Promise<JsonObject> {
    const { timeoutMs, signal, onProgress } = limits;
    const clock = this.#clocks.start(timeoutMs);
    try {
      return await this.#client.request({ method, params }, asItCame, {
        timeout: MAX_TIMER_MS,
        signal: signal === undefined ? clock.signal : AbortSignal.any([signal, clock.signal]),
        onprogress: (progress) => {
          clock.restart();
          onProgress?.(progress);
        },
      });
    } catch (error) {
      clock.throwIfOver();
      throw error;
    } finally {
      clock.stop();
    }
  }

  async list(method: string, member: string, limits: RequestLimits): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor }, limits);
      const { [member]: found, nextCursor } = result;
      for (const item of Array.isArray(found) ? found : []) items.push(item);
      if (typeof nextCursor !== "string" || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return items;
  }

  /** The same connection for another session, with separate time limits. */
  share(): McpConnection {
    return new McpConnection(this.#client, new CallClocks(), this.transport);
  }

  /** Answers a question of the server, and pauses the time limits of its requests meanwhile. */
  pauseFor<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#clocks.pauseFor(work);
  }

  async close(): Promise<void> {
    const { onclose } = this.#client;
    if (onclose !== undefined) this.#client.onclose = () => {};
    await endHttpSession(this.transport);
    await this.#client.close().catch(() => {});
    await this.transport.close().catch(() => {});
  }
}

/** How long a server may take to end its session. */
const GOODBYE_MS = 1000;

async function endHttpSession(transport: Transport): Promise<void> {
  if (transport.sessionId === undefined || !("terminateSession" in transport)) return;
  const { terminateSession } = transport as { terminateSession: () => Promise<void> };
  await within(GOODBYE_MS, terminateSession.call(transport)).catch(() => {});
}

function capabilitiesFor({ sample, roots }: ServerDemands): ClientCapabilities {
  return {
    elicitation: { form: {}, url: {} },
    // Clients receive the data of an app, and show it.
    extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
    ...(roots === undefined ? {} : { roots: {} }),
    ...(sample === undefined ? {} : { sampling: {} }),
  };
}

function answer(client: Client, demands: ServerDemands, clocks: CallClocks): void {
  const { elicit, sample, roots, onListChanged, onElicited, onLog } = demands;
  client.setRequestHandler(
    "elicitation/create",
    ({ params }, { mcpReq }) =>
      clocks.pauseFor(() => elicit({ ...params }, mcpReq.signal)) as never,
  );
  if (roots !== undefined) {
    client.setRequestHandler("roots/list", () => ({ roots: [...roots()] }));
  }
  if (sample !== undefined) {
    client.setRequestHandler(
      "sampling/createMessage",
      ({ params }, { mcpReq }) =>
        clocks.pauseFor(() => sample({ ...params }, mcpReq.signal)) as never,
    );
  }
  const lists: readonly ServerList[] = ["tools", "prompts", "resources"];
  for (const list of lists) {
    const method = `notifications/${list}/list_changed` as const;
    client.setNotificationHandler(method, () => onListChanged(list));
  }
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
    onElicited(params.elicitationId),
  );
  client.setNotificationHandler("notifications/message", ({ params }) => {
    const { level, logger, data } = params;
    const text = typeof data === "string" ? data : JSON.stringify(data);
    onLog(level, logger === undefined ? text : `${logger}: ${text}`);
  });
}
