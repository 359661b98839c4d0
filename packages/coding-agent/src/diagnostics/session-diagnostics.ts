import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import {
  type DiagnosedChange,
  type Diagnostic,
  type DiagnosticsEntry,
  type FileDiagnosis,
  type FileProblem,
  globFilter,
  type StartedChange,
  within,
} from "@tau-agent/system";
import { type CheckedPlace, createPlacePaths } from "./checked-place.ts";
import type { CheckedFile, Checker } from "./checker.ts";
import { type CheckedText, newProblems } from "./problem.ts";
import type { ServerEntry } from "./server-checker.ts";

export interface SessionDiagnosticsOptions {
  readonly entries: () => readonly DiagnosticsEntry[];
  readonly timeoutMs: () => number;
  /** Where the session currently works. */
  readonly place: () => CheckedPlace;
  /** Gives this session access to a language server in that place. */
  readonly joinServer: (entry: ServerEntry, place: CheckedPlace) => Promise<Checker>;
  readonly note: (problem: Diagnostic) => void;
}

/** What one entry last reported about a file. */
interface Told {
  readonly baseline: CheckedText | undefined;
  /** The digest of the text that the session left; with another digest, someone else changed the file. */
  readonly digest: string;
}

interface Late {
  readonly checked: CheckedText;
  readonly problems: readonly FileProblem[];
  readonly digest: string;
}

interface Watched {
  readonly key: string;
  readonly checker: WatchedChecker;
}

interface WatchedChecker {
  readonly entry: DiagnosticsEntry;
  readonly checker: Checker;
  /** How many checks in a row were late. */
  misses: number;
}

const maxFileBytes = 2 * 1024 * 1024;
/** After this many late answers in a row, calls no longer wait for the checker. */
const maxMisses = 2;

/**
 * Finds the problems that changes to files introduce, with the commands and language servers of the settings. The known
 * state of a file is valid until someone else changes it.
 */
export class SessionDiagnostics implements FileDiagnosis {
  readonly #options: SessionDiagnosticsOptions;
  readonly #checkers = new Map<string, Promise<WatchedChecker>>();
  /** Cancels the last check of a file by an entry. */
  readonly #running = new Map<string, AbortController>();
  readonly #told = new Map<string, Told>();
  readonly #late = new Map<string, Late>();

  constructor(options: SessionDiagnosticsOptions) {
    this.#options = options;
  }

  /** Whether any entry is configured. */
  get isOn(): boolean {
    return this.#options.entries().length > 0;
  }

  /** To be called before a file is changed. */
  async begin(path: string): Promise<StartedChange> {
    const place = this.#options.place();
    const watched = await this.#watchedBy(path, place);
    const before = watched.length === 0 ? undefined : await readFile(path, place);
    const baselines = await Promise.all(watched.map((each) => this.#baseline(each, before)));
    return {
      finish: async () => {
        const after = watched.length === 0 ? undefined : await readFile(path, place);
        const found =
          after === undefined || after === "unreadable"
            ? []
            : await Promise.all(
                watched.map((each, at) => this.#compare(each, baselines[at], after)),
              );
        return this.#joined(found);
      },
    };
  }

  /** Ends everything that runs for this session. */
  async close(): Promise<void> {
    for (const running of this.#running.values()) running.abort();
    const all = [...this.#checkers.values()];
    this.#checkers.clear();
    const close = async (made: Promise<WatchedChecker>) => (await made).checker.close();
    await Promise.all(all.map((made) => close(made).catch(() => {})));
  }

  async #watchedBy(path: string, place: CheckedPlace): Promise<Watched[]> {
    const name = createPlacePaths(place).relative(path);
    const fitting = this.#options.entries().filter(({ match }) => globFilter(match).matches(name));
    return Promise.all(
      fitting.map(async (entry) => {
        const id = JSON.stringify([place.workspace.id, place.cwd, entry]);
        return { key: `${id} ${path}`, checker: await this.#checker(id, entry, place) };
      }),
    );
  }

  #checker(id: string, entry: DiagnosticsEntry, place: CheckedPlace): Promise<WatchedChecker> {
    const known = this.#checkers.get(id) ?? this.#makeChecker(entry, place);
    this.#checkers.set(id, known);
    return known;
  }

  async #makeChecker(entry: DiagnosticsEntry, place: CheckedPlace): Promise<WatchedChecker> {
    const checker = await this.#createChecker(entry, place).catch(
      // Each check reports the error, and no call fails.
      (error: unknown): Checker => ({ check: () => Promise.reject(error), close: async () => {} }),
    );
    return { entry, checker, misses: 0 };
  }

  async #createChecker(entry: DiagnosticsEntry, place: CheckedPlace): Promise<Checker> {
    if ("server" in entry) return this.#options.joinServer(entry, place);
    const { createCommandChecker } = await import("./command-checker.ts");
    return createCommandChecker(entry, place);
  }

  async #baseline(
    watched: Watched,
    before: CheckedFile | "unreadable" | undefined,
  ): Promise<CheckedText | undefined> {
    const { key } = watched;
    const told = this.#told.get(key);
    if (before === "unreadable") return undefined;
    if (before === undefined) return { text: "", problems: [] };
    const digest = await digestOf(before.text);
    if (told?.baseline !== undefined && told.digest === digest) return told.baseline;
    this.#late.delete(key);
    const problems = await this.#inTime(watched, before, this.#options.timeoutMs() / 2).answer;
    return problems && { text: before.text, problems };
  }

  /** Waits for a check as long as a call may; the check itself continues until the next check of the file. */
  #inTime({ key, checker }: Watched, file: CheckedFile, limitMs: number) {
    // An earlier check of the same file checks an outdated text.
    this.#running.get(key)?.abort();
    const running = new AbortController();
    this.#running.set(key, running);
    const { signal } = running;
    const work = checker.checker.check(file, signal).catch((error: unknown) => {
      const message = `Diagnostics of ${checker.entry.match}: ${errorMessage(error)}`;
      if (!signal.aborted) {
        this.#options.note({ severity: "warning", code: "diagnostics_failed", message });
      }
      return undefined;
    });
    const isGivenUp = checker.misses >= maxMisses;
    void work.then((problems) => {
      if (this.#running.get(key) === running) this.#running.delete(key);
      if (problems !== undefined) checker.misses = 0;
    });
    let isLate = false;
    const answer = within(isGivenUp ? 0 : limitMs, work, () => {
      isLate = true;
      checker.misses++;
    });
    return { work, answer: answer.then((found) => found ?? undefined), isLate: () => isLate };
  }

  async #compare(
    watched: Watched,
    baseline: CheckedText | undefined,
    after: CheckedFile,
  ): Promise<DiagnosedChange | undefined> {
    const { key } = watched;
    const digest = await digestOf(after.text);
    this.#told.set(key, { baseline, digest });
    const { work, answer, isLate } = this.#inTime(watched, after, this.#options.timeoutMs());
    const problems = await answer;
    if (problems !== undefined) {
      const checked = { text: after.text, problems };
      this.#told.set(key, { baseline: checked, digest });
      this.#late.delete(key);
      return { problems: newProblems(baseline, checked), hasBaseline: baseline !== undefined };
    }
    if (isLate()) {
      void work.then((later) => {
        // The file has been checked again since.
        if (later === undefined || this.#told.get(key)?.digest !== digest) return;
        const checked = { text: after.text, problems: later };
        this.#late.set(key, { checked, problems: newProblems(baseline, checked), digest });
      });
    }
    return undefined;
  }

  /** Combines the answers of all entries with late answers of earlier calls. */
  #joined(found: readonly (DiagnosedChange | undefined)[]): DiagnosedChange | undefined {
    const late = [...this.#late].map(([key, { checked, problems, digest }]) => {
      this.#told.set(key, { baseline: checked, digest });
      return { problems, hasBaseline: true };
    });
    this.#late.clear();
    const all = [...late, ...found.filter((each) => each !== undefined)];
    if (all.length === 0) return undefined;
    return {
      problems: all.flatMap(({ problems }) => problems),
      hasBaseline: all.every(({ hasBaseline }) => hasBaseline),
    };
  }
}

async function digestOf(text: string): Promise<string> {
  // Loaded here because the start of a session changes nothing yet (row `start`).
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("base64");
}

/** The file's current content; undefined if it does not exist. */
async function readFile(
  path: string,
  { workspace }: CheckedPlace,
): Promise<CheckedFile | "unreadable" | undefined> {
  try {
    const found = await workspace.stat(path);
    if (found === undefined) return undefined;
    if (found.kind !== "file" || found.size > maxFileBytes) return "unreadable";
    const text = Buffer.from(await workspace.read(path)).toString("utf8");
    return { path, realPath: found.realPath ?? path, text };
  } catch {
    return "unreadable";
  }
}
