import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeLine, LineDecoder, parseObject } from "@tau-agent/rpc-protocol/plain";
import { attempt } from "@tau-agent/system";

type Frame = Readonly<Record<string, unknown>>;

const root = fileURLToPath(new URL("../../../..", import.meta.url));

export const binPath = `${root}/apps/cli/bin/tau.js`;

export interface HostOptions {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What starts it, if it is not started directly. */
  readonly prefix?: readonly string[];
  /** Takes something out of it. */
  readonly mutant?: string | undefined;
  /** Stops it before its change of this number. */
  readonly stopAt?: number | undefined;
}

/** A host that is going to be killed. */
export class Host {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  hasEnded = false;
  stderr = "";
  readonly #listeners = new Set<(frame: Frame) => void>();

  constructor({ words, cwd, variables, prefix = [], mutant, stopAt }: HostOptions) {
    const hook = fileURLToPath(new URL("./mutate.ts", import.meta.url));
    const program =
      mutant === undefined && stopAt === undefined ? [binPath] : ["--import", hook, binPath];
    const [file = "", ...args] = [
      ...prefix,
      process.execPath,
      ...program,
      "--mode",
      "rpc",
      ...words,
    ];
    this.child = spawn(file, args, {
      cwd: prefix.length === 0 ? cwd : "/",
      env: {
        ...variables,
        ...{ TAU_CAMPAIGN_MUTANT: mutant, TAU_CAMPAIGN_STOP_AT: stopAt?.toString() },
        ...(program.length > 1 && { NODE_DISABLE_COMPILE_CACHE: "1" }),
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.ended = new Promise((resolve) =>
      this.child.once("exit", () => {
        this.hasEnded = true;
        resolve();
      }),
    );
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

  /** Answers frames, each after its time. */
  answer(answerOf: (frame: Frame) => { frame: Frame; afterMs: number } | undefined): void {
    this.#listeners.add((frame) => {
      const answer = answerOf(frame);
      if (answer !== undefined) setTimeout(() => this.send(answer.frame), answer.afterMs);
    });
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

  get isStopped(): boolean {
    const stat = attempt(() => readFileSync(`/proc/${this.child.pid}/stat`, "utf8")) ?? "";
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }
}
