import { PassThrough, Writable } from "node:stream";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { WorkspaceProcess } from "@tau-agent/rpc-protocol/workspace";
import { unlessAborted } from "@tau-agent/system";
import type { MessageConnection } from "vscode-jsonrpc";
import type {
  InitializeParams,
  InitializeResult,
  PublishDiagnosticsParams,
} from "vscode-languageserver-protocol";
import type { CheckedPlace } from "./checked-place.ts";

export interface ServerConnectionOptions {
  readonly command: readonly string[];
  readonly place: CheckedPlace;
  readonly rootUri: string;
  /** Ends the connection, even while it is starting. */
  readonly signal: AbortSignal;
  readonly onPublish: (published: PublishDiagnosticsParams) => void;
}

const stderrTail = 300;
const initializeMs = 60_000;
/** How many bytes a server may send without completing a message. */
const maxSilentBytes = 8 * 1024 * 1024;

/** A running language server after the handshake. */
export class ServerConnection {
  readonly #ending = new AbortController();
  readonly #connection: MessageConnection;
  readonly #process: WorkspaceProcess;
  /** Resolves once the server has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Whether the server supports requests for problems, rather than only publishing them. */
  hasPull = false;

  /** @throws {Error} with the reason why the server cannot be used */
  static async start(options: ServerConnectionOptions): Promise<ServerConnection> {
    const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = await import(
      "vscode-jsonrpc/node"
    );
    const { command, place } = options;
    const output = new PassThrough();
    let silentBytes = 0;
    let said = "";
    let process: WorkspaceProcess | undefined;
    process = await place.workspace.spawn({
      command: [...command],
      cwd: place.cwd,
      environment: place.variables,
      stdin: "open",
      signal: options.signal,
      onOutput: (bytes, stream) => {
        if (stream !== "stdout") {
          said = `${said}${Buffer.from(bytes).toString("utf8")}`.slice(-stderrTail);
          return;
        }
        silentBytes += bytes.length;
        // A server that floods the host without valid messages is ended.
        if (silentBytes > maxSilentBytes) void process?.kill("SIGKILL");
        else output.write(bytes);
      },
    });
    const started = process;
    const input = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        started.write(chunk).then(() => done(), done);
      },
    });
    // Writes to a server that has ended fail; its end is noticed separately.
    input.on("error", () => {});
    const reader = new StreamMessageReader(output);
    const connection = createMessageConnection(reader, new StreamMessageWriter(input));
    reader.onPartialMessage(() => {});
    const server = new ServerConnection(connection, started, options, () => {
      silentBytes = 0;
    });
    try {
      await server.#initialize(options);
      return server;
    } catch (error) {
      await server.close();
      const words = said.trim() === "" ? "" : `; it wrote: ${said.trim()}`;
      throw new Error(`${errorMessage(error)}${words}`, { cause: error });
    }
  }

  private constructor(
    connection: MessageConnection,
    process: WorkspaceProcess,
    { onPublish, rootUri }: ServerConnectionOptions,
    onMessage: () => void,
  ) {
    this.#connection = connection;
    this.#process = process;
    const end = (): void => {
      this.#ending.abort(new Error("the server has ended"));
      connection.dispose();
    };
    this.ended = process.done.then(end, end);
    connection.onError(() => void process.kill("SIGKILL"));
    connection.onClose(() => {});
    connection.onUnhandledNotification(onMessage);
    connection.onNotification("textDocument/publishDiagnostics", (published) => {
      onMessage();
      onPublish(published);
    });
    const folders = [{ uri: rootUri, name: "workspace" }];
    const answers: Readonly<Record<string, (params: unknown) => unknown>> = {
      "workspace/configuration": (params) => {
        const { items = [] } = params as { items?: readonly unknown[] };
        return items.map(() => null);
      },
      "workspace/workspaceFolders": () => folders,
      "workspace/applyEdit": () => ({ applied: false }),
      "client/registerCapability": () => null,
      "client/unregisterCapability": () => null,
      "window/workDoneProgress/create": () => null,
      "window/showMessageRequest": () => null,
      "workspace/diagnostic/refresh": () => null,
    };
    for (const [method, answer] of Object.entries(answers)) {
      connection.onRequest(method, (params: unknown) => {
        onMessage();
        return answer(params);
      });
    }
    connection.listen();
  }

  async notify(method: string, params: object): Promise<void> {
    if (this.#ending.signal.aborted) return;
    await this.#connection.sendNotification(method, params).catch(() => {});
  }

  /** @throws {Error} if the server refuses or has ended */
  async request<Result>(method: string, params: object): Promise<Result> {
    const asked = this.#connection.sendRequest<Result>(method, params);
    asked.catch(() => {});
    return unlessAborted(asked, this.#ending.signal);
  }

  async close(): Promise<void> {
    await this.#process.kill("SIGTERM");
    await this.ended;
  }

  async #initialize({ rootUri }: ServerConnectionOptions): Promise<void> {
    const params: InitializeParams = {
      processId: null,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: "workspace" }],
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        textDocument: {
          synchronization: { didSave: true },
          publishDiagnostics: { versionSupport: true },
          diagnostic: {},
        },
        workspace: { configuration: true, workspaceFolders: true },
        window: { workDoneProgress: true },
      },
    };
    const late = AbortSignal.timeout(initializeMs);
    const answered = this.request<InitializeResult>("initialize", params);
    const { capabilities } = await unlessAborted(
      answered,
      late,
      () => new Error(`it did not answer initialize in ${initializeMs / 1000} s`),
    );
    this.hasPull = Boolean(capabilities.diagnosticProvider);
    await this.notify("initialized", {});
  }
}
