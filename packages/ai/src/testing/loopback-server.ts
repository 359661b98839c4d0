import { channel } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { parseJson } from "@tau-agent/rpc-protocol/plain";
import { denialOf, type LoopbackCredentials } from "./credentials.ts";
import type { Fault } from "./fault.ts";
import type { LoopbackApi } from "./loopback-api.ts";
import { refuse, sendError, sendReply } from "./loopback-reply.ts";
import { baseUrls, routeOf } from "./routes.ts";
import { findRefusal } from "./rules/index.ts";
import type { ModelLimits, Refusal, RuleMemory, RuleRequest } from "./rules/rule.ts";
import type { Scenario } from "./scenario.ts";
import { type PlayedTurn, ScenarioPlayer } from "./scenario-player.ts";
import { scriptedModel } from "./scripted-provider.ts";
import { signerFor } from "./signer.ts";
import type { Till } from "./till.ts";
import { type Vendor, vendorDenial } from "./vendors/vendor.ts";
import { objectOf } from "./wire/json.ts";
import type { WireFormat } from "./wire/wire-format.ts";

/** The configuration of a loopback server. */
export interface LoopbackOptions {
  readonly scenario: Scenario;
  /**
   * Faults by request number from 0, or a function of it. A faulted request does not use up a turn: the next
   * request gets it.
   */
  readonly faults?:
    | readonly (Fault | undefined)[]
    | ((index: number) => Fault | undefined)
    | undefined;
  /** The ids that `GET /v1/models` lists. By default, one. */
  readonly models?: readonly string[] | undefined;
  /** Whether bodies and headers are kept. Default true. */
  readonly records?: boolean | undefined;
  /** Whether a request that breaks the vendor's rules gets the vendor's error, with status 400. Default true. */
  readonly rules?: boolean | undefined;
  /** The limits of models by id, which requests must respect; those of {@link LoopbackServer.model} are known. */
  readonly limits?: Readonly<Record<string, ModelLimits>> | undefined;
  /**
   * The credentials that requests must contain, in the vendor's form; other requests get the vendor's error,
   * with status 401 or 403. By default, none.
   */
  readonly credentials?: LoopbackCredentials | undefined;
  /**
   * Serves the endpoint of one vendor, for requests through {@link loopbackFetch}: another address gets 404,
   * a key in the wrong place 401, and what the vendor refuses 400.
   */
  readonly vendor?: Vendor | undefined;
  /** By default, any free port. */
  readonly port?: number | undefined;
}

/** A request as it arrived. */
export interface RecordedRequest {
  readonly api: LoopbackApi;
  readonly method: string;
  readonly path: string;
  /** The query with its `?`; empty without one. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** A running loopback server. */
export interface LoopbackServer extends AsyncDisposable {
  /** The origin, e.g. `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Base URLs by wire format, for models. */
  readonly urls: Readonly<Record<LoopbackApi, string>>;
  /** The model requests so far, in order; empty if the server does not record. */
  readonly requests: readonly RecordedRequest[];
  readonly requestCount: number;
  /** The violations of the vendor's rules so far, in order. */
  readonly refusals: readonly Refusal[];
  /** TCP connections opened so far. */
  readonly connectionCount: number;
  /** A model that this server serves. */
  model(api: LoopbackApi, overrides?: Partial<Model>): Model;
  /** Breaks all connections and stops listening. */
  close(): Promise<void>;
}

/** Serves scripted turns on 127.0.0.1 in the wire formats of all vendors. */
export function startLoopbackServer(options: LoopbackOptions): Promise<LoopbackServer> {
  return serve(options);
}

/** Like {@link startLoopbackServer}, with a till that charges for replies. */
export async function serve(options: LoopbackOptions, till?: Till): Promise<LoopbackServer> {
  const loopback = new Loopback(options, till);
  // An import would evaluate every export, and one of them loads Node's `fetch`. That took a third of the
  // start of a host with a scripted model, which does not even serve anything.
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer((request, response) => {
    loopback.serve(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  let connectionCount = 0;
  server.on("connection", (socket) => {
    connectionCount++;
    socket.setNoDelay(true);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const urls = baseUrls(url);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url,
    urls,
    requests: loopback.requests,
    refusals: loopback.refusals,
    get requestCount() {
      return loopback.requestCount;
    },
    get connectionCount() {
      return connectionCount;
    },
    model(api, overrides = {}) {
      const place = { id: "loopback", api, provider: "loopback", baseUrl: urls[api] };
      const model = scriptedModel({ ...place, ...overrides });
      loopback.memory.models.set(model.id, model);
      return model;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Publishes each refusal in this process, so that a test can fail because of it. */
const refusalChannel = channel("@tau-agent/ai/testing/refusal");

class Loopback {
  readonly requests: RecordedRequest[] = [];
  readonly refusals: Refusal[] = [];
  readonly memory: RuleMemory;
  requestCount = 0;
  readonly #options: LoopbackOptions;
  readonly #player: ScenarioPlayer;
  readonly #till: Till | undefined;

  constructor(options: LoopbackOptions, till: Till | undefined) {
    this.#options = options;
    this.#till = till;
    const limits = Object.entries(options.limits ?? {});
    this.memory = { signed: new Map(), models: new Map(limits) };
    this.#player = new ScenarioPlayer(options.scenario);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, search } = new URL(request.url ?? "/", "http://loopback");
    const route = routeOf(path, this.#options.vendor?.api);
    const text = await readBody(request);
    if (request.method === "GET" && path.endsWith("/models")) return this.#listModels(response);
    const isServed = route && (this.#till?.serves.includes(route.api) ?? true);
    if (!isServed || request.method !== "POST") {
      sendError(response, 404, { error: { message: `Nothing at ${request.method} ${path}` } });
      return;
    }
    const { api, format } = route;
    const body = parseJson(text);
    const index = this.requestCount++;
    const { method = "", headers } = request;
    if (this.#options.records !== false) {
      this.requests.push({ api, method, path, search, headers, body });
    }
    const { vendor, credentials } = this.#options;
    const denial =
      vendor === undefined
        ? denialOf({ api, method, path, search, headers, body: text }, this.#options)
        : vendorDenial(vendor, credentials ?? {}, { method, path, search, headers, body: text });
    if (denial !== undefined) {
      sendError(response, denial.status, format.errorBody(denial.status, denial.message));
      return;
    }
    if (body === undefined) {
      sendError(response, 400, format.errorBody(400, "The body is not JSON"));
      return;
    }
    const asked: RuleRequest = { api, path, search, headers, body: objectOf(body) };
    const message = this.#refusal(asked);
    if (message !== undefined) {
      sendError(response, 400, format.errorBody(400, message));
      return;
    }
    await this.#answer({ response, format, asked, index, characters: text.length });
  }

  #refusal(request: RuleRequest): string | undefined {
    if (this.#options.rules === false) return undefined;
    const refusal = findRefusal(request, this.memory) ?? this.#vendorRefusal(request);
    if (refusal === undefined) return undefined;
    this.refusals.push(refusal);
    refusalChannel.publish(refusal);
    return refusal.message;
  }

  #vendorRefusal(request: RuleRequest): Refusal | undefined {
    const { vendor } = this.#options;
    for (const check of vendor?.rules ?? []) {
      for (const message of check(request)) {
        return { api: request.api, rule: `vendor ${vendor?.provider}`, message };
      }
    }
    return undefined;
  }

  async #answer(task: Task): Promise<void> {
    const { response, format, asked, index, characters } = task;
    const given = this.#fault(index);
    // If a fault replaces the reply, the scenario is not consulted.
    if (refuse(response, format, given)) return;
    try {
      const plain = format.parse(asked.body, asked.path);
      const keep = given !== undefined;
      const turn = this.#till?.turnFor(asked);
      const scripted = await this.#player.next(plain, { keep, turn });
      const fault = given ?? scripted.turn.fault;
      if (refuse(response, format, fault)) return;
      const played = await this.#charged(scripted, asked);
      const sign = signerFor(asked, this.memory);
      const size = { requestCharacters: characters, asked: asked.body };
      await sendReply({ response, format, played, fault, sign, ...size });
    } catch (error) {
      if (response.headersSent) throw error;
      // The scenario has no turn left or has thrown: an error of its author, so a retry is pointless.
      const message = error instanceof Error ? error.message : String(error);
      sendError(response, 400, format.errorBody(400, message));
    }
  }

  async #charged(played: PlayedTurn, asked: RuleRequest): Promise<PlayedTurn> {
    if (this.#till === undefined) return played;
    const { turn, request } = played;
    return {
      request,
      turn: { ...turn, usage: await this.#till.charge(asked, turn, request.model) },
    };
  }

  #fault(index: number): Fault | undefined {
    const { faults } = this.#options;
    return typeof faults === "function" ? faults(index) : faults?.[index];
  }

  #listModels(response: ServerResponse): void {
    const ids = this.#options.models ?? ["loopback"];
    const data = ids.map((id) => ({ id, object: "model", created: 0, owned_by: "loopback" }));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data }));
  }
}

interface Task {
  readonly response: ServerResponse;
  readonly format: WireFormat;
  readonly asked: RuleRequest;
  readonly index: number;
  readonly characters: number;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
