import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentTool, defineTool } from "@tau-agent/agent";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ApprovalResult, PermissionRule } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
  unpaired,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";
import { asking, bash, writeCall } from "./__fixtures__/asking.ts";

const allow: ApprovalResult = { decision: "allow" };

describe("a call that needs an approval", () => {
  it("raises a question after its start, and runs once it is allowed", async () => {
    const test = await asking([turn(bash("echo hi > out")), "done"], [allow]);
    const result = await test.session.prompt("go");
    expect(result.status).toBe("completed");
    const [request] = test.asked;
    expect(request).toMatchObject({
      toolName: "bash",
      input: { command: "echo hi > out" },
      cwd: test.cwd,
      title: "Allow bash: echo hi > out?",
      reason: "The permission mode ask does not allow bash without a question.",
      parts: [
        { text: "> out", action: "ask" },
        { text: "echo hi", action: "ask" },
      ],
    });
    expect(request?.deadlineAt).toBeGreaterThan(Date.now() + 290_000);
    expect(readFileSync(join(test.cwd, "out"), "utf8")).toBe("hi\n");
    const starts = test.events.findIndex(({ type }) => type === "tool_execution_start");
    expect(starts).toBeGreaterThan(-1);
    expect(test.approvals()).toMatchObject([
      { phase: "asked", requestId: request?.id, toolName: "bash" },
      { phase: "answered", requestId: request?.id, decision: "allow", by: "client" },
    ]);
  });

  it("is needed for any shell other than bash, whatever rules allow", async () => {
    const test = await asking([turn(bash("echo hi")), "done"], [allow], {
      settings: SettingsStore.inMemory({ shellPath: "/usr/bin/fish" }),
      permissions: { mode: "ask", rules: [{ tool: "bash", match: "echo *", action: "allow" }] },
    });
    await test.session.prompt("go");
    expect(test.asked[0]?.reason).toMatch(/only lines of bash are understood, and fish runs it/);
  });

  it("shows what an edit and a write change", async () => {
    const edit = toolCall("edit", { path: "a.txt", oldText: "one", newText: "two" });
    const test = await asking([turn(edit), turn(writeCall("b.txt")), "done"], [allow, allow]);
    writeFileSync(join(test.cwd, "a.txt"), "one\n");
    await test.session.prompt("go");
    expect(test.asked[0]?.diff).toMatch(/-one\n\+two/);
    expect(test.asked[0]?.path).toBe(join(test.cwd, "a.txt"));
    expect(test.asked[1]?.diff).toContain("+x");
    expect(test.asked[1]?.suggestions).toEqual([
      { tool: "write", match: "b.txt", action: "allow" },
    ]);
  });

  it("does not run when denied, reports the reason, and leaves other calls alone", async () => {
    const calls = turn([bash("touch a"), bash("touch b")]);
    const test = await asking([calls, "done"], [{ decision: "deny", message: "not now" }, allow]);
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect([existsSync(join(test.cwd, "a")), existsSync(join(test.cwd, "b"))]).toEqual([
      false,
      true,
    ]);
    expect(test.results()[0]).toMatchObject({
      isError: true,
      content: [{ text: "Denied by the user: not now" }],
      details: { denied: { by: "client", message: "not now" } },
    });
    expect(test.results()[1]).toMatchObject({ isError: false });
  });

  it("makes no further request to the model when it is denied and the run ends", async () => {
    const calls = turn([bash("touch a"), bash("touch b")]);
    const test = await asking([calls, "never"], [{ decision: "deny", endRun: true }]);
    expect((await test.session.prompt("go")).status).toBe("aborted");
    expect(test.results()[1]).toMatchObject({ details: { skipped: "aborted" } });
    expect(test.asked).toHaveLength(1);
    expect(unpaired(test.session.messages)).toEqual([]);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no idea"))],
    ["returns nothing", () => undefined],
    ["returns something else", () => ({ decision: "maybe" })],
    [
      "returns a rule without an action",
      () => ({ decision: "allow", scope: "session", rules: [{ tool: "x" }] }),
    ],
    ["returns arguments that do not fit", () => ({ decision: "allow", input: {} })],
  ])("is denied when the function %s", async (_, answer) => {
    const test = await asking([turn(bash("touch a")), "done"], [answer]);
    await test.session.prompt("go");
    expect(existsSync(join(test.cwd, "a"))).toBe(false);
    expect(test.results()[0]).toMatchObject({ details: { denied: { by: "client" } } });
    expect(test.results()[0]?.content).toEqual([
      { type: "text", text: "Denied: the approval could not be asked for." },
    ]);
  });

  it.each([
    ["db down", () => Promise.reject(new Error("db down"))],
    ["result: expected an object with a decision", () => true],
    ['result.decision: expected "allow" or "deny", got "maybe"', () => ({ decision: "maybe" })],
  ])("reports to the developer why its function failed: %s", async (cause, answer) => {
    const calls = turn([bash("touch a"), bash("touch b")]);
    const test = await asking([calls, "done"], [answer, answer]);
    const noted: unknown[] = [];
    test.session.onDiagnostic((diagnostic) => noted.push(diagnostic));
    await test.session.prompt("go");
    const message = expect.stringMatching(
      /^approve (failed|returned an invalid answer), so .* denied: /,
    );
    expect(noted).toEqual([{ severity: "error", code: "approve_failed", message }]);
    expect(noted).toMatchObject([{ message: expect.stringContaining(cause) }]);
  });

  it("reports no failure for a function that throws because the question was withdrawn", async () => {
    const test = await asking(
      [turn(bash("touch a")), "done"],
      [() => test.session.abort().then(() => Promise.reject(new Error("late")))],
    );
    await test.session.prompt("go");
    expect(test.session.diagnostics).toEqual([]);
  });

  it("runs with the arguments of the answer, and tells the model so", async () => {
    const answer = { decision: "allow", input: { command: "echo other" } } as const;
    const test = await asking([turn(bash("rm -rf .")), "done"], [answer]);
    await test.session.prompt("go");
    expect(test.results()[0]?.content).toMatchObject([
      {
        text: 'The user changed the arguments of this call. It ran with {"command":"echo other"}.',
      },
      { text: expect.stringContaining("other") },
    ]);
    expect(test.approvals()[1]).toMatchObject({ input: { command: "echo other" } });
  });

  it("does not run with arguments that a rule denies", async () => {
    const rules: PermissionRule[] = [{ tool: "bash", match: "rm *", action: "deny" }];
    const answer = { decision: "allow", input: { command: "rm x" } } as const;
    const permissions = { mode: "ask", rules } as const;
    const test = await asking([turn(bash("ls")), "done"], [answer], { permissions });
    writeFileSync(join(test.cwd, "x"), "");
    await test.session.prompt("go");
    expect(existsSync(join(test.cwd, "x"))).toBe(true);
    expect(test.results()[0]).toMatchObject({ details: { denied: { by: "rule" } } });
  });

  it("is denied at its deadline, which can also end the run", async () => {
    const forever = () => new Promise(() => {});
    for (const onTimeout of ["deny", "cancel"] as const) {
      const permissions = { mode: "ask", timeoutMs: 20, onTimeout } as const;
      const test = await asking([turn(bash("ls")), "done"], [forever], { permissions });
      const { status } = await test.session.prompt("go");
      expect(status).toBe(onTimeout === "deny" ? "completed" : "aborted");
      expect(test.results()[0]).toMatchObject({ details: { denied: { by: "timeout" } } });
    }
  });

  it("is denied at once if nobody can be asked", async () => {
    const test = await asking([turn(bash("touch a")), "done"], [], { approve: undefined });
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.results()[0]).toMatchObject({ details: { denied: { by: "nobody" } } });
    expect(test.approvals()).toMatchObject([{ phase: "answered", by: "nobody", decision: "deny" }]);
    expect(test.approvals()[0]).not.toHaveProperty("requestId");
  });
});

describe("permission rules and modes", () => {
  it("deny without a question, and name the rule", async () => {
    const permissions = { rules: [{ tool: "bash", match: "rm *", action: "deny" }] } as const;
    const test = await asking([turn(bash("ls; /bin/rm x")), "done"], [], { permissions });
    await test.session.prompt("go");
    expect(test.results()[0]).toMatchObject({
      isError: true,
      content: [
        { text: 'Denied by the rule for bash with "rm *" of the program that runs this session.' },
      ],
      details: { denied: { by: "rule" } },
    });
    expect(test.asked).toEqual([]);
  });

  it("deny everything else in readOnly, and say so", async () => {
    const test = await asking(
      [turn([toolCall("ls", {}), bash("ls"), toolCall("todo_write", { todos: [] })]), "done"],
      [],
      { permissions: { mode: "readOnly" } },
    );
    await test.session.prompt("go");
    expect(test.results().map(({ isError }) => isError)).toEqual([false, true, false]);
    expect(test.results()[1]).toMatchObject({ details: { denied: { by: "mode" } } });
  });

  it("judge custom tools by their isReadOnly flag", async () => {
    const make = (name: string, isReadOnly: boolean): AgentTool =>
      defineTool({
        name,
        description: name,
        isReadOnly,
        parameters: { type: "object" },
        execute: async () => ({ content: [{ type: "text", text: name }] }),
      });
    const customTools = [make("look", true), make("change", false), make("bash", true)];
    const test = await asking(
      [turn([toolCall("look", {}), toolCall("change", {}), bash("x")]), "done"],
      [],
      { customTools },
    );
    await test.session.prompt("go");
    expect(test.asked.map(({ toolName }) => toolName)).toEqual(["change", "bash"]);
  });

  it("resolve unusual paths of a custom tool named like a built-in one", async () => {
    const paths: unknown[] = [];
    const write = defineTool({
      name: "write",
      description: "Passes its path to Tau's own tool.",
      parameters: { type: "object" },
      execute: async ({ path }) => {
        paths.push(path);
        return { content: [{ type: "text", text: "written" }] };
      },
    });
    const calls = ["@/etc/x", "file:///etc/x", "a"].map((path) => writeCall(path));
    const more = { customTools: [write], permissions: { mode: "acceptEdits" } } as const;
    const test = await asking([turn(calls), "done"], [], more);
    await test.session.prompt("go");
    expect(test.asked.map(({ input }) => input.path)).toEqual(["@/etc/x", "file:///etc/x"]);
    expect(paths).toEqual(["a"]);
  });

  it("ask about calls of one read-only group together", async () => {
    const permissions = { rules: [{ tool: "ls", action: "ask" }] } as const;
    let open = 0;
    const both = Promise.withResolvers<void>();
    const answer = async (): Promise<ApprovalResult> => {
      open += 1;
      if (open === 2) both.resolve();
      await both.promise;
      return allow;
    };
    const calls = turn([toolCall("ls", {}), toolCall("ls", { path: "." })]);
    const test = await asking([calls, "done"], [answer, answer], { permissions });
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.results().map(({ isError }) => isError)).toEqual([false, false]);
  });

  it("hold for the session if the answer says so", async () => {
    const scenario = [turn(bash("echo a")), turn(bash("echo a")), turn(bash("echo b")), "done"];
    const test = await asking(scenario, [{ decision: "allow", scope: "session" }]);
    await test.session.prompt("go");
    expect(test.asked.map(({ input }) => input.command)).toEqual(["echo a", "echo b"]);
    expect(test.session.permissions.state.rules).toEqual([
      { tool: "bash", match: "echo a", action: "allow", source: "session" },
    ]);
  });

  it("are saved where the answer says, and the file keeps comments and other content", async () => {
    const rules: PermissionRule[] = [{ tool: "bash", match: "echo *", action: "allow" }];
    const answer: ApprovalResult = { decision: "allow", scope: "always", rules };
    const test = await asking([turn(bash("echo a")), turn(bash("echo b")), "done"], [answer]);
    const path = join(test.agent, "settings.json");
    mkdirSync(test.agent, { recursive: true });
    writeFileSync(path, '{\n  // mine\n  "theme": "dark",\n}\n');
    await test.session.prompt("go");
    expect(test.asked).toHaveLength(1);
    const text = readFileSync(path, "utf8");
    expect(text).toContain("// mine");
    expect(text).toContain('"match": "echo *"');
    expect(test.session.permissions.state.rules).toMatchObject([{ source: "user" }]);
  });

  it("apply to this session, with a diagnostic, if they cannot be saved", async () => {
    const answer: ApprovalResult = { decision: "allow", scope: "always" };
    const test = await asking([turn(bash("echo a")), turn(bash("echo a")), "done"], [answer]);
    mkdirSync(test.agent, { recursive: true });
    writeFileSync(join(test.agent, "settings.json"), "{ broken");
    await test.session.prompt("go");
    expect(test.asked).toHaveLength(1);
    expect(readFileSync(join(test.agent, "settings.json"), "utf8")).toBe("{ broken");
    expect(test.session.diagnostics).toMatchObject([{ code: "invalid_settings" }]);
  });

  it("are not saved to an untrusted project", async () => {
    const answer: ApprovalResult = { decision: "allow", scope: "always", saveTo: "project" };
    const test = await asking([turn(bash("echo a")), "done"], [answer]);
    await test.session.prompt("go");
    expect(test.results()[0]).toMatchObject({ details: { denied: { by: "client" } } });
    expect(existsSync(join(test.cwd, ".pi"))).toBe(false);
  });

  it("are read from the settings, and those of an untrusted project only tighten them", async () => {
    const folder = temporaryFolder();
    const places = placesIn(folder);
    mkdirSync(join(places.cwd, ".pi"), { recursive: true });
    const rules = [{ tool: "bash", match: "touch *", action: "deny" }];
    writeFileSync(
      join(places.cwd, ".pi", "settings.json"),
      JSON.stringify({ "permissions.rules": rules, "permissions.mode": "all" }),
    );
    const test = await createTestSession([turn(bash("touch a")), "done"], places);
    await test.session.prompt("go");
    expect(existsSync(join(places.cwd, "a"))).toBe(false);
    expect(test.session.permissions.state.mode).toBe("all");
  });
});

describe("while a question is open", () => {
  /** Starts a run that waits for an approval. */
  async function waiting(more: Partial<CreateAgentSessionOptions> = {}) {
    const open = Promise.withResolvers<AbortSignal>();
    const test = await asking([turn([bash("touch a"), bash("touch b")]), "done", "more"], [], {
      approve: (_, { signal }) => {
        open.resolve(signal);
        return new Promise<ApprovalResult>(() => {});
      },
      ...more,
    });
    const ended = test.session.prompt("go");
    const signal = await open.promise;
    return { ...test, ended, signal };
  }

  it("the session is busy and names its question", async () => {
    const { session } = await waiting();
    expect(session.state).toMatchObject({ isStreaming: true, permissionMode: "ask" });
    expect(session.state.pendingRequests).toEqual(session.requests.pending.map(({ id }) => id));
    await expect(session.prompt("now")).rejects.toMatchObject({ code: "busy" });
    await session.abort();
  });

  it("a changed mode or rule answers it", async () => {
    for (const [change, isRun] of [
      [{ mode: "all" }, true],
      [{ mode: "readOnly" }, false],
      [{ rules: [{ tool: "bash", match: "touch *", action: "allow" }] }, true],
      [{ rules: [{ tool: "bash", action: "deny" }] }, false],
    ] as const) {
      const { session, ended, signal, cwd, approvals } = await waiting();
      session.permissions.set(change);
      expect((await ended).status).toBe("completed");
      expect(signal.reason).toMatchObject({ by: "rule", outcome: isRun ? "allow" : "deny" });
      expect(existsSync(join(cwd, "a"))).toBe(isRun);
      expect(approvals()[1]).toMatchObject({ phase: "answered", by: "rule" });
    }
  });

  it("a steering message withdraws it and skips the other calls", async () => {
    const { session, ended, signal, results, cwd } = await waiting();
    await session.steer("stop that");
    await ended;
    expect(signal.reason).toMatchObject({ by: "abort" });
    expect(results()).toMatchObject([
      { details: { denied: { by: "abort" } } },
      { details: { skipped: "steering" } },
    ]);
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });

  it("a steering message also withdraws a question that is still being prepared", async () => {
    const steered = Promise.withResolvers<unknown>();
    const steer = () => {
      steered.resolve(test.session.steer("stop that"));
      return new Promise(() => {});
    };
    const calls = turn([bash("touch a"), writeCall("large", "x")]);
    const more = { toolExecution: "parallel" } as const;
    const test = await asking([calls, "done"], [steer], more);
    // Makes the comparison for the second question slow.
    writeFileSync(join(test.cwd, "large"), "a line\n".repeat(400_000));
    const ended = test.session.prompt("go");
    await steered.promise;
    await ended;
    expect(test.results()).toMatchObject([
      { details: { denied: { by: "abort" } } },
      { details: { denied: { by: "abort" } } },
    ]);
    expect(test.asked).toHaveLength(1);
  });

  it("a follow-up, or a steering message for the end of the turn, leaves it open", async () => {
    const { session } = await waiting();
    session.setQueueModes({ interrupt: "wait" });
    await session.steer("later");
    await session.followUp("much later");
    expect(session.requests.size).toBe(1);
    await session.abort();
  });

  it.each([
    ["abort", "abort", (session: Session) => session.abort()],
    ["abort_and_prompt", "abort", (session: Session) => session.abortAndPrompt("else")],
    ["compact", "abort", (session: Session) => session.compact().catch(() => {})],
    ["new_session", "end", (session: Session) => session.newSession()],
    ["clone", "end", (session: Session) => session.navigation.clone()],
  ] as const)("%s closes it by %s, and the call does not run", async (_, by, act) => {
    const { session, ended, signal, cwd, parts } = await waiting();
    const path = session.log.path ?? "";
    await act(session);
    await ended;
    expect(signal.reason).toMatchObject({ by });
    expect(existsSync(join(cwd, "a"))).toBe(false);
    const lines = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ type }) => type === "approval")).toMatchObject([
      { phase: "asked" },
      { phase: "answered", decision: "deny", by },
    ]);
    expect(parts.inputs.requests.size).toBe(0);
  });

  it("closing the host leaves it open in the file, and the next host asks it again with the same id", async () => {
    const first = await waiting();
    const { session, ended, folder: _, cwd } = first;
    const path = session.log.path ?? "";
    const [request] = session.requests.pending;
    await session.dispose();
    expect((await ended).status).toBe("aborted");
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain('"answered"');
    expect(text).not.toContain('"toolResult"');
    const again = await asking(["done"], [allow, { decision: "deny" }], {
      cwd,
      session: { kind: "file", path },
      permissions: { mode: "all" },
    });
    expect(again.session.isStreaming).toBe(true);
    const results: unknown[] = [];
    again.session.subscribe((event) => {
      if (event.type === "prompt_result") results.push(event);
    });
    await again.session.waitForIdle();
    // The prompt gets exactly one result, although another host accepted it.
    expect(results).toEqual([{ type: "prompt_result", status: "completed" }]);
    expect(again.asked[0]).toMatchObject({ id: request?.id, toolCallId: request?.toolCallId });
    expect(existsSync(join(cwd, "a"))).toBe(true);
    // The new mode allows the next call without a question.
    expect(again.asked).toHaveLength(1);
    expect(existsSync(join(cwd, "b"))).toBe(true);
    expect(again.session.lastAssistantText).toBe("done");
    expect(unpaired(again.session.messages)).toEqual([]);
  });

  it("the sender of a prompt may request its result while its run continues", async () => {
    const { session, cwd } = await waiting();
    const path = session.log.path ?? "";
    const promptId = /"promptId":"(\w+)"/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    await session.dispose();
    const again = await asking(["done"], [allow, allow], { cwd, session: { kind: "file", path } });
    const results: unknown[] = [];
    again.session.subscribe((event) => {
      if (event.type === "prompt_result") results.push(event);
    });
    const resumed = await again.session.submit("go", { promptId, id: "mine", resume: true });
    expect(resumed.disposition).toBe("started");
    expect(await resumed.result).toMatchObject({ status: "completed", text: "done" });
    expect(results).toEqual([{ type: "prompt_result", id: "mine", status: "completed" }]);
  });

  it("the sender of a prompt may request its result after its run has ended", async () => {
    const { session, cwd } = await waiting();
    const path = session.log.path ?? "";
    const promptId = /"promptId":"(\w+)"/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    await session.dispose();
    const again = await asking(["done"], [allow, allow], { cwd, session: { kind: "file", path } });
    const results: unknown[] = [];
    again.session.subscribe((event) => {
      if (event.type === "prompt_result") results.push(event);
    });
    await again.session.waitForIdle();
    const known = await again.session.submit("go", { promptId, id: "mine", resume: true });
    expect(known.disposition).toBe("duplicate");
    expect(await known.result).toMatchObject({ status: "completed", text: "done" });
    await expect
      .poll(() => results)
      .toEqual([
        { type: "prompt_result", status: "completed" },
        { type: "prompt_result", id: "mine", status: "completed" },
      ]);
  });

  it("a deny rule closes a repeated question", async () => {
    const { session, ended, cwd } = await waiting();
    const path = session.log.path ?? "";
    await session.dispose();
    await ended;
    const rules: PermissionRule[] = [{ tool: "bash", action: "deny" }];
    const again = await asking(["done"], [], {
      cwd,
      session: { kind: "file", path },
      permissions: { rules },
    });
    await again.session.waitForIdle();
    expect(again.asked).toEqual([]);
    expect(again.results()[0]).toMatchObject({ details: { denied: { by: "rule" } } });
  });

  it("the call is closed as interrupted if nobody can answer in the reopened session", async () => {
    const { session, ended, cwd } = await waiting();
    const path = session.log.path ?? "";
    await session.dispose();
    await ended;
    const again = await asking(["done"], [], {
      cwd,
      session: { kind: "file", path },
      approve: undefined,
    });
    expect(again.session.isStreaming).toBe(false);
    expect(again.results()).toMatchObject([
      { details: { interrupted: true } },
      { details: { interrupted: true } },
    ]);
  });

  it("a call that was answered but has no result is never repeated", async () => {
    const test = await asking([turn([bash("echo a"), bash("touch b")]), "done"], [allow, allow]);
    await test.session.prompt("go");
    const path = test.session.log.path ?? "";
    await test.session.dispose();
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const asked = lines.findLastIndex((line) => line.includes('"phase":"asked"'));
    // As if the host had been killed during the second question, before the first result was stored.
    const kept = lines.slice(0, asked + 1).filter((line) => !line.includes('"toolResult"'));
    const parents = kept.map((line) => JSON.parse(line));
    for (let at = 2; at < parents.length; at += 1) parents[at].parentId = parents[at - 1].id;
    writeFileSync(path, `${parents.map((line) => JSON.stringify(line)).join("\n")}\n`);
    const again = await asking(["done"], [allow], {
      cwd: test.cwd,
      session: { kind: "file", path },
    });
    await again.session.waitForIdle();
    expect(again.asked).toHaveLength(1);
    expect(again.results()).toMatchObject([{ details: { interrupted: true } }, { isError: false }]);
  });
});

type Session = Awaited<ReturnType<typeof asking>>["session"];
