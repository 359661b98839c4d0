import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Random } from "../../../../packages/ai/test/chaos/random.ts";
import { binPath, Host } from "./host.ts";
import { brokenPromises, type Entry } from "./oracle.ts";
import { StoreServer } from "./store-server.ts";
import { planWork, type Work } from "./work.ts";

export interface RoundServer {
  readonly url: string;
  setWork(model: string, work: Work): void;
  requestsOf(model: string): number;
}

/** What happens to a host, and where. */
type Fault = "kill" | "pause" | "store" | "carrier";
const faults: readonly [Fault, ...Fault[]] = ["kill", "kill", "pause", "store", "carrier"];
const steps: readonly [string, ...string[]] = [
  ...(["time", "time", "message_start", "message_end"] as const),
  ...(["tool_execution_start", "tool_execution_update", "tool_execution_end"] as const),
  ...(["stored tool_started", "stored toolResult", "stored tool_started"] as const),
];

export interface RoundResult {
  readonly seed: number;
  readonly fault: Fault;
  readonly step: string;
  readonly crashes: number;
  readonly broken: readonly string[];
}

const key = { projectKey: "p", sessionId: "s1" };
const leaseMs = 1_000;
const limitMs = 60_000;
const storeModule = fileURLToPath(new URL("./remote-store.mjs", import.meta.url));

/** One prompt whose hosts die, and which is resumed until it is over. */
export async function playRound(
  seed: number,
  server: RoundServer,
  mutant?: string,
): Promise<RoundResult> {
  const random = new Random(seed);
  const work = planWork(random);
  const fault = random.pick(faults);
  const step = random.pick(steps);
  const model = `round-${seed}`;
  server.setWork(model, work);
  const place = mkdtempSync(join(tmpdir(), "tau-campaign-"));
  // Some commands wait for no other host, and end as interrupted.
  const durabilityAdoptMs = random.below(3) === 0 ? 1 : 20_000;
  const folder = makePlace(place, { work, model, url: server.url, durabilityAdoptMs });
  const isStored = fault === "pause" || fault === "store" || random.below(2) === 0;
  const store = isStored ? await StoreServer.start() : undefined;
  // Behind an exec server, what a line of bash changed is not taken back.
  const isFar = fault === "carrier" || random.below(5) === 0;
  const words = [...wordsOf(place, model, store), ...(isFar ? farWords(folder) : [])];
  const options = { words, cwd: folder, variables: variablesOf(place), mutant };
  let crashes = 0;
  let paused: Host | undefined;
  let status = "none";
  const hosts = new Set<Host>();
  const lives = 1 + random.below(2);
  try {
    for (let life = 0; ; life += 1) {
      const host = await openHost(options, hosts);
      const asleep = paused;
      // It goes on while the next host works, which has the session now.
      void pause(random.below(600)).then(() => asleep?.signal("SIGCONT"));
      const over = host.until(
        ({ type, promptId }) => type === "prompt_result" && promptId === "p1",
        limitMs,
      );
      host.send({ type: "prompt", id: "p", promptId: "p1", message: "go", resume: true });
      const isLast = life >= lives;
      const stepped = isLast ? undefined : reach(host, step, { random, store });
      const first = await Promise.race([
        over.then(() => "over"),
        stepped ?? over.then(() => "over"),
      ]);
      if (first === "over" || isLast) {
        const result = await over;
        status = String(result?.status ?? `nothing: ${host.stderr.slice(-500)}`);
        await end(host);
        break;
      }
      if (fault === "carrier") {
        killCarrier(host);
        const result = await over;
        status = String(result?.status ?? `nothing: ${host.stderr.slice(-500)}`);
        await end(host);
        break;
      }
      crashes += 1;
      if (fault === "pause") {
        host.signal("SIGSTOP");
        paused = host;
      } else {
        if (fault === "store") store?.cutOff(random.below(600));
        if (fault === "store") await pause(random.below(100));
        host.signal("SIGKILL");
      }
      if (fault !== "pause") await host.ended;
    }
    if (paused !== undefined) await endPaused(paused);
    const entries = await readEntries(place, store);
    const requests = server.requestsOf(model);
    const broken = brokenPromises({ work, folder, entries, requests, crashes, status, isFar });
    return { seed, fault, step, crashes, broken };
  } finally {
    // A host that was paused twice over has no other end.
    for (const host of hosts) host.signal("SIGKILL");
    store?.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface PlaceOptions {
  readonly work: Work;
  readonly model: string;
  readonly url: string;
  readonly durabilityAdoptMs: number;
}

function makePlace(place: string, { work, model, url, durabilityAdoptMs }: PlaceOptions): string {
  const folder = join(place, "project");
  for (const name of ["project", "agent", "tmp"]) mkdirSync(join(place, name));
  const calls = work.flat();
  const edits = calls.filter(({ kind }) => kind === "edit");
  writeFileSync(join(folder, "text"), edits.map(({ mark }) => `before ${mark}\n`).join(""));
  for (const { kind, mark } of calls) {
    if (kind === "replace") writeFileSync(join(folder, `old-${mark}`), "old");
  }
  const provider = {
    baseUrl: url,
    api: "openai-completions",
    apiKey: "x",
    models: [{ id: model }],
  };
  writeFileSync(
    join(place, "agent/models.json"),
    JSON.stringify({ providers: { loop: provider } }),
  );
  const settings = { retry: { baseDelayMs: 10 }, durabilityAdoptMs };
  writeFileSync(join(place, "agent/settings.json"), JSON.stringify(settings));
  return folder;
}

function wordsOf(place: string, model: string, store: StoreServer | undefined): string[] {
  const own = ["--durability", "effects", "--provider", "loop", "--model", model];
  if (store === undefined) return [...own, "--session", join(place, "session.jsonl")];
  const lease = ["--lease-ms", String(leaseMs)];
  const named = ["--session-id", key.sessionId, "--project-key", key.projectKey];
  return [...own, "--store", `${storeModule}?${store.url}`, ...lease, ...named];
}

/** The folder as the workspace of an exec server, which any host can start. */
function farWords(cwd: string): string[] {
  const command = [process.execPath, binPath, "exec-server"];
  return ["--workspace", JSON.stringify({ command, cwd })];
}

/** The exec server dies; its host goes on. */
function killCarrier(host: Host): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(host.child.pid), "-f", "exec-server"]);
  for (const pid of String(stdout).trim().split("\n").filter(Boolean)) {
    spawnSync("kill", ["-KILL", pid]);
  }
}

function variablesOf(place: string): Record<string, string | undefined> {
  const { PATH } = process.env;
  return {
    ...{ PATH, HOME: place, TMPDIR: join(place, "tmp") },
    ...{ PI_CODING_AGENT_DIR: join(place, "agent"), DO_NOT_TRACK: "1" },
  };
}

/** A host that has the session, which an earlier one may keep for a while. */
async function openHost(
  options: ConstructorParameters<typeof Host>[0],
  hosts: Set<Host>,
): Promise<Host> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const host = new Host(options);
    hosts.add(host);
    const ready = host.until(({ command }) => command === "initialize", limitMs);
    host.send({ type: "initialize", id: "i", stream: "delta" });
    if ((await ready) !== undefined) return host;
    if (performance.now() > deadline)
      throw new Error(`No host starts: ${host.stderr.slice(-1000)}`);
    await pause(100);
  }
}

async function reach(
  host: Host,
  step: string,
  { random, store }: { readonly random: Random; readonly store: StoreServer | undefined },
): Promise<string> {
  const [, word] = /^stored (.*)$/.exec(step) ?? [];
  if (word !== undefined && store !== undefined) {
    for (let count = random.below(3); count >= 0; count -= 1) await store.stored(word);
    return "step";
  }
  if (step === "time" || word !== undefined) await pause(random.below(1_200));
  else {
    for (let count = random.below(5); count >= 0; count -= 1) {
      if ((await host.until(({ type }) => type === step, limitMs)) === undefined) break;
    }
    if (random.below(2) === 0) await pause(random.below(60));
  }
  return "step";
}

async function end(host: Host): Promise<void> {
  host.child.stdin?.end();
  const timer = setTimeout(() => host.signal("SIGKILL"), 15_000);
  await host.ended;
  clearTimeout(timer);
}

/** A host that was paused past its lease ends its run, and changes nothing any more. */
async function endPaused(host: Host): Promise<void> {
  host.signal("SIGCONT");
  await pause(300);
  await end(host);
}

async function readEntries(
  place: string,
  store: StoreServer | undefined,
): Promise<readonly Entry[]> {
  if (store !== undefined) return store.entries(key);
  const lines = readFileSync(join(place, "session.jsonl"), "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Entry);
}
