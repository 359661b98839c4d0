import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import type { JobInfo, SessionEvent } from "@tau-agent/rpc-protocol";
import type { CustomMessage } from "@tau-agent/rpc-protocol/messages";
import { OutputMask, type ToolEnvironment } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordFrames } from "../../../../apps/cli/test/recording/record-host.ts";
import {
  eventually,
  ownSeconds,
  processesWith,
  Workspace,
} from "../../../system/src/processes/__fixtures__/workspace.ts";
import { justBashWorkspace } from "../../../system/src/workspaces/sandbox-session/__fixtures__/just-bash.ts";
import { SessionJobs } from "./session-jobs.ts";

type JobEndEvent = Extract<SessionEvent, { type: "job_end" }>;

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

/** Starts the jobs of a host; another call simulates the next host. */
function startJobs(overrides: Partial<ToolEnvironment> = {}, id = "s1") {
  const ends: JobEndEvent[] = [];
  const notices: CustomMessage[] = [];
  const session = {
    id,
    promptId: "p1",
    report: (event: SessionEvent) => {
      recordFrames([event]);
      ends.push(event as JobEndEvent);
    },
    notify: (message: CustomMessage) => void notices.push(message),
  };
  const environment = workspace.environment(overrides);
  const jobs = new SessionJobs({
    environment,
    place: { workspace: environment.workspace, path: posix, directory: workspace.path("jobs") },
    allowsDetached: () => true,
    session: () => session,
  });
  const isOver = (jobId: string) =>
    eventually(() => ends.some((end) => end.jobId === jobId), 10_000);
  return { jobs, ends, notices, isOver, session };
}

const statusOf = async (jobs: SessionJobs, jobId: string): Promise<JobInfo | undefined> =>
  (await jobs.list()).find((job) => job.jobId === jobId);

describe.each([false, true])("a background job (detached: %s)", (detached) => {
  it("runs, has its output, and ends once", async () => {
    const { jobs, ends, isOver } = startJobs();
    const jobId = await jobs.start({ command: "echo out; echo err >&2; exit 3", detached });
    expect(jobId).toMatch(/^job-[0-9a-f]{6}$/);
    expect(await isOver(jobId)).toBe(true);
    const { output, ...rest } = await jobs.output(jobId);
    expect(output.split("\n").toSorted()).toEqual(["", "err", "out"]);
    expect(rest).toEqual({ jobId, status: "exited", nextOffset: 8, truncated: false });
    const [end] = ends;
    expect(end).toMatchObject({ status: "exited", exitCode: 3, tail: output });
    const { durationMs = -1 } = end ?? {};
    expect(await jobs.list()).toEqual([
      {
        ...{ jobId, command: "echo out; echo err >&2; exit 3", status: "exited", exitCode: 3 },
        ...{ startedAt: expect.any(Number), durationMs },
      },
    ]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(ends).toHaveLength(1);
  });

  it("is killed with all its processes", async () => {
    const { jobs, ends } = startJobs();
    const seconds = ownSeconds(51);
    const away = `setsid sleep ${seconds} & env -i setsid sleep ${seconds} & sleep ${seconds}`;
    const jobId = await jobs.start({ command: `echo up; ${away}`, detached });
    expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 3)).toBe(true);
    expect(await statusOf(jobs, jobId)).toMatchObject({ status: "running" });
    expect(await jobs.kill(jobId)).toMatchObject({ status: "killed" });
    expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 0)).toBe(true);
    expect(ends).toMatchObject([{ status: "killed", exitCode: null, tail: "up\n" }]);
    expect(await jobs.kill(jobId)).toMatchObject({ status: "killed" });
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await statusOf(jobs, jobId)).toMatchObject({ status: "killed" });
    expect(ends).toHaveLength(1);
  });

  it("ends at its timeout", async () => {
    const { jobs, ends, isOver } = startJobs();
    const seconds = ownSeconds(52);
    const command = `setsid sleep ${seconds} & sleep ${seconds}`;
    const jobId = await jobs.start({ command, timeoutMs: 400, detached });
    expect(await isOver(jobId)).toBe(true);
    expect(ends).toMatchObject([{ status: "timeout", exitCode: null }]);
    expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 0)).toBe(true);
  });

  it("keeps its files private, and keys out of them", async () => {
    const createOutputMask = () => new OutputMask(["sk-secret-123"]);
    const { jobs, isOver } = startJobs({ createOutputMask });
    const command = "printf 'a sk-sec'; sleep 0.1; printf 'ret-123 b'; umask 0";
    const jobId = await jobs.start({ command, detached });
    expect(await isOver(jobId)).toBe(true);
    expect(await jobs.output(jobId)).toMatchObject({ output: "a [redacted] b" });
    const folder = workspace.path("jobs", "s1", jobId);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
      if (name.startsWith("output")) {
        expect(readFileSync(join(folder, name), "utf8")).not.toContain("sk-secret");
      }
    }
  });

  it("notifies the model on request, but not another conversation", async () => {
    const { jobs, notices, isOver, session } = startJobs();
    const first = await jobs.start({ command: "echo done", notify: true, detached });
    expect(await isOver(first)).toBe(true);
    expect(notices).toMatchObject([{ role: "custom", customType: "job_end" }]);
    expect(notices[0]?.content).toMatch(/job-\w+ has ended \(exited with code 0\).*done\n$/s);
    const second = await jobs.start({ command: "sleep 0.5", notify: true, detached });
    session.id = "s2";
    expect(await isOver(second)).toBe(true);
    expect(notices).toHaveLength(1);
  });

  it("reports why it cannot start, and is not left running", async () => {
    const { jobs } = startJobs({ shellPath: "/no/shell" });
    await expect(jobs.start({ command: "true", detached })).rejects.toThrow(/\/no\/shell/);
    expect((await jobs.list()).filter(({ status }) => status === "running")).toEqual([]);
  });
});

it("exits while its background process continues, which a kill still ends", async () => {
  const { jobs, isOver } = startJobs();
  const seconds = ownSeconds(53);
  const jobId = await jobs.start({ command: `setsid sleep ${seconds} & echo left` });
  expect(await isOver(jobId)).toBe(true);
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 1)).toBe(true);
  expect(await jobs.kill(jobId)).toMatchObject({ status: "exited", exitCode: 0 });
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 0)).toBe(true);
});

it("a job is lost after a restart unless it had ended or is detached", async () => {
  const first = startJobs();
  const ended = await first.jobs.start({ command: "echo ended" });
  expect(await first.isOver(ended)).toBe(true);
  const seconds = ownSeconds(54);
  const lost = await first.jobs.start({ command: `echo lost; sleep ${seconds}` });
  const kept = await first.jobs.start({ command: `sleep 1; echo kept; exit 5`, detached: true });
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 1)).toBe(true);
  await first.jobs.close();
  workspace.processes.killAll();
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 0)).toBe(true);

  const { jobs, ends, isOver } = startJobs();
  await jobs.findKept();
  expect(await statusOf(jobs, ended)).toMatchObject({ status: "exited", exitCode: 0 });
  expect(await statusOf(jobs, lost)).toMatchObject({ status: "lost" });
  expect(await jobs.output(lost)).toMatchObject({ status: "lost", output: "lost\n" });
  expect(await statusOf(jobs, kept)).toMatchObject({ status: "running" });
  expect(await isOver(kept)).toBe(true);
  expect(ends).toMatchObject([{ jobId: kept, status: "exited", exitCode: 5, tail: "kept\n" }]);
  const third = startJobs();
  await third.jobs.findKept();
  expect(await statusOf(third.jobs, kept)).toMatchObject({ status: "exited", exitCode: 5 });
  expect(third.ends).toEqual([]);
});

it("a job that outlived its host can be killed by the next host", async () => {
  const seconds = ownSeconds(55);
  const first = startJobs();
  const command = `setsid sleep ${seconds} & sleep ${seconds}`;
  const jobId = await first.jobs.start({ command, detached: true });
  await first.jobs.close();
  workspace.processes.killAll();
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 2)).toBe(true);
  const { jobs } = startJobs();
  expect(await jobs.kill(jobId)).toMatchObject({ status: "killed" });
  expect(await eventually(() => processesWith(`sleep\0${seconds}`).length === 0)).toBe(true);
});

it("a job in a sandbox of the AI SDK is followed and killed, and its files are there", async () => {
  const place = await justBashWorkspace();
  const { jobs, ends, isOver } = startJobs({ workspace: place, cwd: place.cwd });
  const jobId = await jobs.start({ command: "echo one; echo two; exit 3" });
  expect(await isOver(jobId)).toBe(true);
  expect(ends).toMatchObject([{ status: "exited", exitCode: 3, tail: "one\ntwo\n" }]);
  expect(await jobs.output(jobId, 4)).toMatchObject({ output: "two\n", nextOffset: 8 });
  const slow = await jobs.start({ command: "sleep 300" });
  expect(await jobs.kill(slow)).toMatchObject({ status: "killed" });
  const session = workspace.path("jobs", "s1");
  expect((await place.list(session)).map(({ name }) => name).toSorted()).toEqual(
    [jobId, slow].toSorted(),
  );
  expect(existsSync(session)).toBe(false);
});

it("a job is not found by any other id", async () => {
  const { jobs } = startJobs();
  for (const jobId of ["job-000000", "../s1", "", "job-1/../x"]) {
    await expect(jobs.output(jobId)).rejects.toMatchObject({ code: "job_not_found" });
    await expect(jobs.kill(jobId)).rejects.toMatchObject({ code: "job_not_found" });
  }
  expect(existsSync(workspace.path("jobs"))).toBe(false);
});

it("a job belongs to its session, whatever the session's id is", async () => {
  const odd = startJobs({}, "../../x");
  const jobId = await odd.jobs.start({ command: "true" });
  expect(await odd.isOver(jobId)).toBe(true);
  expect(existsSync(workspace.path("x"))).toBe(false);
  expect(await startJobs().jobs.list()).toEqual([]);
  expect(await startJobs({}, "../../x").jobs.list()).toHaveLength(1);
});
