import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child, type Environment } from "../child.ts";
import { now } from "../clock.ts";
import type { Frame } from "../frame-receiver.ts";
import { residentParts } from "../process-usage.ts";
import { Workspace } from "../workspace.ts";
import type { Span, V8Profile } from "./cpu-profile.ts";

export type Observation = "cpu" | "system-calls";

type Command = readonly [string, ...string[]];

/** A child that records its commands, and the parts of its memory when it was measured. */
export class ObservedChild extends Child {
  readonly startedAt = now();
  readonly sent: { readonly type: string; readonly at: number }[] = [];
  memoryParts: Readonly<Record<string, number>> | undefined;
  endedAt = Number.POSITIVE_INFINITY;

  override async stop(): Promise<void> {
    this.endedAt = Math.min(this.endedAt, now());
    await super.stop();
  }

  override send(frame: Frame): void {
    this.sent.push({ type: String(frame.type), at: now() });
    super.send(frame);
  }

  override residentMib(): number {
    this.memoryParts = residentParts(this.pid);
    return super.residentMib();
  }
}

/** A workspace whose programs write profiles or are traced by strace. */
export class ProfiledWorkspace extends Workspace {
  readonly observed: ObservedChild[] = [];
  readonly #results = mkdtempSync(join(tmpdir(), "tau-profile-"));
  readonly #observation: Observation;

  constructor(baseUrl: string, observation: Observation) {
    super(baseUrl);
    this.#observation = observation;
  }

  override spawn(command: Command, env: Environment = this.env): Child {
    const options = { cwd: this.cwd, env: { NODE_COMPILE_CACHE: this.#compiledCode, ...env } };
    const child = new ObservedChild(this.#observe(command), options);
    this.observed.push(child);
    return child;
  }

  /** Ends all programs, so that they write their results. */
  async stop(): Promise<void> {
    await Promise.all(this.observed.map((child) => child.stop()));
  }

  profiles(): V8Profile[] {
    const paths = readdirSync(this.#results).filter((name) => name.endsWith(".cpuprofile"));
    return paths.map((name) => JSON.parse(readFileSync(join(this.#results, name), "utf8")));
  }

  systemCallTables(): string[] {
    const paths = readdirSync(this.#results).filter((name) => name.endsWith(".strace"));
    return paths.map((name) => readFileSync(join(this.#results, name), "utf8"));
  }

  override [Symbol.dispose](): void {
    for (const child of this.observed) child.kill();
    rmSync(this.#results, { recursive: true, force: true });
    super[Symbol.dispose]();
  }

  get #compiledCode(): string {
    return join(tmpdir(), "tau-profile-compile-cache");
  }

  #observe([program, ...args]: Command): Command {
    if (this.#observation === "cpu") {
      const flags = ["--cpu-prof", "--cpu-prof-interval", "100", "--cpu-prof-dir", this.#results];
      return [program, ...flags, ...args];
    }
    const path = join(this.#results, `${this.observed.length}.strace`);
    return ["strace", "-f", "-c", "-q", "-S", "calls", "-o", path, program, ...args];
  }
}

/**
 * The time spans in which a child worked on commands of a type: from each until the next command. Without a
 * type, the whole time.
 */
export function spansOf(child: ObservedChild, type: string | undefined): Span[] {
  const { startedAt, endedAt, sent } = child;
  if (type === undefined) return [{ from: startedAt, to: endedAt }];
  return sent.flatMap((command, index) => {
    const to = sent[index + 1]?.at ?? endedAt;
    return command.type === type ? [{ from: command.at, to }] : [];
  });
}
