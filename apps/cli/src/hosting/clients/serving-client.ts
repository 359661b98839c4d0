import { type DecodedLine, encodeLine } from "@tau-agent/rpc-protocol";
import type { FromWorkspaceClient, ToWorkspaceClient } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "@tau-agent/system";
import type { LineWriter } from "../../rpc/connection/line-writer.ts";
import { ClientPlace, type WorkspaceServingClient } from "../sessions/client-place.ts";
import type { Client } from "./client.ts";
import { pushLines } from "./push-lines.ts";

export interface ServingClientOptions {
  readonly writer: LineWriter;
  /** Opens the only session, once its workspace is connected. */
  readonly open: (place: ClientPlace) => Promise<unknown>;
  /** Creates the client of that session once the session is open. */
  readonly connect: () => Client;
}

/**
 * The client on stdin of a host whose only session uses the client's machine as its workspace. The client's
 * first line offers the workspace; the host opens the session with it, then passes this line and the
 * following ones to the session.
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
    // The caller that awaits the promise handles its rejection.
    this.#opened.promise.catch(() => {});
  }

  /** Resolves with the session's client. */
  get opened(): Promise<Client> {
    return this.#opened.promise;
  }

  get owesAnswers(): boolean {
    return this.#client?.owesAnswers ?? this.#waiting.length > 0;
  }

  push(line: DecodedLine): void {
    const answer = answerIn(line);
    // One line at a time, because output waits for its reader.
    if (answer) this.#answers = this.#answers.then(() => this.#place.take(this, answer));
    else if (this.#client !== undefined) pushLines(this.#client, [line]);
    else if (this.#waiting.push(line) === 1) void this.#open(line);
  }

  sendWorkspace(frame: ToWorkspaceClient): void | Promise<void> {
    return this.#options.writer.write(encodeLine(frame), true);
  }

  /** No more lines will arrive, so nobody serves the workspace. Resolves once every command has begun. */
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

/** Takes the client's answer to a workspace call; refuses a malformed one like any other line. */
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
