import { type DecodedLine, encodeLine } from "@tau-agent/rpc-protocol";
import type { FromWorkspaceClient, ToWorkspaceClient } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "@tau-agent/system";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import { ClientPlace, type WorkspaceServingClient } from "../sessions/client-place.ts";
import type { Client } from "./client.ts";
import { pushLines } from "./push-lines.ts";

export interface ServingClientOptions {
  readonly writer: LineWriter;
  /** Opens the only session, whose workspace is there. */
  readonly open: (place: ClientPlace) => Promise<unknown>;
  /** Makes the client of that session, once it is open. */
  readonly connect: () => Client;
}

/**
 * The client on stdin of a host whose only session acts where that client is. Its first line says that
 * it serves the workspace; the session is opened with its help, and then gets this line and the others.
 */
export class ServingClient implements WorkspaceServingClient {
  readonly #options: ServingClientOptions;
  readonly #place = new ClientPlace();
  readonly #waiting: DecodedLine[] = [];
  readonly #opened = Promise.withResolvers<Client>();
  #client: Client | undefined;
  #answers = Promise.resolve();

  constructor(options: ServingClientOptions) {
    this.#options = options;
    // The caller that waits for it handles it, too.
    this.#opened.promise.catch(() => {});
  }

  /** Fulfilled with the client of the session. */
  get opened(): Promise<Client> {
    return this.#opened.promise;
  }

  get owesAnswers(): boolean {
    return this.#client?.owesAnswers ?? this.#waiting.length > 0;
  }

  push(line: DecodedLine): void {
    const answer = answerIn(line);
    // One after the other: output waits for its reader.
    if (answer) this.#answers = this.#answers.then(() => this.#place.take(this, answer));
    else if (this.#client !== undefined) pushLines(this.#client, [line]);
    else if (this.#waiting.push(line) === 1) void this.#open(line);
  }

  sendWorkspace(frame: ToWorkspaceClient): void | Promise<void> {
    return this.#options.writer.write(encodeLine(frame), true);
  }

  /** No line comes any more: nobody serves the workspace. Fulfilled once every command has begun. */
  async ended(): Promise<void> {
    this.#place.leave(this);
    if (this.#waiting.length === 0 && this.#client === undefined) void this.#open();
    await (await this.#opened.promise).accepted();
  }

  async #open(first?: DecodedLine): Promise<void> {
    if (first && servesWorkspaces(first)) this.#place.serve(this);
    try {
      await this.#options.open(this.#place);
      this.#client = this.#options.connect();
      pushLines(this.#client, this.#waiting.splice(0));
      this.#opened.resolve(this.#client);
    } catch (error) {
      this.#opened.reject(error);
    }
  }
}

/** What the client says of a call of its workspace; a malformed one is refused as any other line. */
function answerIn(line: DecodedLine): FromWorkspaceClient | undefined {
  if (!("text" in line) || !line.text.includes('"workspace_')) return undefined;
  const frame = attempt(() => Object(JSON.parse(line.text)));
  const isAnswer = frame?.type === "workspace_result" || frame?.type === "workspace_output";
  return isAnswer && typeof frame.id === "string" ? frame : undefined;
}

function servesWorkspaces(line: DecodedLine): boolean {
  const { type, capabilities } =
    ("text" in line && attempt(() => Object(JSON.parse(line.text)))) || {};
  return type === "initialize" && Object(capabilities).workspace === true;
}
