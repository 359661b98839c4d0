import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { killFunctions } from "./kill-script.ts";
import { MarkScanner } from "./mark-scanner.ts";
import { lost, type OpenShell } from "./open-shell.ts";
import { operations } from "./operations.ts";

/** The output of a request, and its exit status. */
export interface ShellAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** A script for `sh`; if it reads input, that is the bytes after it. */
export interface ShellRequest {
  readonly script: string;
  readonly input?: Uint8Array | undefined;
}

interface Pending {
  readonly scanner: MarkScanner;
  readonly body: Buffer[];
  status: Buffer | undefined;
  readonly resolve: (answer: ShellAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** How often, in seconds, a silent shell must give a sign of life; it prints that on stderr. */
const beatSeconds = 15;

const silentMs = 2.5 * beatSeconds * 1000;

/** The functions of a lane, and its signs of life. */
const setUp = `${operations}${killFunctions}
while sleep ${beatSeconds} >/dev/null 2>&1 && kill -0 $$ && echo >&2; do :; done >/dev/null &
t_last="kill $!"
`;

/** One shell that runs requests, one after the other. */
export class Lane {
  readonly #shell: OpenShell;
  readonly #silentMs: number;
  #pending: Pending | undefined;
  #count = 0;
  #isSetUp = false;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Resolves when the shell is gone. */
  readonly ended: Promise<Error>;

  constructor(shell: OpenShell, limitMs = silentMs) {
    this.#shell = shell;
    this.#silentMs = limitMs;
    const { carrier } = shell;
    carrier.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    carrier.stdout.resume();
    carrier.stderr.on("data", () => this.#timer?.refresh());
    carrier.stderr.resume();
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.ended = promise;
    void carrier.ended.then((reason) => {
      // Its output before its end must still be read.
      setImmediate(() => {
        this.#fail(lost(reason, carrier));
        resolve(this.#failure ?? lost(reason));
      });
    });
  }

  get isBusy(): boolean {
    return this.#pending !== undefined;
  }

  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  /** Runs a request; only one at a time. */
  run({ script, input }: ShellRequest): Promise<ShellAnswer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<ShellAnswer>();
    const { carrier, mark } = this.#shell;
    const end = `${mark}:${this.#count++}:`;
    this.#pending = { scanner: new MarkScanner(end), body: [], status: undefined, resolve, reject };
    const first = this.#isSetUp ? "" : setUp;
    this.#isSetUp = true;
    const text = `${first}${script}\nprintf '%s%s\\n' ${end} $?\n${mark}\n`;
    this.#timer = setTimeout(() => {
      this.#fail(lost("it does not answer"));
      carrier.stop();
    }, this.#silentMs);
    void carrier.write(Buffer.from(text)).then(async () => {
      if (input === undefined) return;
      await carrier.write(input);
      carrier.endInput();
    });
    return promise;
  }

  /** Lets the shell finish its work, and then end. */
  end(): void {
    this.#shell.carrier.endInput();
  }

  stop(): void {
    this.#fail(new WorkspaceError("lost", "workspace lost: it was closed"));
    this.#shell.carrier.stop();
  }

  #take(chunk: Buffer): void {
    this.#timer?.refresh();
    const pending = this.#pending;
    if (pending === undefined) return;
    let status = chunk;
    if (pending.status === undefined) {
      const { before, after } = pending.scanner.take(chunk);
      if (before.length > 0) pending.body.push(before);
      if (after === undefined) return;
      status = after;
    }
    pending.status =
      pending.status === undefined ? status : Buffer.concat([pending.status, status]);
    const end = pending.status.indexOf("\n");
    if (end < 0) return;
    this.#finish();
    const number = Number(pending.status.toString("latin1", 0, end));
    pending.resolve({ status: number, body: Buffer.concat(pending.body) });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    const pending = this.#pending;
    this.#finish();
    pending?.reject(this.#failure);
  }

  #finish(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = undefined;
  }
}
