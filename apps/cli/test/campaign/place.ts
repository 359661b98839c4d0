import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { binPath } from "./host.ts";
import type { Entry } from "./oracle.ts";
import type { RoundPlan } from "./plans.ts";
import type { StoreServer } from "./store-server.ts";

export const key = { projectKey: "p", sessionId: "s1" };
export const leaseMs = 1_000;
const storeModule = fileURLToPath(new URL("./remote-store.mjs", import.meta.url));
const diskBytes = 32 * 1024 * 1024;

export interface PlaceOptions {
  readonly plan: RoundPlan;
  readonly model: string;
  readonly url: string;
  readonly store: StoreServer | undefined;
}

/** Where the hosts of a round work, on a disk of their own if it is going to be full. */
export class Place {
  /** As its hosts name it. */
  readonly path = mkdtempSync(join(tmpdir(), "tau-campaign-"));
  readonly #options: PlaceOptions;
  #disk: ChildProcess | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  async make(): Promise<void> {
    if (this.#options.plan.fault === "disk") this.#disk = await mountDisk(this.path);
    const { plan, model, url } = this.#options;
    const seen = this.#seen;
    for (const name of ["project", "agent", "tmp"]) mkdirSync(join(seen, name));
    const calls = plan.work.flat();
    const edits = calls.filter(({ kind }) => kind === "edit");
    writeFileSync(join(this.folder, "text"), edits.map(({ mark }) => `before ${mark}\n`).join(""));
    for (const { kind, mark } of calls) {
      if (kind === "replace") writeFileSync(join(this.folder, `old-${mark}`), "old");
    }
    const provider = {
      ...{ baseUrl: url, api: "openai-completions", apiKey: "x" },
      models: [{ id: model }],
    };
    const models = JSON.stringify({ providers: { loop: provider } });
    writeFileSync(join(seen, "agent/models.json"), models);
    const { durabilityAdoptMs } = plan;
    const settings = { retry: { baseDelayMs: 10 }, durabilityAdoptMs, ...plan.settings };
    writeFileSync(join(seen, "agent/settings.json"), JSON.stringify(settings));
  }

  /** The project's folder as this program sees it. */
  get folder(): string {
    return join(this.#seen, "project");
  }

  /** Whether there is a disk that can be full. */
  get hasDisk(): boolean {
    return this.#disk !== undefined;
  }

  get cwd(): string {
    return join(this.path, "project");
  }

  get words(): string[] {
    const { plan, model, store } = this.#options;
    const own = ["--durability", "effects", "--provider", "loop", "--model", model];
    const far = plan.isFar ? farWords(this.cwd) : [];
    if (store === undefined) return [...own, ...far, "--session", join(this.path, "session.jsonl")];
    const lease = ["--lease-ms", String(leaseMs)];
    const named = ["--session-id", key.sessionId, "--project-key", key.projectKey];
    return [...own, ...far, "--store", `${storeModule}?${store.url}`, ...lease, ...named];
  }

  get variables(): Record<string, string | undefined> {
    const { path } = this;
    return {
      ...{ PATH: process.env.PATH, HOME: path, TMPDIR: join(path, "tmp") },
      ...{ PI_CODING_AGENT_DIR: join(path, "agent"), DO_NOT_TRACK: "1" },
      // Of a test that records frames.
      NODE_OPTIONS: process.env.NODE_OPTIONS,
    };
  }

  /** What a host is started with, so that it sees the disk. */
  get prefix(): readonly string[] {
    if (this.#disk === undefined) return [];
    const shell = ["sh", "-c", 'cd "$0" && exec "$@"', this.cwd];
    return [
      "nsenter",
      "-t",
      String(this.#disk.pid),
      "-U",
      "-m",
      "--preserve-credentials",
      ...shell,
    ];
  }

  fillDisk(): void {
    spawnSync("dd", ["if=/dev/zero", `of=${join(this.#seen, "filler")}`, "bs=64k"]);
  }

  freeDisk(): void {
    rmSync(join(this.#seen, "filler"), { force: true });
  }

  async entries(): Promise<readonly Entry[]> {
    const { store } = this.#options;
    if (store !== undefined) return store.entries(key);
    const text = readFileSync(join(this.#seen, "session.jsonl"), "utf8");
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Entry]));
  }

  remove(): void {
    this.#disk?.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  get #seen(): string {
    return this.#disk === undefined ? this.path : `/proc/${this.#disk.pid}/root${this.path}`;
  }
}

/** The folder as the workspace of an exec server, which any host can start. */
function farWords(cwd: string): string[] {
  const command = [process.execPath, binPath, "exec-server"];
  return ["--workspace", JSON.stringify({ command, cwd })];
}

/** A small disk at a path, for a process and those that enter its namespaces; undefined where the system has none. */
async function mountDisk(path: string): Promise<ChildProcess | undefined> {
  const script = `mount -t tmpfs -o size=${diskBytes} tau "$0" && echo mounted && exec sleep 600`;
  const child = spawn("unshare", ["-U", "-r", "-m", "sh", "-c", script, path], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const isMounted = await new Promise<boolean>((resolve) => {
    child.stdout.once("data", () => resolve(true));
    child.once("error", () => resolve(false)).once("exit", () => resolve(false));
  });
  return isMounted ? child : undefined;
}
