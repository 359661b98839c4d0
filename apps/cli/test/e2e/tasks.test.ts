import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import {
  call,
  git,
  hostsOf,
  processesWith,
  repositoryPlace,
  worker,
} from "../support/repository-place.ts";
import { areGone, startHost } from "../support/start-host.ts";

/** Excludes locks, which may stay behind until they are stale. */
const isRunFolder = (name: string): boolean => /^[0-9a-f]{8}$/.test(name);

const typesOf = (stdout: string, id: string): string[] =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith('{"type":"subagent_'))
    .map((line) => JSON.parse(line))
    .filter((event) => event.id === id)
    .map((event) => event.type);

describe("tasks in their own processes", () => {
  it("return verified, in order, and leave nothing behind [pisces.subagents.events]", async () => {
    const tasks = ["w1", "w2"].map((id) => ({ id, task: `<${id}>` }));
    const verify = { commands: [{ name: "there", command: "ls *.new" }] };
    const place = repositoryPlace(
      [
        ...worker("<w1>", call("write", { path: "w1.new", content: "1\n" })),
        ...worker("<w2>", call("bash", { command: "pwd > where.log; echo 2 > w2.new" })),
        ...worker("start", call("task", { tasks, isolated: true, verify })),
      ],
      { "task.verification.enabled": true },
    );
    const host = startHost({}, { place });
    host.send({ type: "set_budget", maxSubagents: 9, id: "b" });
    await host.until({ "...": true, id: "b", success: true });
    host.send({ type: "prompt", message: "start", id: "p" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    host.send({ type: "get_budget", id: "g" });
    const answer = await host.until({ "...": true, id: "g" });
    expect(answer.data).toMatchObject({
      limits: { maxSubagents: 9 },
      snapshot: { status: "ok", subagents: 2, toolCalls: 3 },
    });
    for (const { id } of tasks) {
      expect(readFileSync(join(place.cwd, `${id}.new`), "utf8")).toBe(`${id.slice(1)}\n`);
      expect(typesOf(host.stdout, id)).toEqual([
        "subagent_start",
        "subagent_verification_start",
        "subagent_verification_command_start",
        "subagent_verification_command_end",
        "subagent_verification_end",
        "subagent_end",
      ]);
    }
    expect(host.stdout).toContain('"type":"tool_execution_update"');
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
    expect((await host.finish()).code).toBe(0);
  });

  it("change nothing through a link out of their tree when they are isolated", async () => {
    const place = repositoryPlace([
      ...worker("<one>", call("write", { path: "link", content: "theirs\n" })),
      ...worker("start", call("task", { task: "<one>", isolated: true })),
    ]);
    const outside = join(place.folder, "outside.txt");
    writeFileSync(outside, "mine\n");
    symlinkSync(outside, join(place.cwd, "link"));
    git(place.cwd, "add", "link");
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(readFileSync(outside, "utf8")).toBe("mine\n");
    expect(readFileSync(join(place.cwd, "link"), "utf8")).toBe("mine\n");
    expect(host.stdout).toContain('"type":"subagent_end"');
    expect((await host.finish()).code).toBe(0);
  });

  it("do not have the tools that were removed from their parent", async () => {
    const place = repositoryPlace(
      [
        ...worker("<inner>", call("bash", { command: "touch made.txt" })),
        ...worker("<outer>", call("task", { task: "<inner>" })),
        ...worker("start", call("task", { task: "<outer>" })),
      ],
      {},
      ["--exclude-tools", "bash"],
    );
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(existsSync(join(place.cwd, "made.txt"))).toBe(false);
  });

  it("are reported under their parent's id when they are nested [pisces.subagents.nested]", async () => {
    const nested = { tasks: [{ id: "inner", task: "<inner>", agent: "explore" }] };
    const place = repositoryPlace([
      { when: { lastUserIncludes: "<inner>" }, content: "deep" },
      ...worker("<outer>", call("task", nested)),
      ...worker("start", call("task", { tasks: [{ id: "outer", task: "<outer>" }] })),
    ]);
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(typesOf(host.stdout, "outer")).toEqual(["subagent_start", "subagent_end"]);
    expect(typesOf(host.stdout, "outer/inner")).toEqual(["subagent_start", "subagent_end"]);
    host.send({ type: "get_budget", id: "g" });
    const { data } = await host.until({ "...": true, id: "g" });
    expect(data).toMatchObject({ snapshot: { subagents: 2, toolCalls: 2 } });
  });

  it("die with a killed host and leave the user's files unchanged", async () => {
    const daemon = "setsid sh -c 'echo $$ > ../../../daemon; exec sleep 660' & ";
    const slow = `${daemon} echo $$ > ../../../pid; echo changed > notes.txt; sleep 660`;
    const place = repositoryPlace([
      ...worker("<slow>", call("bash", { command: slow })),
      ...worker("<quick>", call("write", { path: "quick.txt", content: "x\n" })),
      ...worker(
        "start",
        call("task", {
          tasks: [
            { id: "quick", task: "<quick>" },
            { id: "slow", task: "<slow>" },
          ],
          isolated: true,
        }),
      ),
      { when: { lastUserIncludes: "hello" }, content: "hi" },
      ...worker("again", call("task", { task: "<quick>", isolated: true })),
    ]);
    const before = git(place.cwd, "status", "--porcelain");
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "subagent_end", id: "quick" });
    const pidIn = (name: string) => {
      const path = join(place.folder, "agent", name);
      return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
    };
    await expect.poll(() => pidIn("pid") * pidIn("daemon")).toBeGreaterThan(0);
    const hosts = hostsOf(place);
    expect(hosts.length).toBeGreaterThan(1);
    host.child.kill("SIGKILL");
    await host.ended;
    expect(await areGone([...hosts, pidIn("pid"), pidIn("daemon")], 8_000)).toBe(true);
    expect(git(place.cwd, "status", "--porcelain")).toBe(before);
    expect(readFileSync(join(place.cwd, "notes.txt"), "utf8")).toBe("one\ntwo\n");
    const continued = { ...place, arguments: [...place.arguments, "--continue"] };
    const next = startHost({}, { place: continued });
    next.send({ type: "get_messages", id: "m" });
    const { data } = await next.until({ "...": true, id: "m", success: true });
    expect((data as { messages: unknown[] }).messages.at(-1)).toMatchObject({
      role: "toolResult",
      isError: true,
      details: { interrupted: true, used: { subagents: 2 } },
    });
    next.send({ type: "get_session_stats", id: "s" });
    const stats = (await next.until({ "...": true, id: "s", success: true })).data;
    expect(stats).toMatchObject({ subagents: { count: 2 }, toolCalls: 1, toolResults: 1 });
    next.send({ type: "prompt", message: "hello" });
    await next.until({ "...": true, type: "prompt_result", status: "completed" });
    await expect.poll(() => readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
    next.send({ type: "prompt", message: "again" });
    await next.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(readFileSync(join(place.cwd, "quick.txt"), "utf8")).toBe("x\n");
  });

  it("continue when another host in the same repository is killed and a third cleans up", async () => {
    const place = repositoryPlace([
      ...worker("<long>", call("bash", { command: "echo x > long.txt; sleep 660" })),
      ...worker(
        "<short>",
        call("bash", {
          command: "until [ -e ../../../go ]; do sleep 0.05; done; echo x > short.txt",
        }),
      ),
      ...["long", "short"].flatMap((id) =>
        worker(`start ${id}`, call("task", { task: `<${id}>`, isolated: true })),
      ),
      { when: { lastUserIncludes: "hello" }, content: "hi" },
    ]);
    const worktrees = join(place.folder, "agent", "worktrees");
    const trees = () => (existsSync(worktrees) ? readdirSync(worktrees).filter(isRunFolder) : []);
    const start = async (id: string) => {
      const host = startHost({}, { place });
      host.send({ type: "prompt", message: `start ${id}` });
      await host.until({ "...": true, type: "subagent_start" });
      return host;
    };
    const survivor = await start("short");
    const [tree] = trees();
    const killed = await start("long");
    expect(trees()).toHaveLength(2);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const third = startHost({}, { place });
    third.send({ type: "prompt", message: "hello" });
    await third.until({ "...": true, type: "prompt_result", status: "completed" });
    await expect.poll(trees).toEqual([tree]);
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(2);
    writeFileSync(join(place.folder, "agent", "go"), "");
    await survivor.until({ "...": true, type: "prompt_result", status: "completed" });
    expect(readFileSync(join(place.cwd, "short.txt"), "utf8")).toBe("x\n");
    expect(git(place.cwd, "status", "--porcelain")).toBe("?? short.txt\n");
    expect(trees()).toEqual([]);
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  // Times during which trees are created, subagents start, work, are verified and merged.
  const moments = [50, 200, 350, 500, 650, 800].map((ms) => ms + Math.floor(Math.random() * 150));
  it.each(slice(moments, 2))(
    "leave all or nothing in the user's tree when the host is killed after %d ms, and the next host cleans up",
    async (delayMs) => {
      const ids = ["w1", "w2", "w3", "w4"];
      const work = "echo changed >> notes.txt; rm -f other.txt";
      const place = repositoryPlace(
        [
          ...ids.flatMap((id) => worker(`<${id}>`, call("write", { path: id, content: "x\n" }))),
          ...worker("<rude>", call("bash", { command: `${work}; sleep 630` })),
          ...worker(
            "start",
            call("task", {
              tasks: [...ids, "rude"].map((id) => ({ id, task: `<${id}>` })),
              isolated: true,
              verify: { commands: [{ name: "there", command: "ls w*" }] },
            }),
          ),
          { when: { lastUserIncludes: "hello" }, content: "hi" },
        ],
        { "task.verification.enabled": true, "task.maxRuntimeMs": 700 },
      );
      const notes = readFileSync(join(place.cwd, "notes.txt"), "utf8");
      const index = git(place.cwd, "ls-files", "--stage");
      const host = startHost({}, { place });
      host.send({ type: "prompt", message: "start" });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      host.child.kill("SIGKILL");
      await host.ended;
      // The merge, the only step that writes, is not interrupted.
      await expect.poll(() => hostsOf(place), { timeout: 8_000 }).toEqual([]);
      const whole = ids.map((id) => `?? ${id}\n`).join("");
      expect(["", whole]).toContain(git(place.cwd, "status", "--porcelain"));
      expect(readFileSync(join(place.cwd, "notes.txt"), "utf8")).toBe(notes);
      expect(git(place.cwd, "ls-files", "--stage")).toBe(index);
      const worktrees = join(place.folder, "agent", "worktrees");
      const next = startHost({}, { place });
      next.send({ type: "prompt", message: "hello" });
      await next.until({ "...": true, type: "prompt_result", status: "completed" });
      await expect
        .poll(() => (existsSync(worktrees) ? readdirSync(worktrees) : []).filter(isRunFolder), {
          timeout: 10_000,
        })
        .toEqual([]);
      expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
    },
  );

  it.each(["SIGTERM", "stdin"])("end with a host that is terminated by %s", async (how) => {
    const tasks = ["slow", "slower"].map((id) => ({ id, task: `<${id}>` }));
    const place = repositoryPlace([
      ...worker("<slow", call("bash", { command: "echo x > notes.txt; sleep 660" })),
      ...worker("start", call("task", { tasks, isolated: true })),
    ]);
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    await host.until({ "...": true, type: "tool_execution_update" });
    if (how === "stdin") host.child.stdin.end();
    else host.child.kill("SIGTERM");
    expect((await host.ended).code).toBe(how === "stdin" ? 0 : 143);
    expect(hostsOf(place)).toEqual([]);
    expect(readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
    expect(git(place.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(git(place.cwd, "status", "--porcelain")).toBe("");
  });

  it("are stopped by an abort, including processes that left their process groups", async () => {
    const sleep = `sleep 660.${process.pid}`;
    const place = repositoryPlace([
      ...worker("<slow>", call("bash", { command: `setsid ${sleep} & ${sleep}` })),
      ...worker("start", call("task", { task: "<slow>", isolated: true })),
    ]);
    const host = startHost({}, { place });
    host.send({ type: "prompt", message: "start" });
    const sleepers = () => processesWith(sleep.replace(" ", "\0")).length;
    await expect.poll(sleepers).toBe(2);
    host.send({ type: "abort" });
    await host.until({ "...": true, type: "subagent_end", exitCode: 130 });
    await host.until({ "...": true, type: "prompt_result", status: "aborted" });
    expect(hostsOf(place)).toEqual([host.child.pid]);
    expect(sleepers()).toBe(0);
    expect(readdirSync(join(place.folder, "agent", "worktrees"))).toEqual([]);
  });
});

describe("the command that starts a subagent", () => {
  const scenario = [...worker("start", call("task", { tasks: [{ id: "one", task: "<one>" }] }))];

  it("receives the key only in its environment, and its last output becomes the task's error", async () => {
    const script = 'echo "$TAU_SUBAGENT_KEY" > key; echo "$@" > words; echo broken >&2; exit 3';
    const settings = { "task.command": ["/bin/sh", "-c", script, "sh", "{cwd}"] };
    const place = repositoryPlace(scenario, settings);
    const args = [...place.arguments, "--api-key", "sekret", "--no-skills"];
    const host = startHost({}, { place: { ...place, arguments: args } });
    host.send({ type: "prompt", message: "start" });
    const { result } = await host.until({ "...": true, type: "tool_execution_end", isError: true });
    expect(JSON.stringify(result)).toMatch(/exit code 3.*broken/);
    expect(readFileSync(join(place.cwd, "key"), "utf8")).toBe("sekret\n");
    const words = readFileSync(join(place.cwd, "words"), "utf8");
    expect(words).not.toContain("sekret");
    expect(words).toMatch(/project --mode rpc --no-skills .*--task-depth 1/);
    await host.until({ "...": true, type: "prompt_result", status: "completed" });
  });

  it.each(slice(["abort", "SIGKILL"], 1))(
    "ends after %s with everything it started, even if it never answers",
    async (how) => {
      const sleep = `sleep 661.${process.pid}`;
      const place = repositoryPlace(scenario, {
        "task.command": ["/bin/sh", "-c", `setsid ${sleep} & ${sleep}; :`],
      });
      const host = startHost({}, { place });
      host.send({ type: "prompt", message: "start" });
      const sleepers = () => processesWith(sleep.replace(" ", "\0")).length;
      await expect.poll(sleepers).toBe(2);
      if (how === "SIGKILL") host.child.kill("SIGKILL");
      else {
        host.send({ type: "abort" });
        await host.until({ "...": true, type: "prompt_result", status: "aborted" });
      }
      // A host has six seconds to end by itself after its parent host has ended.
      await expect.poll(sleepers, { timeout: 10_000 }).toBe(0);
    },
  );
});
