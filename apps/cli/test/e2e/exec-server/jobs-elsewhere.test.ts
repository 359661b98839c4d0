import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { nextLike } from "../../support/next-like.ts";
import type { Place } from "../../support/place.ts";
import { areGone, isAlive, startHost } from "../../support/start-host.ts";

// So many processes take a while on a busy machine.

const file = fileURLToPath(new URL("../../../dist/exec-server.js", import.meta.url));
const waitMs = 60_000;

/** Another machine, with its own home and temporary folder. */
function machine() {
  const folder = mkdtempSync(join(tmpdir(), "tau-there-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const at = (...names: string[]) => join(folder, ...names);
  for (const name of ["home", "tmp", "project"]) mkdirSync(at(name));
  const variables = ["env", `HOME=${at("home")}`, `TMPDIR=${at("tmp")}`];
  const start = `echo $$ >>${at("carriers")}; exec ${process.execPath} ${file}`;
  const lines = (name: string): string[] =>
    existsSync(at(name)) ? readFileSync(at(name), "utf8").split("\n").filter(Boolean) : [];
  return {
    at,
    lines,
    exec: { command: [...variables, "sh", "-c", start], cwd: at("project") },
    shell: { shell: [...variables, "sh", "-c"], cwd: at("project") },
    until: (isTrue: () => boolean) => expect.poll(isTrue, { timeout: waitMs }).toBe(true),
    jobs: () => {
      const sessions = at("home/.cache/tau/jobs");
      return readdirSync(sessions).flatMap((session) =>
        readdirSync(join(sessions, session)).map((job) => join(sessions, session, job)),
      );
    },
  };
}

const job = (command: string, more: object = {}) =>
  turn(toolCall("bash", { command, background: true, ...more }));

function start(
  spec: object,
  setup: { scenario?: unknown[]; place?: Place; settings?: object; args?: readonly string[] },
) {
  const { scenario = [], place, settings = {} } = setup;
  const args = ["--workspace", JSON.stringify(spec), ...(setup.args ?? [])];
  if (place !== undefined) {
    return startHost({}, { place: { ...place, arguments: [...place.arguments, "--continue"] } });
  }
  const files = { "agent/settings.json": JSON.stringify(settings) };
  return startHost({ scenario: scenario as never, arguments: args, files });
}

type Host = ReturnType<typeof start>;

async function ask(host: Host, command: object): Promise<Record<string, unknown>> {
  const id = Math.random().toString(36);
  host.send({ id, ...command } as never);
  const answer = await nextLike(host, { id, type: "response" });
  expect(answer).toMatchObject({ success: true });
  return (answer.data ?? {}) as Record<string, unknown>;
}

async function startedJob(host: Host): Promise<string> {
  host.send({ id: "p", type: "prompt", message: "Go" });
  const end = await nextLike(host, { type: "tool_execution_end" });
  const jobId = /job-[0-9a-f]+/.exec(JSON.stringify(end))?.[0];
  if (jobId === undefined) throw new Error(`no job: ${JSON.stringify(end)}`);
  await nextLike(host, { type: "prompt_result", id: "p" });
  return jobId;
}

const statusOf = async (host: Host, jobId: string) => {
  const { jobs } = (await ask(host, { type: "list_jobs" })) as {
    jobs: { jobId: string; status: string }[];
  };
  return jobs.find((one) => one.jobId === jobId)?.status;
};

/** Prints consecutive numbers until a certain file exists. */
const counting =
  "n=0; echo $$ >../pid; until [ -e ../enough ]; do n=$((n+1)); echo $n; sleep 0.02; done";

function expectCounted(output: string): number {
  const numbers = output.split("\n").filter(Boolean).map(Number);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  return numbers.length;
}

describe.each(["exec", "shell"] as const)("a job behind the workspace form %s", (form) => {
  it("is followed, and its files exist only there", async () => {
    const there = machine();
    const host = start(there[form], {
      scenario: [job(`echo up; ${counting}; exit 3`), turn("Ok.")],
    });
    const jobId = await startedJob(host);
    await there.until(() => there.lines("pid").length === 1);
    expect(await statusOf(host, jobId)).toBe("running");
    let piece = await ask(host, { type: "job_output", jobId });
    while (piece.output === "") piece = await ask(host, { type: "job_output", jobId });
    expect(piece.output).toMatch(/^up\n/);
    writeFileSync(there.at("enough"), "");
    const end = await nextLike(host, { type: "job_end", jobId });
    expect(end).toMatchObject({ status: "exited", exitCode: 3 });
    const rest = await ask(host, { type: "job_output", jobId, offset: piece.nextOffset });
    const count = expectCounted(`${piece.output}${rest.output}`.slice("up\n".length));
    expect(end.tail).toContain(`\n${count}\n`);
    const [folder = ""] = there.jobs();
    expect(folder).toContain(jobId);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(join(host.place.folder, "agent", "jobs"))).toBe(false);
  });

  it("is killed with its children, also when its host ends in order", async () => {
    const there = machine();
    const command = "sh -c 'echo $$ >>../pids; sleep 300' & echo $$ >>../pids; wait";
    const host = start(there[form], {
      scenario: [job(command), turn("Ok."), job(command), turn("Ok.")],
    });
    const first = await startedJob(host);
    await there.until(() => there.lines("pids").length === 2);
    const killed = there.lines("pids").map(Number);
    await ask(host, { type: "job_kill", jobId: first });
    expect(await statusOf(host, first)).toBe("killed");
    expect(await areGone(killed, waitMs)).toBe(true);
    await startedJob(host);
    await there.until(() => there.lines("pids").length === 4);
    const left = there.lines("pids").slice(2).map(Number);
    expect(left.every(isAlive)).toBe(true);
    expect((await host.finish()).code).toBe(0);
    expect(await areGone(left, waitMs)).toBe(true);
  });
});

describe("a job behind an exec server", () => {
  it("continues when its carriers are killed, and its output has no gap", async () => {
    const there = machine();
    const host = start(there.exec, { scenario: [job(counting), turn("Ok.")] });
    const jobId = await startedJob(host);
    for (let round = 0; round < 3; round += 1) {
      const { output } = await ask(host, { type: "job_output", jobId });
      const seen = expectCounted(String(output));
      process.kill(Number(there.lines("carriers")[round]), "SIGKILL");
      await there.until(() => there.lines("carriers").length === round + 2);
      for (;;) {
        const next = await ask(host, { type: "job_output", jobId });
        if (expectCounted(String(next.output)) > seen + 5) break;
      }
    }
    expect(await statusOf(host, jobId)).toBe("running");
    writeFileSync(there.at("enough"), "");
    expect(await nextLike(host, { type: "job_end", jobId })).toMatchObject({
      status: "exited",
      exitCode: 0,
    });
    const { output } = await ask(host, { type: "job_output", jobId });
    expect(expectCounted(String(output))).toBeGreaterThan(15);
  });

  it.each([
    ["a job", {}, []],
    ["a detached job", { detached: true }, []],
    ["a job under effects", {}, ["--durability", "effects"]],
  ] as const)("goes on when its host is killed, for the next: %s", async (_, more, args) => {
    const there = machine();
    const settings = { bash: { jobs: { allowDetached: true } } };
    const scenario = [job(counting, more), turn("Ok.")];
    const host = start(there.exec, { scenario, settings, args });
    const jobId = await startedJob(host);
    await there.until(() => there.lines("pid").length === 1);
    host.child.kill("SIGKILL");
    await host.ended;
    const next = start(there.exec, { place: host.place });
    expect(await statusOf(next, jobId)).toBe("running");
    writeFileSync(there.at("enough"), "");
    expect(await nextLike(next, { type: "job_end", jobId })).toMatchObject({
      status: "exited",
      exitCode: 0,
    });
    const { output } = await ask(next, { type: "job_output", jobId });
    expectCounted(String(output));
    expect((await next.finish()).code).toBe(0);
    // The process that kept the job's output has ended, too.
    await there.until(() =>
      readdirSync(there.at("tmp")).every((uid) =>
        readdirSync(there.at("tmp", uid)).every(
          (name) =>
            !existsSync(there.at("tmp", uid, name, "commands")) ||
            readdirSync(there.at("tmp", uid, name, "commands")).length === 0,
        ),
      ),
    );
  });
});

it("a job behind a shell ends with its carrier, and the model is notified", async () => {
  const there = machine();
  const command = `echo up; echo $PPID >../parent; ${counting}`;
  const scenario = [job(command, { notify: true }), turn("Ok."), turn("Seen.")];
  const host = start(there.shell, { scenario });
  const jobId = await startedJob(host);
  await there.until(() => there.lines("pid").length === 1);
  let piece = await ask(host, { type: "job_output", jobId });
  while (piece.output === "") piece = await ask(host, { type: "job_output", jobId });
  const [parent = ""] = there.lines("parent");
  const carrier = /\) \w (\d+) /.exec(readFileSync(`/proc/${parent}/stat`, "utf8"))?.[1];
  process.kill(Number(carrier), "SIGKILL");
  const end = await nextLike(host, { type: "job_end", jobId });
  expect(end).toMatchObject({ status: "lost", exitCode: null });
  expect(String(end.tail)).toMatch(/^up\n1\n/);
  await nextLike(host, { type: "agent_settled" });
  const { messages } = (await ask(host, { type: "get_messages" })) as { messages: object[] };
  expect(JSON.stringify(messages)).toContain(`Background job ${jobId} has ended (lost)`);
  expect(await statusOf(host, jobId)).toBe("lost");
  // The output is complete once the workspace is connected again.
  do piece = await ask(host, { type: "job_output", jobId });
  while (!String(piece.output).includes(String(end.tail)));
  expect(await areGone(there.lines("pid").map(Number), waitMs)).toBe(true);
});

it("a detached job behind a shell is refused with a hint", async () => {
  const there = machine();
  const settings = { bash: { jobs: { allowDetached: true } } };
  const scenario = [job("true", { detached: true }), turn("Ok.")];
  const host = start(there.shell, { scenario, settings });
  host.send({ id: "p", type: "prompt", message: "Go" });
  const end = await nextLike(host, { type: "tool_execution_end" });
  expect(JSON.stringify(end)).toContain("Leave detached out");
  expect(end).toMatchObject({ isError: true });
});
