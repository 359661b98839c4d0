import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { encodeLine, LineDecoder, parseObject } from "@tau-agent/rpc-protocol/plain";

type Frame = Readonly<Record<string, unknown>>;

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export const binPath = `${root}/apps/cli/bin/tau.js`;

export interface HostOptions {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Takes something out of it. */
  readonly mutant?: string | undefined;
}

/** A host that is going to be killed. */
export class Host {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  stderr = "";
  readonly #listeners = new Set<(frame: Frame) => void>();

  constructor({ words, cwd, variables, mutant }: HostOptions) {
    const hook = fileURLToPath(new URL("./mutate.ts", import.meta.url));
    const program = mutant === undefined ? [binPath] : ["--import", hook, binPath];
    this.child = spawn(process.execPath, [...program, "--mode", "rpc", ...words], {
      cwd,
      env: { ...variables, TAU_CAMPAIGN_MUTANT: mutant, NODE_DISABLE_COMPILE_CACHE: mutant && "1" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.ended = new Promise((resolve) => this.child.once("exit", () => resolve()));
    this.child.stdin?.on("error", () => {});
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    const decoder = new LineDecoder();
    this.child.stdout?.on("data", (chunk: Buffer) => {
      for (const line of decoder.push(chunk)) {
        const frame = "text" in line ? parseObject(line.text) : undefined;
        if (frame !== undefined) for (const listener of [...this.#listeners]) listener(frame);
      }
    });
  }

  send(frame: Frame): void {
    this.child.stdin?.write(encodeLine(frame));
  }

  /** The first frame that fits; undefined when the host ends or the time is over. */
  until(fits: (frame: Frame) => boolean, limitMs: number): Promise<Frame | undefined> {
    return new Promise((resolve) => {
      const finish = (frame?: Frame): void => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(frame);
      };
      const listener = (frame: Frame): void => {
        if (fits(frame)) finish(frame);
      };
      const timer = setTimeout(finish, limitMs);
      this.#listeners.add(listener);
      void this.ended.then(() => finish());
    });
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}
