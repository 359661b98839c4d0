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
import { type CheckedPlace, PlacePaths } from "./checked-place.ts";
import type { CheckedFile, Checker } from "./checker.ts";
import { type CheckedText, newProblems } from "./problem.ts";

export interface SessionDiagnosticsOptions {
  readonly entries: () => readonly DiagnosticsEntry[];
  readonly timeoutMs: () => number;
  /** Where the session works now. */
  readonly place: () => CheckedPlace;
  readonly note: (problem: Diagnostic) => void;
}

/** What was last told of a file by one entry. */
interface Told {
  readonly baseline: CheckedText | undefined;
  /** Of the text that the session itself left there; another one is somebody else's. */
  readonly digest: string;
}

interface Late {
  readonly checked: CheckedText;
  readonly problems: readonly FileProblem[];
  readonly digest: string;
}

interface Watched {
  readonly key: string;
  readonly checker: RunningChecker;
}

/** A checker, and how often in a row it was too late. */
interface RunningChecker extends Checker {
  misses: number;
}

const maxFileBytes = 2 * 1024 * 1024;
/** After so many answers that came too late, no call waits for the next. */
const maxMisses = 2;

/**
 * Looks for the problems that changes of files bring, with the commands and language servers of the settings. What
 * is known of a file lasts until somebody else changes it.
 */
export class SessionDiagnostics implements FileDiagnosis {
  readonly #options: SessionDiagnosticsOptions;
  readonly #checkers = new Map<string, RunningChecker>();
  readonly #told = new Map<string, Told>();
  readonly #late = new Map<string, Late>();

  constructor(options: SessionDiagnosticsOptions) {
    this.#options = options;
  }

  /** Whether any call needs a look. */
  get isOn(): boolean {
    return this.#options.entries().length > 0;
  }

  /** Before a file is changed. */
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

  /** Ends all that runs. */
  async close(): Promise<void> {
    const all = [...this.#checkers.values()];
    this.#checkers.clear();
    await Promise.all(all.map((checker) => checker.close().catch(() => {})));
  }

  async #watchedBy(path: string, place: CheckedPlace): Promise<Watched[]> {
    const name = new PlacePaths(place).relative(path);
    const fitting = this.#options.entries().filter(({ match }) => globFilter(match).matches(name));
    return Promise.all(
      fitting.map(async (entry) => {
        const id = JSON.stringify([place.workspace.id, place.cwd, entry]);
        return { key: `${id} ${path}`, checker: await this.#checker(id, entry, place) };
      }),
    );
  }

  async #checker(
    id: string,
    entry: DiagnosticsEntry,
    place: CheckedPlace,
  ): Promise<RunningChecker> {
    const onFailed = (reason: string): void => {
      const message = `Diagnostics of ${entry.match}: ${reason}`;
      this.#options.note({ severity: "warning", code: "diagnostics_failed", message });
    };
    const made =
      this.#checkers.get(id) ??
      ("command" in entry
        ? new (await import("./command-checker.ts")).CommandChecker(entry, place, onFailed)
        : new (await import("./server-checker.ts")).ServerChecker(entry, place, onFailed));
    const known = this.#checkers.get(id) ?? Object.assign(made, { misses: 0 });
    this.#checkers.set(id, known);
    return known;
  }

  async #baseline(
    { key, checker }: Watched,
    before: CheckedFile | "unreadable" | undefined,
  ): Promise<CheckedText | undefined> {
    const told = this.#told.get(key);
    if (before === "unreadable") return undefined;
    if (before === undefined) return { text: "", problems: [] };
    const digest = await digestOf(before.text);
    if (told?.baseline !== undefined && told.digest === digest) return told.baseline;
    this.#late.delete(key);
    const problems = await this.#inTime(checker, before, this.#options.timeoutMs() / 2).answer;
    return problems && { text: before.text, problems };
  }

  /** Waits for a check as long as a call may; the check itself continues. */
  #inTime(checker: RunningChecker, file: CheckedFile, limitMs: number) {
    const work = checker.check(file).catch((error: unknown) => {
      const message = `Diagnostics of ${file.path}: ${errorMessage(error)}`;
      this.#options.note({ severity: "warning", code: "diagnostics_failed", message });
      return undefined;
    });
    const isGivenUp = checker.misses >= maxMisses;
    void work.then((problems) => {
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
    { key, checker }: Watched,
    baseline: CheckedText | undefined,
    after: CheckedFile,
  ): Promise<DiagnosedChange | undefined> {
    const digest = await digestOf(after.text);
    this.#told.set(key, { baseline, digest });
    const { work, answer, isLate } = this.#inTime(checker, after, this.#options.timeoutMs());
    const problems = await answer;
    if (problems !== undefined) {
      const checked = { text: after.text, problems };
      this.#told.set(key, { baseline: checked, digest });
      this.#late.delete(key);
      return { problems: newProblems(baseline, checked), hasBaseline: baseline !== undefined };
    }
    if (isLate()) {
      void work.then((later) => {
        // Another change has been looked at since.
        if (later === undefined || this.#told.get(key)?.digest !== digest) return;
        const checked = { text: after.text, problems: later };
        this.#late.set(key, { checked, problems: newProblems(baseline, checked), digest });
      });
    }
    return undefined;
  }

  /** The answers of all entries, and those of earlier calls that came late. */
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
  // Not with the start of a session, which has changed nothing yet (row `start`).
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(text).digest("base64");
}

/** The file as it is; undefined if there is none. */
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
