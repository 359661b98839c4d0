import { isJsonObject } from "../vocabulary/json-object.ts";
import type {
  ExecServerAnswer,
  ExecServerExit,
  ExecServerFailure,
  ExecServerSandboxEnd,
} from "./frame-schemas.ts";
import {
  encodeBytes,
  encodeError,
  type FrameId,
  isFrameId,
  MAX_FRAME_BYTES,
  MAX_PIECE_BYTES,
  type SendToClient,
} from "./frames.ts";
import { RequestParams } from "./request-params.ts";
import { ServerCommands } from "./server-commands.ts";
import { ServerSandboxes } from "./server-sandboxes.ts";
import { type OpenUpload, ServerUploads, uploadsInMemory } from "./server-uploads.ts";
import { Slots } from "./slots.ts";
import type {
  Workspace,
  WorkspaceAccess,
  WorkspaceChange,
  WorkspaceDurable,
  WorkspaceSearchResult,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

export interface WorkspaceServerOptions {
  /** Opens a file that arrives in parts; by default, the parts are kept in memory. */
  readonly openUpload?: OpenUpload | undefined;
}

/** How many large answers are prepared at once, because they wait in memory for the reader. */
const parallelAnswers = 8;
/** The space for the rest of a line with an answer. */
const frameRoom = 1024;

const largeAnswers: ReadonlySet<string> = new Set(["list", "read", "search"]);

interface Request {
  readonly id: FrameId;
  readonly method: string;
  readonly params: unknown;
  readonly signal: AbortSignal;
}

type LastFrame = ExecServerAnswer | ExecServerFailure | ExecServerExit | ExecServerSandboxEnd;
type Method = (params: RequestParams, signal: AbortSignal, id: FrameId) => Promise<unknown>;

/** Serves a workspace to a client that sends requests (decision 62). Each request is answered once. */
export class WorkspaceServer {
  readonly #workspace: Workspace;
  readonly #send: SendToClient;
  readonly #uploads: ServerUploads;
  readonly #commands: ServerCommands;
  readonly #sandboxes: ServerSandboxes;
  readonly #open = new Map<FrameId, AbortController>();
  /** Requests whose commands continue after the client has left. */
  readonly #kept = new Set<FrameId>();
  readonly #running = new Map<FrameId, Promise<void>>();
  readonly #slots = new Slots(parallelAnswers);
  #hasEnded = false;

  constructor(workspace: Workspace, send: SendToClient, options: WorkspaceServerOptions = {}) {
    this.#workspace = workspace;
    this.#send = (frame) => (this.#hasEnded ? undefined : send(frame));
    this.#uploads = new ServerUploads(options.openUpload ?? uploadsInMemory(workspace));
    this.#commands = new ServerCommands(this.#send);
    this.#sandboxes = new ServerSandboxes(this.#send);
  }

  /** Takes any frame of a client. Never throws. */
  take(frame: unknown): void {
    if (this.#hasEnded) return;
    const { id, method, params, cancel } = isJsonObject(frame) ? frame : {};
    if (id === undefined && method === undefined && isFrameId(cancel)) this.#cancel(cancel);
    else if (isFrameId(id) && typeof method === "string" && !this.#open.has(id)) {
      const work = this.#run(id, method, params).finally(() => {
        // The client may have reused the id.
        if (this.#running.get(id) === work) this.#running.delete(id);
      });
      this.#running.set(id, work);
    } else void this.#send({ error: { code: "bad_frame" } });
  }

  /** Ends everything that is open, except for kept commands; sends nothing more. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const ending: Promise<void>[] = [];
    for (const [id, controller] of this.#open) {
      if (this.#kept.has(id)) continue;
      controller.abort();
      ending.push(this.#running.get(id) ?? Promise.resolve());
    }
    await this.#uploads.end();
    await Promise.all(ending);
  }

  #cancel(id: FrameId): void {
    this.#open.get(id)?.abort();
    this.#uploads.cancel(id);
  }

  async #run(id: FrameId, method: string, params: unknown): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#open.set(id, controller);
    const work = async (): Promise<void> => {
      const frame = await this.#answer({ id, method, params, signal });
      // From here on, a client may reuse the id.
      this.#open.delete(id);
      this.#kept.delete(id);
      await this.#send(frame);
    };
    if (!largeAnswers.has(method)) return work();
    await this.#slots.run(work);
  }

  async #answer({ id, method, params, signal }: Request): Promise<LastFrame> {
    try {
      if (signal.aborted) throw new WorkspaceError("aborted");
      if (method === "spawn") return await this.#spawn(id, new RequestParams(params), signal);
      if (method === "adopt") return await this.#adopt(id, new RequestParams(params), signal);
      if (method === "open_sandbox") {
        const { sandboxes } = this.#workspace;
        if (sandboxes === undefined) throw new WorkspaceError("unsupported");
        const request = new RequestParams(params).sandboxRequest();
        return await this.#sandboxes.run(id, { sandboxes, request, signal });
      }
      const run = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
      if (run === undefined) {
        throw new WorkspaceError("unsupported", `There is no method ${method.slice(0, 100)}`);
      }
      return { id, result: await run(new RequestParams(params), signal, id) };
    } catch (error) {
      return { id, error: encodeError(error) };
    }
  }

  readonly #methods: Readonly<Record<string, Method>> = {
    ping: async () => ({}),
    describe: (_, signal) => this.#workspace.describe({ signal }),
    stat: async (params, signal) => {
      const options = { followLinks: params.flag("followLinks"), ...access(params, signal) };
      return (await this.#workspace.stat(params.text("path"), options)) ?? null;
    },
    list: async (params, signal) => {
      const path = params.text("path");
      const entries = await this.#workspace.list(path, access(params, signal));
      if (fits(entries)) return entries;
      const text = "The names in this folder do not fit in one answer of 8 MiB";
      throw new WorkspaceError("too_large", text, { path });
    },
    read: async (params, signal) => {
      const length = Math.min(params.count("length") ?? MAX_PIECE_BYTES, MAX_PIECE_BYTES);
      const options = { offset: params.count("offset"), length, ...access(params, signal) };
      const bytes = await this.#workspace.read(params.text("path"), options);
      return { data: encodeBytes(bytes.subarray(0, length)) };
    },
    write: (params, signal, id) => this.#write(params, signal, id).then(empty),
    remove: (params, signal) => {
      const options = { recursive: params.flag("recursive"), ...change(params, signal) };
      return this.#workspace.remove(params.text("path"), options).then(empty);
    },
    rename: (params, signal) => {
      const options = change(params, signal);
      return this.#workspace.rename(params.text("from"), params.text("to"), options).then(empty);
    },
    createDirectory: (params, signal) => {
      const options = change(params, signal);
      return this.#workspace.createDirectory(params.text("path"), options).then(empty);
    },
    end_commands: (params) => {
      const beforeEpoch = params.count("beforeEpoch");
      if (beforeEpoch === undefined) throw new WorkspaceError("failed", '"beforeEpoch" is missing');
      return this.#durable().endCommands({ session: params.text("session"), beforeEpoch });
    },
    write_input: (params) =>
      this.#commands.get(params.id("processId")).write(params.bytes("data")).then(empty),
    end_input: (params) => this.#commands.get(params.id("processId")).endInput().then(empty),
    kill: (params) =>
      this.#commands.get(params.id("processId")).kill(params.optionalText("signal")).then(empty),
    search: (params, signal) => this.#search(params, signal),
    write_connection: async (params) => {
      await this.#sandboxes.get(params.id("connectionId")).write(params.bytes("data"));
      return {};
    },
    end_connection: async (params) => {
      this.#sandboxes.get(params.id("connectionId")).end();
      return {};
    },
    close_connection: async (params) => {
      this.#sandboxes.get(params.id("connectionId")).close();
      return {};
    },
    ack_connection: async (params) => {
      const bytes = params.count("bytes") ?? 0;
      this.#sandboxes.acknowledge(params.id("connectionId"), bytes);
      return {};
    },
  };

  #spawn(id: FrameId, params: RequestParams, signal: AbortSignal): Promise<ExecServerExit> {
    const options = {
      command: params.command(),
      cwd: params.optionalText("cwd"),
      environment: params.environment(),
      stdin: params.oneOf("stdin", ["none", "open"]),
      timeoutMs: params.count("timeoutMs"),
      commandId: params.commandId(),
      keepMs: params.count("keepMs"),
      outputFolder: params.optionalText("outputFolder"),
      sandbox: params.sandbox(),
      ...params.owner(),
      signal,
    };
    if (options.commandId !== undefined) {
      this.#durable();
      this.#kept.add(id);
    }
    return this.#commands.run(id, (onOutput) => this.#workspace.spawn({ ...options, onOutput }));
  }

  #adopt(id: FrameId, params: RequestParams, signal: AbortSignal): Promise<ExecServerExit> {
    const owner = params.owner();
    const commandId = params.commandId();
    if (owner === undefined || commandId === undefined) {
      const name = owner === undefined ? "session" : "commandId";
      throw new WorkspaceError("failed", `"${name}" is missing`);
    }
    const fromOffset = params.count("fromOffset") ?? 0;
    const options = { ...owner, commandId, fromOffset, keepMs: params.count("keepMs"), signal };
    const durable = this.#durable();
    this.#kept.add(id);
    return this.#commands.run(id, (onOutput) => durable.adopt({ ...options, onOutput }));
  }

  #durable(): WorkspaceDurable {
    const { durable } = this.#workspace;
    if (durable === undefined) throw new WorkspaceError("unsupported");
    return durable;
  }

  #write(params: RequestParams, signal: AbortSignal, id: FrameId): Promise<void> {
    const path = params.text("path");
    const bytes = params.bytes("data");
    const upload = params.optionalId("upload");
    const isLast = params.flag("last") ?? false;
    const options = { mode: params.count("mode"), ...change(params, signal) };
    if (upload === undefined) return this.#workspace.write(path, bytes, options);
    return this.#uploads.add({ id, upload, path, bytes, isLast, options });
  }

  async #search(params: RequestParams, signal: AbortSignal): Promise<WorkspaceSearchResult> {
    const kind = params.oneOf("kind", ["grep", "find"]);
    const limit = params.count("limit");
    if (kind === undefined) throw new WorkspaceError("failed", '"kind" is missing');
    if (limit === undefined) throw new WorkspaceError("failed", '"limit" is missing');
    const request = {
      kind,
      limit,
      pattern: params.text("pattern"),
      path: params.text("path"),
      glob: params.optionalText("glob"),
      ignoreCase: params.flag("ignoreCase"),
      literal: params.flag("literal"),
      context: params.count("context"),
      ...access(params, signal),
    };
    if (this.#workspace.search === undefined) throw new WorkspaceError("unsupported");
    let { matches, truncated } = await this.#workspace.search(request);
    while (!fits(matches)) {
      matches = matches.slice(0, matches.length / 2);
      truncated = true;
    }
    return { matches, truncated };
  }
}

const empty = () => ({});

function access(params: RequestParams, signal: AbortSignal): WorkspaceAccess {
  return { within: params.within(), sandbox: params.sandbox(), signal };
}

function change(params: RequestParams, signal: AbortSignal): WorkspaceChange {
  return { ...access(params, signal), ...params.owner() };
}

/** Whether values fit in one line of an answer. */
function fits(values: readonly unknown[]): boolean {
  return Buffer.byteLength(JSON.stringify(values)) <= MAX_FRAME_BYTES - frameRoom;
}
