import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTestSession, type LocalOptions } from "../../create/__fixtures__/test-session.ts";
import {
  git,
  lifecycle,
  project,
  run,
  scenario,
  types,
  verified,
  write,
} from "./__fixtures__/task-call.ts";

describe("the task tool", () => {
  it("passes one task to a subagent and its answer to the model", async () => {
    const { results, text, events, session, ended } = await run(
      { task: "<one> look around", agent: "explore" },
      { one: () => "found it" },
    );
    expect(ended.status).toBe("completed");
    expect(text).toContain("found it");
    expect(results).toMatchObject([
      { id: "call", agent: "explore", status: "completed", exitCode: 0 },
    ]);
    expect(lifecycle(events)).toEqual([
      { type: "subagent_start", id: "call", agent: "explore", isolated: false },
      { type: "subagent_end", id: "call", agent: "explore", exitCode: 0 },
    ]);
    const file = results[0]?.sessionFile ?? "";
    expect(dirname(file)).toBe(session.log.path?.replace(/\.jsonl$/, ""));
    expect(readFileSync(file, "utf8")).toContain("found it");
    expect(session.budget.snapshot).toMatchObject({ subagents: 1 });
    expect(session.budget.snapshot.totalTokens).toBe(session.stats.tokens.total);
    expect(events.some(({ type }) => type === "tool_execution_update")).toBe(true);
  });

  it.each([{ exclude: ["write"] }, { only: ["-write"] }])(
    "excludes the session's excluded tools from subagents: %j",
    async (tools) => {
      const places = { ...project(), tools };
      const { results } = await run(
        { task: "<one>" },
        { one: (step) => (step === 0 ? write("made.txt", "x") : "could not") },
        { places },
      );
      expect(results).toMatchObject([{ status: "completed" }]);
      expect(existsSync(join(String(places.cwd), "made.txt"))).toBe(false);
      expect(readFileSync(results[0]?.sessionFile ?? "", "utf8")).toContain("write not found");
    },
  );

  it("runs a batch in which a failed task does not affect the others", async () => {
    const { results, message, events } = await run(
      {
        context: "shared words",
        tasks: [
          { id: "good", task: "<good>" },
          { id: "bad", task: "<bad>" },
        ],
      },
      {
        good: () => "fine",
        bad: () => turn("x", { fault: { kind: "status", status: 400, message: "no such luck" } }),
      },
    );
    expect(message?.isError).toBe(false);
    expect(results.map(({ id, status, exitCode }) => [id, status, exitCode])).toEqual([
      ["good", "completed", 0],
      ["bad", "failed", 1],
    ]);
    expect(results[1]?.error).toContain("no such luck");
    expect(types(events).filter((type) => type === "subagent_end")).toHaveLength(2);
  });

  it("asks again for an answer that does not fit the schema, and counts the attempts", async () => {
    const outputSchema = {
      type: "object",
      properties: { count: { type: "integer" } },
      required: ["count"],
    };
    const { results } = await run(
      {
        tasks: [
          { id: "a", task: "<a>" },
          { id: "b", task: "<b>" },
        ],
        outputSchema,
      },
      { a: (step) => (step === 0 ? "about seven" : '```json\n{"count": 7}\n```'), b: () => "{}" },
    );
    expect(results[0]).toMatchObject({ exitCode: 0, answer: { value: { count: 7 }, attempts: 2 } });
    expect(results[1]).toMatchObject({ status: "failed", answer: { attempts: 3 } });
    expect(results[1]?.error).toContain("count");
  });

  it.each([
    [{ task: "x", agent: "nobody" }, /no agent "nobody".*explore/],
    [{}, /either task or tasks/],
    [
      {
        tasks: [
          { id: "a", task: "x" },
          { id: "a", task: "y" },
        ],
      },
      /not unique/,
    ],
    [{ task: "x", verify: true }, /isolated/],
    [{ task: "x", isolated: true, verify: "ci" }, /no verification profile "ci"/],
    [{ task: "x", outputSchema: { type: "thing" } }, /unknown type "thing"/],
    [{ task: "x", outputSchema: { $ref: "#/nowhere" } }, /outputSchema/],
  ])("rejects %j with an error and starts nothing", async (call, words) => {
    const { message, text, events, ended } = await run(call, {}, { settings: verified });
    expect(message?.isError).toBe(true);
    expect(text).toMatch(words);
    expect(types(events)).toEqual([]);
    expect(ended.status).toBe("completed");
  });

  it.each([
    ["of the call, with its level", { model: "m:high" }, ["own", "m", "high"]],
    ["of the agent's file", { agent: "cheap" }, ["own", "small", "low"]],
    ["of the agent's file, with another level", { agent: "deep" }, ["own", "small", "high"]],
    ["of the session", {}, ["own", "m", "medium"]],
  ])("starts a subagent with the model %s", async (_, call, wanted) => {
    const started: string[][] = [];
    const agent = (rest: string) => `---\nmodel: small:low\n${rest}---\n`;
    const places = project({
      "../agent/agents/cheap.md": agent(""),
      "../agent/agents/deep.md": agent("thinkingLevel: high\n"),
    });
    const models = ["m", "small"].map((id) => ({ id, reasoning: true }));
    const provider = { baseUrl: "http://127.0.0.1:9", api: "scripted", models };
    const file = join(String(places.agentDirectory), "models.json");
    mkdirSync(dirname(file), { recursive: true });
    const own = { ...provider, apiKey: "none" };
    writeFileSync(file, JSON.stringify({ providers: { other: own, own } }));
    await run(
      { task: "x", ...call },
      {},
      {
        places: {
          ...places,
          provider: "own",
          model: "m",
          startSubagentHost: async ({ args }) => {
            const after = (name: string) => String(args[args.indexOf(name) + 1]);
            started.push(["--provider", "--model", "--thinking"].map(after));
            throw new TypeError("enough");
          },
        },
      },
    );
    expect(started).toEqual([wanted]);
  });

  it("keeps the work of a subagent that died", async () => {
    const places: LocalOptions = {
      ...project(),
      startSubagentHost: async ({ cwd }) => ({
        sessionFile: undefined,
        prompt: async () => {
          writeFileSync(join(cwd, "a.txt"), "half\n");
          throw new TypeError("it was killed");
        },
        setBudget: async () => undefined,
        setEventLevel: async () => undefined,
        stop: async () => undefined,
      }),
    };
    const { results } = await run({ task: "x", isolated: true }, {}, { places });
    expect(results).toMatchObject([
      { status: "failed", error: "it was killed", patch: { status: "kept", files: ["a.txt"] } },
    ]);
    expect(git(String(places.cwd), "status", "--porcelain")).toBe("");
  });

  it("does not let an isolated subagent change anything through a tracked link out of its tree", async () => {
    const places = project();
    const cwd = String(places.cwd);
    const outside = join(cwd, "..", `outside-${basename(cwd)}.txt`);
    writeFileSync(outside, "mine\n");
    onTestFinished(() => rmSync(outside));
    symlinkSync(outside, join(cwd, "link"));
    git(cwd, "add", "link");
    git(cwd, "commit", "-qm", "a link");
    const steps = [write("link", "theirs\n"), write("made.txt", "made\n")];
    const { results } = await run(
      { task: "<one>", isolated: true },
      { one: (step) => steps[step] ?? "done" },
      { places },
    );
    expect(results).toMatchObject([{ status: "completed", patch: { files: ["made.txt"] } }]);
    expect(readFileSync(outside, "utf8")).toBe("mine\n");
    expect(readFileSync(results[0]?.sessionFile ?? "", "utf8")).toContain(
      "link is a link that leads out of",
    );
  });

  it("refuses isolated tasks if a file would pass through an untrusted git filter", async () => {
    const places = project({ ".gitattributes": "*.bin filter=own\n", "x.bin": "x\n" });
    const cwd = String(places.cwd);
    git(cwd, "config", "filter.own.clean", "cat");
    const call = { task: "<one>", isolated: true };
    const refused = await run(call, { one: () => "done" }, { places });
    expect(refused.message?.isError).toBe(true);
    expect(refused.text).toContain('"x.bin" goes through the git filter "own"');
    const trusted = { ...places, trustProject: true };
    const { results } = await run(call, { one: () => "done" }, { places: trusted });
    expect(results).toMatchObject([{ status: "completed" }]);
  });

  it("survives a subagent that cannot be stopped cleanly", async () => {
    const asked = Promise.withResolvers<never>();
    const places: LocalOptions = {
      ...project(),
      startSubagentHost: async () => ({
        sessionFile: undefined,
        prompt: () => asked.promise,
        setBudget: async () => undefined,
        setEventLevel: async () => undefined,
        stop: async () => {
          asked.reject(new TypeError("it is gone"));
          throw new TypeError("its file is full");
        },
      }),
    };
    const settings = { "task.maxRuntimeMs": 20 };
    const { results, ended } = await run({ task: "x" }, {}, { places, settings });
    expect(results).toMatchObject([{ status: "timed_out" }]);
    expect(ended.status).toBe("completed");
  });

  it("reports an unknown model in the result of its task", async () => {
    const { results } = await run({ task: "<x>", model: "nobody/nothing" }, {});
    expect(results).toMatchObject([{ status: "failed", error: expect.stringContaining("nobody") }]);
  });

  it("lists the available agents, including the project's", async () => {
    const file = "---\ndescription: Finds typos\n---\nLook for typos.";
    const places = project({ ".pi/agents/typos.md": file });
    const { session, results, text } = await run(
      { task: "<t>", agent: "typos" },
      { t: () => "none" },
      { places },
    );
    const tool = session.tools.all.find(({ name }) => name === "task");
    expect(tool?.description).toContain("- typos: Finds typos");
    expect(results).toMatchObject([{ agent: "typos", exitCode: 0 }]);
    expect(text).toContain("(typos): completed\nnone");
  });

  it("is missing if subagents may not be nested any deeper", async () => {
    const test = await createTestSession(["hi"], {
      settings: SettingsStore.inMemory({ "task.maxRecursionDepth": 0 }),
    });
    expect(test.session.tools.all.map(({ name }) => name)).not.toContain("task");
  });

  it("stops a subagent that runs for too long", async () => {
    const { results } = await run(
      { task: "<slow>" },
      { slow: () => turn(toolCall("bash", { command: "sleep 630" })) },
      { settings: { "task.maxRuntimeMs": 150 } },
    );
    expect(results).toMatchObject([{ status: "timed_out", exitCode: 124 }]);
  });

  it("accepts a time limit longer than any timer", async () => {
    const settings = { "task.maxRuntimeMs": 2 ** 33 };
    const { results } = await run({ task: "<one>" }, { one: () => "done" }, { settings });
    expect(results).toMatchObject([{ status: "completed" }]);
  });

  it("ends with the run and leaves no worktree", async () => {
    const places = project();
    const call = {
      tasks: [
        { id: "slow", task: "<slow>" },
        { id: "next", task: "<next>" },
      ],
      isolated: true,
    };
    const settings = SettingsStore.inMemory({ "task.maxConcurrency": 1 });
    const slow = () => turn(toolCall("bash", { command: "echo x > b.txt; sleep 630" }));
    const test = await createTestSession(scenario(call, { slow }), { ...places, settings });
    const ended = test.session.prompt("go");
    await expect.poll(() => types(test.events)).toEqual(["subagent_start"]);
    await test.session.abort();
    await ended;
    expect(types(test.events)).toEqual(["subagent_start", "subagent_end"]);
    expect(lifecycle(test.events).at(-1)).toMatchObject({ exitCode: 130 });
    expect(readdirSync(join(places.agentDirectory ?? "", "worktrees"))).toEqual([]);
    expect(git(places.cwd, "status", "--porcelain")).toBe("");
  });
});

describe("isolated tasks", () => {
  it("are merged into the working tree in one step; a conflicting one stays a patch", async () => {
    const { results, places, text } = await run(
      {
        tasks: ["a", "b", "c"].map((id) => ({ id, task: `<${id}>` })),
        isolated: true,
      },
      {
        a: (step) => (step === 0 ? write("a.txt", "from a\n") : "did a"),
        b: (step) => (step === 0 ? write("new.txt", "from b\n") : "did b"),
        c: (step) => (step === 0 ? write("a.txt", "from c\n") : "did c"),
      },
    );
    expect(results.map(({ patch }) => patch?.status)).toEqual(["applied", "applied", "conflict"]);
    expect(readFileSync(join(places.cwd, "a.txt"), "utf8")).toBe("from a\n");
    expect(readFileSync(join(places.cwd, "new.txt"), "utf8")).toBe("from b\n");
    expect(readFileSync(results[2]?.patch?.path ?? "", "utf8")).toContain("+from c");
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1]);
    expect(results[2]?.error).toContain("a.txt");
    expect(text).toContain("NOT applied");
    expect(git(places.cwd, "worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  it.each(["patch", "branch"] as const)(
    "are kept apart even if their ids differ only in punctuation: %s",
    async (merge) => {
      const ids = ["x y", "x/y", "X?Y", "..", "…"];
      const child = (step: number, name: string) => (step === 0 ? write(name, "made\n") : "did it");
      const { results, places } = await run(
        { tasks: ids.map((id, index) => ({ id, task: `<n${index}>` })), isolated: true },
        Object.fromEntries(
          ids.map((_, index) => [`n${index}`, (step: number) => child(step, `n${index}.txt`)]),
        ),
        { settings: { "isolation.merge": merge } },
      );
      const status = merge === "patch" ? "applied" : "branch";
      expect(results.map(({ patch }) => patch?.status)).toEqual(ids.map(() => status));
      expect(new Set(results.map(({ patch }) => patch?.path)).size).toBe(ids.length);
      for (const [index, { patch }] of results.entries()) {
        const name = `n${index}.txt`;
        if (merge === "patch") expect(existsSync(join(String(places.cwd), name))).toBe(true);
        else expect(git(String(places.cwd), "show", `${patch?.branch}:${name}`)).toBe("made\n");
      }
    },
  );

  it("return an error result if no patch applies, and the run continues", async () => {
    const places = project();
    const { message, text, ended } = await run(
      { task: "<a>", isolated: true },
      {
        a: (step) => {
          if (step === 0) return write("a.txt", "from a\n");
          writeFileSync(join(String(places.cwd), "a.txt"), "the user's\n");
          return "did a";
        },
      },
      { places },
    );
    expect(message?.isError).toBe(true);
    expect(text).toMatch(/completed, but its changes were not applied\n.*a\.txt/);
    expect(ended.status).toBe("completed");
    expect(readFileSync(join(String(places.cwd), "a.txt"), "utf8")).toBe("the user's\n");
  });

  it("stay a patch or become a branch if the settings say so", async () => {
    const change = { a: (step: number) => (step === 0 ? write("a.txt", "new\n") : "did a") };
    const call = { task: "<a>", isolated: true };
    const none = await run(call, change, { settings: { "isolation.merge": "none" } });
    expect(none.results[0]?.patch).toMatchObject({ status: "kept", filesChanged: 1 });
    expect(readFileSync(join(none.places.cwd, "a.txt"), "utf8")).toBe("one\n");
    const branch = await run(call, change, { settings: { "isolation.merge": "branch" } });
    const name = branch.results[0]?.patch?.branch ?? "";
    expect(none.results[0]?.patchPath).toBe(none.results[0]?.patch?.path);
    expect(none.results[0]?.patchPath).toMatch(/\.patch$/);
    expect(none.results[0]).not.toHaveProperty("branchName");
    expect(branch.results[0]?.branchName).toBe(name);
    expect(git(branch.places.cwd, "show", `${name}:a.txt`)).toBe("new\n");
    expect(readFileSync(join(branch.places.cwd, "a.txt"), "utf8")).toBe("one\n");
  });
});

describe("budgets and tasks", () => {
  it("start only as many subagents as are left, and refuse further prompts", async () => {
    const { results, session, ended, events } = await run(
      { tasks: ["a", "b", "c", "d"].map((id) => ({ id, task: `<${id}>` })) },
      { a: () => "A", b: () => "B", c: () => "C", d: () => "D" },
      { settings: { "task.budget.maxSubagents": 2, "task.maxConcurrency": 1 } },
    );
    expect(results.map(({ status }) => status)).toEqual([
      "completed",
      "completed",
      "budget_exceeded",
      "budget_exceeded",
    ]);
    expect(types(events)).toHaveLength(4);
    expect(ended).toMatchObject({ status: "completed" });
    expect(events.filter(({ type }) => type === "budget_exceeded")).toHaveLength(1);
    expect(session.budget.snapshot).toMatchObject({
      status: "exceeded",
      reason: "subagents",
      subagents: 2,
    });
    await expect(session.prompt("more")).rejects.toThrow(/maxSubagents/);
    session.budget.setLimits({ maxSubagents: 5 });
    await expect(session.prompt("more")).resolves.toMatchObject({ status: "completed" });
  });

  it("let parallel subagents exceed the limit by no more than the steps in progress", async () => {
    const ids = ["a", "b", "c", "d"];
    const step = () => turn(toolCall("ls", {}), { usage: { input: 1, output: 30 } });
    const { session, events } = await run(
      { tasks: ids.map((id) => ({ id, task: `<${id}>` })) },
      Object.fromEntries(ids.map((id) => [id, step])),
      { settings: { "task.budget.maxOutputTokens": 400 } },
    );
    expect(session.budget.snapshot).toMatchObject({ status: "exceeded", reason: "output_tokens" });
    expect(session.budget.snapshot.outputTokens).toBeGreaterThanOrEqual(400);
    expect(session.budget.snapshot.outputTokens).toBeLessThanOrEqual(400 + ids.length * 30);
    expect(events.filter(({ type }) => type === "budget_exceeded")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "budget_warning")).toHaveLength(1);
    expect(types(events).filter((type) => type === "subagent_end")).toHaveLength(4);
  });

  it("report the use of nested subagents at once, because others draw on the same budget", async () => {
    const step = () => turn(toolCall("ls", {}), { usage: { input: 1, output: 30 } });
    const a = (count: number) => (count < 6 ? step() : "done");
    const places = { ...project(), taskDepth: 1 };
    const { events } = await run({ task: "<a>" }, { a }, { places });
    const told = events.flatMap((event) =>
      event.type === "tool_execution_update"
        ? [Reflect.get(Object(event.partialResult.details), "used").outputTokens]
        : [],
    );
    expect(told).toEqual(expect.arrayContaining([30, 60, 90, 120, 150, 180]));
  });

  it("stop the current turn when a limit is exceeded, before its tools run", async () => {
    const places = project();
    const test = await createTestSession([write("b.txt", "x")], {
      ...places,
      settings: SettingsStore.inMemory({ "task.budget.maxOutputTokens": 1 }),
    });
    await expect(test.session.prompt("go")).resolves.toMatchObject({ status: "aborted" });
    expect(existsSync(join(places.cwd, "b.txt"))).toBe(false);
    const order = test.events.map(({ type }) => type);
    expect(order.indexOf("budget_exceeded")).toBeLessThan(order.indexOf("agent_end"));
    await expect(test.session.prompt("more")).rejects.toMatchObject({ code: "budget_exceeded" });
  });
});
