import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "@tau-agent/system";
import { binPath } from "./host.ts";
import type { Entry } from "./oracle.ts";
import type { RoundPlan } from "./plans.ts";
import type { StoreServer } from "./store-server.ts";

export const leaseMs = 1_000;
const storeModule = fileURLToPath(new URL("./remote-store.mjs", import.meta.url));
const diskBytes = 64 * 1024 * 1024;
/** Every round has the same session id; the projects tell them apart. */
export const sessionId = "s1";

export interface PlacedRound {
  readonly plan: RoundPlan;
  readonly model: string;
}

export interface PlaceOptions {
  readonly rounds: readonly PlacedRound[];
  /** The address of the model server. */
  readonly url: string;
  readonly store: StoreServer | undefined;
  /** Whether the host has many sessions. */
  readonly isShared: boolean;
}

/** The folder of rounds that share hosts; on its own small disk if the plan fills the disk. */
export class Place {
  /** The path as the hosts see it. */
  readonly path = mkdtempSync(join(tmpdir(), "tau-campaign-"));
  readonly #options: PlaceOptions;
  #disk: ChildProcess | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  async make(): Promise<void> {
    const { rounds, url } = this.#options;
    const isDisk = rounds.some(({ plan }) => plan.fault === "disk");
    if (isDisk) this.#disk = await mountDisk(this.path);
    for (const name of ["agent", "tmp"]) mkdirSync(join(this.#seen, name));
    for (const round of rounds) this.#makeProject(round);
    const provider = {
      ...{ baseUrl: url, api: "openai-completions", apiKey: "x" },
      models: rounds.map(({ model }) => ({ id: model })),
    };
    const models = JSON.stringify({ providers: { loop: provider } });
    writeFileSync(join(this.#seen, "agent/models.json"), models);
  }

  #makeProject({ plan, model }: PlacedRound): void {
    const folder = this.folderOf(model);
    mkdirSync(join(folder, ".pi"), { recursive: true });
    const calls = plan.work.flat();
    const edits = calls.filter(({ kind }) => kind === "edit");
    writeFileSync(join(folder, "text"), edits.map(({ mark }) => `before ${mark}\n`).join(""));
    for (const { kind, mark } of calls) {
      if (kind === "replace") writeFileSync(join(folder, `old-${mark}`), "old");
    }
    const { durabilityAdoptMs } = plan;
    const settings = { retry: { baseDelayMs: 10 }, durabilityAdoptMs, ...plan.settings };
    writeFileSync(join(folder, ".pi/settings.json"), JSON.stringify(settings));
  }

  /** The path of a round's folder as this program sees it. */
  folderOf(model: string): string {
    return join(this.#seen, model, "project");
  }

  /** Whether there is a small disk that can be filled. */
  get hasDisk(): boolean {
    return this.#disk !== undefined;
  }

  get cwd(): string {
    const [first] = this.#options.rounds;
    return this.#options.isShared || first === undefined ? this.path : this.#cwdOf(first.model);
  }

  /** The arguments of a host. */
  get words(): string[] {
    const { rounds, store, isShared } = this.#options;
    const own = ["--durability", "effects", "--provider", "loop"];
    const lease = ["--lease-ms", String(leaseMs)];
    const place = store === undefined ? [] : ["--store", `${storeModule}?${store.url}`, ...lease];
    const [first] = rounds;
    if (isShared || first === undefined) return [...own, ...place, "--sessions"];
    const { plan, model } = first;
    const far = plan.isFar ? ["--workspace", JSON.stringify(this.#farOf(model))] : [];
    const named =
      store === undefined
        ? ["--session", this.#fileOf(model)]
        : ["--session-id", sessionId, "--project-key", model];
    return [...own, ...place, "--model", model, "--approve", ...far, ...named];
  }

  /** The `open_session` command for a host with many sessions. */
  opening({ plan, model }: PlacedRound): Readonly<Record<string, unknown>> {
    const { store } = this.#options;
    return {
      ...{ cwd: this.#cwdOf(model), modelId: model, approve: true },
      ...(plan.isFar && { workspace: this.#farOf(model) }),
      ...(store === undefined
        ? { sessionPath: this.#fileOf(model) }
        : { durableSessionId: sessionId, projectKey: model }),
    };
  }

  get variables(): Record<string, string | undefined> {
    const { path } = this;
    return {
      ...{ PATH: process.env.PATH, HOME: path, TMPDIR: join(path, "tmp") },
      ...{ PI_CODING_AGENT_DIR: join(path, "agent"), DO_NOT_TRACK: "1" },
      // Passed on from a test run that records frames.
      NODE_OPTIONS: process.env.NODE_OPTIONS,
    };
  }

  /** The command that starts a host in the namespace with the small disk. */
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

  /** The stored entries of a round's session. */
  async entriesOf(model: string): Promise<readonly Entry[]> {
    const { store } = this.#options;
    if (store !== undefined) return store.entries({ projectKey: model, sessionId });
    const file = join(this.#seen, model, "session.jsonl");
    const text = attempt(() => readFileSync(file, "utf8")) ?? "";
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Entry]));
  }

  remove(): void {
    this.#disk?.kill("SIGKILL");
    rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
  }

  get #seen(): string {
    return this.#disk === undefined ? this.path : `/proc/${this.#disk.pid}/root${this.path}`;
  }

  #cwdOf(model: string): string {
    return join(this.path, model, "project");
  }

  #fileOf(model: string): string {
    return join(this.path, model, "session.jsonl");
  }

  /** A workspace that reaches the folder through an exec server, which any host can start. */
  #farOf(model: string): object {
    return { command: [process.execPath, binPath, "exec-server"], cwd: this.#cwdOf(model) };
  }
}

/**
 * Mounts a small disk, visible to one process and to those that enter its namespaces; undefined if the system cannot.
 */
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
