import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { DiagnosticsEntry, FileProblem } from "@tau-agent/system";
import type {
  Diagnostic,
  DocumentDiagnosticReport,
  PublishDiagnosticsParams,
} from "vscode-languageserver-protocol";
import { createPlacePaths, type OwnPlace, type PlacePaths } from "./checked-place.ts";
import type { CheckedFile, Checker } from "./checker.ts";
import { languageIdOf } from "./language-ids.ts";
import { plainMessage } from "./problem.ts";
import { ServerConnection } from "./server-connection.ts";

export type ServerEntry = Extract<DiagnosticsEntry, { server: readonly string[] }>;

/** How often the server is started in total: once, and once more after a crash. */
const maxStarts = 2;
/** How long a check may continue after its call. */
const limitMs = 120_000;
/**
 * A server reports in steps. It is done after this silence, or after a silence as long as it took until then, or twice
 * as long as any between its steps, in this check and the one before: a busy machine makes all of them longer.
 */
const minQuietMs = 300;
const maxQuietMs = 2_000;
const maxProblems = 1_000;

interface OpenCheck {
  readonly path: string;
  readonly uri: string;
  readonly version: number;
  readonly since: number;
  readonly settle: (problems: readonly Diagnostic[] | undefined) => void;
  quiet?: NodeJS.Timeout;
  /** When the last step was reported. */
  reportedAt?: number;
  /** The longest time between two steps. */
  pauseMs: number;
}

/**
 * Queries a language server, which starts with the first check. Several sessions may share it; it has one document open
 * at a time.
 */
export class ServerChecker implements Checker {
  readonly #entry: ServerEntry;
  readonly #place: OwnPlace;
  readonly #paths: PlacePaths;
  #server: Promise<ServerConnection> | undefined;
  #starts = 0;
  /** Why the server is no longer started. */
  #failure: string | undefined;
  #version = 0;
  #open: OpenCheck | undefined;
  /** Of the check before. */
  #pauseMs = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(entry: ServerEntry, place: OwnPlace) {
    this.#entry = entry;
    this.#place = place;
    this.#paths = createPlacePaths(place);
  }

  async check(file: CheckedFile, signal: AbortSignal): Promise<readonly FileProblem[] | undefined> {
    const asked = this.#last.then(() => this.#ask(file, signal));
    this.#last = asked.catch(() => {});
    const found = await asked;
    if (found === undefined && this.#failure !== undefined) throw new Error(this.#failure);
    const name = this.#paths.relative(file.path);
    return found?.slice(0, maxProblems).flatMap((one) => problemOf(one, name) ?? []);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#open?.settle(undefined);
    const server = await this.#server?.catch(() => undefined);
    await server?.ended;
    await this.#place.close();
  }

  async #ask(file: CheckedFile, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
    // The check may have been cancelled while it waited for others.
    if (signal.aborted) return undefined;
    const server = await this.#start();
    if (server === undefined || signal.aborted || this.#closing.signal.aborted) return undefined;
    const { promise, resolve: settle } = Promise.withResolvers<readonly Diagnostic[] | undefined>();
    const uri = this.#paths.toUri(file.path);
    const version = ++this.#version;
    const { path } = file;
    const open: OpenCheck = { path, uri, version, since: performance.now(), settle, pauseMs: 0 };
    this.#open = open;
    const giveUp = (): void => settle(undefined);
    const late = setTimeout(giveUp, limitMs);
    signal.addEventListener("abort", giveUp, { once: true });
    void server.ended.then(giveUp);
    const languageId = this.#entry.languageId ?? languageIdOf(this.#paths.extension(file.path));
    const textDocument = { uri, languageId, version, text: file.text };
    await server.notify("workspace/didChangeWatchedFiles", { changes: [{ uri, type: 2 }] });
    await server.notify("textDocument/didOpen", { textDocument });
    await server.notify("textDocument/didSave", { textDocument: { uri }, text: file.text });
    if (server.hasPull) void this.#pull(server, open);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", giveUp);
      clearTimeout(open.quiet);
      this.#open = undefined;
      this.#pauseMs = open.pauseMs;
      // Closing makes the server read the file from the disk again: other programs may change it.
      await server.notify("textDocument/didClose", { textDocument: { uri } });
    }
  }

  async #pull(server: ServerConnection, open: OpenCheck): Promise<void> {
    const params = { textDocument: { uri: open.uri } };
    const report = await server
      .request<DocumentDiagnosticReport>("textDocument/diagnostic", params)
      .catch(() => undefined);
    // A server that refuses the request may still publish problems.
    if (report?.kind === "full") open.settle(report.items);
  }

  #take({ uri, version, diagnostics }: PublishDiagnosticsParams): void {
    const open = this.#open;
    if (open === undefined || (version != null && version !== open.version)) return;
    if (uri !== open.uri && this.#paths.fromUri(uri) !== open.path) return;
    clearTimeout(open.quiet);
    const now = performance.now();
    open.pauseMs = Math.max(open.pauseMs, now - (open.reportedAt ?? now));
    open.reportedAt = now;
    const pauseMs = Math.max(open.pauseMs, this.#pauseMs);
    const quietMs = Math.min(maxQuietMs, Math.max(minQuietMs, now - open.since, 2 * pauseMs));
    open.quiet = setTimeout(() => open.settle(diagnostics), quietMs);
  }

  async #start(): Promise<ServerConnection | undefined> {
    while (
      this.#server === undefined &&
      this.#starts < maxStarts &&
      !this.#closing.signal.aborted
    ) {
      this.#starts++;
      const starting = ServerConnection.start({
        command: this.#entry.server,
        place: this.#place,
        signal: this.#closing.signal,
        rootUri: this.#paths.toUri(this.#place.cwd),
        onPublish: (published) => this.#take(published),
      });
      this.#server = starting;
      const forget = (reason: string): void => {
        if (this.#server === starting) this.#server = undefined;
        if (this.#starts >= maxStarts && !this.#closing.signal.aborted) {
          this.#failure = `${this.#entry.server.join(" ")} was started twice: ${reason}`;
        }
      };
      try {
        const server = await starting;
        void server.ended.then(() => forget("it ended"));
      } catch (error) {
        forget(errorMessage(error));
      }
    }
    return this.#server;
  }
}

const severities = [undefined, "error", "warning", "information"] as const;
/** The severity of hints, which editors show as faded text. */
const hint = 4;

function problemOf(found: Diagnostic, file: string): FileProblem | undefined {
  const { range, message, severity, code } = found;
  // Third-party servers may send anything.
  if (severity === hint || typeof message !== "string") return undefined;
  const { line = 0, character = 0 } = range?.start ?? {};
  const word = severity === undefined ? undefined : severities[severity];
  return {
    file,
    line: line + 1,
    column: character + 1,
    ...(word !== undefined && { severity: word }),
    message: plainMessage(message),
    ...(code !== undefined && code !== null && { code: String(code) }),
  };
}
