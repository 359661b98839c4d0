import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { startMemoryHost } from "../support/memory-host.ts";
import { makePlace, type Place, type PlaceSetup } from "../support/place.ts";
import { areGone, isAlive, startHost } from "../support/start-host.ts";

const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
});

/** Starts two processes, one of which leaves its group; both write down their ids. */
const command = "echo $$ >> pids; setsid sh -c 'echo $$ >> pids; exec sleep 671' & sleep 672";
const call = (args: object) => ({
  content: [{ type: "toolCall" as const, name: "bash", arguments: args as { command: string } }],
});

async function pidsIn({ cwd }: Place): Promise<number[]> {
  const path = join(cwd, "pids");
  for (;;) {
    const pids = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map(Number) : [];
    if (pids.length === 2) {
      started.push(...pids);
      return pids;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts a host whose model has started a job. */
async function withJob(
  args: object,
  setup: PlaceSetup = {},
): Promise<ReturnType<typeof startHost> & { pids: number[]; jobId: string }> {
  const host = startHost({
    scenario: [call({ command, background: true, ...args }), "ok"],
    ...setup,
  });
  host.send({ type: "prompt", message: "go" });
  const pids = await pidsIn(host.place);
  await host.until({ "...": true, type: "agent_settled" });
  host.send({ type: "list_jobs", id: "l" });
  const { data } = await host.until({ "...": true, id: "l" });
  const { jobs } = data as { jobs: { jobId: string; status: string; command: string }[] };
  expect(jobs).toMatchObject([{ status: "running", command, startedAt: expect.any(Number) }]);
  return Object.assign(host, { pids, jobId: jobs[0]?.jobId ?? "" });
}

/** Starts the next host of the same session and returns its jobs. */
async function reopen(place: Place) {
  const host = startHost(
    {},
    { place: { ...place, arguments: [...place.arguments, "--continue"] } },
  );
  host.send({ type: "list_jobs", id: "l" });
  const { data } = await host.until({ "...": true, id: "l" });
  return { host, jobs: (data as { jobs: object[] }).jobs };
}

it.each(["SIGKILL", "SIGTERM", undefined] as const)(
  "ends with its host (%s), whatever it runs, and is then lost",
  async (signal) => {
    const host = await withJob({});
    expect(host.pids.every(isAlive)).toBe(true);
    if (signal === undefined) await host.finish();
    else host.child.kill(signal);
    await host.ended;
    expect(await areGone(host.pids)).toBe(true);
    const { jobs } = await reopen(host.place);
    expect(jobs).toMatchObject([{ jobId: host.jobId, status: "lost" }]);
  },
);

it.each(["SIGKILL", undefined] as const)(
  "outlives its host (%s) if it is detached; the next host finds and kills it",
  async (signal) => {
    const files = { "agent/settings.json": '{"bash": {"jobs": {"allowDetached": true}}}' };
    const first = await withJob({ detached: true }, { files });
    if (signal === undefined) await first.finish();
    else first.child.kill(signal);
    await first.ended;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(first.pids.every(isAlive)).toBe(true);
    const { host, jobs } = await reopen(first.place);
    expect(jobs).toMatchObject([{ jobId: first.jobId, status: "running" }]);
    host.send({ type: "job_kill", jobId: first.jobId, id: "k" });
    const end = await host.until({ "...": true, type: "job_end" });
    expect(end).toMatchObject({ jobId: first.jobId, status: "killed", exitCode: null });
    expect(await host.until({ "...": true, id: "k" })).toEqual({
      ...{ id: "k", type: "response", command: "job_kill", success: true },
    });
    expect(await areGone(first.pids)).toBe(true);
  },
);

it.each([
  ["pi", true],
  ["pi-1", true],
  ["pisces", true],
  ["oh-my-pi-18", true],
  ["oh-my-pi", false],
  ["co-mono", false],
])("notifies a client of %s of its end: %s", async (dialect, isTold) => {
  const quick = { command: "printf out; exit 4", background: true };
  const host = await startMemoryHost({
    scenario: [call(quick), call({ command: "sleep 0.5" }), "ok"],
    dialect,
  });
  host.send({ type: "prompt", message: "go", id: "p" });
  await host.until({ "...": true, type: "agent_end" });
  const ends = host.stdout.split("\n").filter((line) => line.includes('"job_end"'));
  expect(ends).toHaveLength(isTold ? 1 : 0);
  if (isTold) {
    const { jobId } = JSON.parse(ends[0] ?? "");
    expect(JSON.parse(ends[0] ?? "")).toMatchObject({
      ...{ type: "job_end", jobId: expect.stringMatching(/^job-/), command: "printf out; exit 4" },
      ...{ status: "exited", exitCode: 4, durationMs: expect.any(Number), tail: "out" },
    });
    host.send({ type: "job_output", jobId, offset: 1, id: "o" });
    expect(await host.until({ "...": true, id: "o" })).toMatchObject({
      data: { jobId, status: "exited", output: "ut", nextOffset: 3, truncated: false },
    });
  }
  host.send({ type: "job_output", jobId: "job-nope", id: "n" });
  expect(await host.until({ "...": true, id: "n" })).toMatchObject({
    success: false,
    error: expect.stringContaining("There is no job job-nope"),
  });
});

it("is subject to the permissions for bash, even in the background", async () => {
  const place = makePlace({
    scenario: [call({ command: "touch made", background: true }), "ok"],
    arguments: ["--permission-mode", "readOnly"],
  });
  const host = await startMemoryHost({}, place);
  host.send({ type: "prompt", message: "go" });
  const end = await host.until({ "...": true, type: "tool_execution_end" });
  expect(end).toMatchObject({ isError: true, toolName: "bash" });
  expect(JSON.stringify(end)).toContain("Denied");
  await host.until({ "...": true, type: "agent_settled" });
  expect(existsSync(join(place.cwd, "made"))).toBe(false);
});
