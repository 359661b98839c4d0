import type {
  Workspace,
  WorkspaceDescription,
  WorkspaceExit,
  WorkspaceLimit,
  WorkspaceProcess,
  WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { within } from "../../base/within.ts";

/** A check for one rule of the interface. */
export interface Check {
  readonly name: string;
  /** The values of `limited` that excuse a workspace from the check. */
  readonly limits?: readonly WorkspaceLimit[];
  readonly run: (bench: Bench) => Promise<void>;
}

/** What a command printed, and how it ended. */
export interface Ran {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly exit: WorkspaceExit;
  readonly passedMs: number;
}

/** A separate folder for one check, and the actions of checks. */
export class Bench {
  readonly workspace: Workspace;
  readonly description: WorkspaceDescription;
  readonly folder: string;
  readonly #processes: WorkspaceProcess[] = [];
  readonly #stopped = new AbortController();

  constructor(workspace: Workspace, description: WorkspaceDescription, folder: string) {
    this.workspace = workspace;
    this.description = description;
    this.folder = folder;
  }

  /** A path in the folder. */
  at(...names: readonly string[]): string {
    const separator = this.description.platform === "win32" ? "\\" : "/";
    return [this.folder, ...names].join(separator);
  }

  write(name: string, text = "text"): Promise<void> {
    return this.workspace.write(this.at(name), Buffer.from(text));
  }

  async text(name: string): Promise<string> {
    return Buffer.from(await this.workspace.read(this.at(name))).toString();
  }

  async names(...names: readonly string[]): Promise<readonly string[]> {
    const entries = await this.workspace.list(this.at(...names));
    return entries.map(({ name }) => name).toSorted();
  }

  /** Makes a link with a command, because the interface has no call for it. */
  async link(target: string, name: string): Promise<void> {
    await this.line('ln -s "$1" "$2"', target, this.at(name));
  }

  /** Runs a line of `sh` with arguments, and requires exit code 0. */
  async line(script: string, ...words: readonly string[]): Promise<Ran> {
    const ran = await this.run({ command: ["sh", "-c", script, "sh", ...words] });
    same(ran.exit.exitCode, 0, `the exit code of ${script} (${ran.stderr})`);
    return ran;
  }

  /** Runs a command to its end. */
  async run(
    options: Partial<WorkspaceSpawnOptions> & Pick<WorkspaceSpawnOptions, "command">,
  ): Promise<Ran> {
    const begin = performance.now();
    const { process, printed } = await this.start(options);
    const exit = await process.done;
    const [stdout, stderr] = [Buffer.concat(printed.stdout), Buffer.concat(printed.stderr)];
    return { stdout, stderr, exit, passedMs: performance.now() - begin };
  }

  /** Starts a command, which is killed at the end of the check. */
  async start(
    options: Partial<WorkspaceSpawnOptions> & Pick<WorkspaceSpawnOptions, "command">,
  ): Promise<{
    readonly process: WorkspaceProcess;
    readonly printed: { stdout: Buffer[]; stderr: Buffer[] };
  }> {
    const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    const process = await this.workspace.spawn({
      cwd: this.folder,
      onOutput: (bytes, stream) => {
        printed[stream].push(Buffer.from(bytes));
      },
      ...options,
    });
    process.done.catch(() => undefined);
    if (this.#stopped.signal.aborted)
      void Promise.resolve(process.kill("SIGKILL")).catch(() => undefined);
    this.#processes.push(process);
    return { process, printed };
  }

  /** Kills all commands that the check started. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const kills = this.#processes.map(async (process) => {
      if (
        (await within(
          0,
          process.done.then(
            () => true,
            () => true,
          ),
        )) === true
      )
        return;
      await process.kill("SIGKILL");
    });
    await within(2_000, Promise.allSettled(kills));
  }
}

/** @throws {Error} the values differ */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found === wanted) return;
  throw new Error(`${what}: ${shortened(found)} instead of ${shortened(wanted)}`);
}

/** @throws {Error} the condition is false */
export function holds(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** @throws {Error} the bytes differ */
export function sameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  holds(actual instanceof Uint8Array, `${what}: not a Uint8Array`);
  same(actual.length, expected.length, `the length of ${what}`);
  holds(Buffer.compare(actual, expected) === 0, `${what}: other bytes`);
}

/** @throws {Error} the call does not reject with this code */
export async function rejects(
  code: string,
  call: () => Promise<unknown>,
  what: string,
): Promise<void> {
  let found: string;
  try {
    await call();
    found = "no error";
  } catch (error) {
    found = String((error as { code?: unknown } | undefined)?.code ?? error);
  }
  holds(found === code, `${what}: ${found} instead of ${code}`);
}

/** Waits for a condition that takes a moment. */
export async function eventually(
  limitMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await pause(25);
  }
  return true;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function shortened(text: string | undefined): string {
  return text === undefined ? "undefined" : text.slice(0, 200);
}
