import { createStream } from "@tau-agent/ai";
import { startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { AgentSession } from "../session/agent-session.ts";
import { createTestSession, eventOf, isType, keyless } from "./__fixtures__/test-session.ts";

const bash = (args: Record<string, unknown>) => toolCall("bash", args);
const notices = (messages: readonly AgentMessage[]) =>
  messages.filter((message) => message.role === "custom" && message.customType === "job_end");
const resultTexts = (session: AgentSession) =>
  session.messages.flatMap((message) =>
    message.role === "toolResult" && message.content[0]?.type === "text"
      ? [message.content[0].text]
      : [],
  );

describe("the tools for background jobs", () => {
  const names = async (only?: string[], exclude?: string[]) => {
    const { session } = await createTestSession([], { tools: { only, exclude } });
    return session.tools.available.map(({ name }) => name).filter((name) => name !== "call_tool");
  };

  it("are available wherever bash is", async () => {
    expect(await names()).toEqual(expect.arrayContaining(["job_output", "job_kill", "list_jobs"]));
    expect(await names(["bash"])).toEqual(["bash", "job_output", "job_kill", "list_jobs"]);
    expect(await names(["read", "ls"])).toEqual(["read", "ls"]);
  });

  it.each([
    ["are declared, at the end, to models that take further tools", true],
    ["are called by name by models that do not", false],
  ])("are declared from the first job on %s", async (_, isAppendable) => {
    const scenario = [
      turn([bash({ command: "true", background: true })]),
      turn([toolCall("list_jobs", {})]),
      "done",
    ];
    await using server = await startLoopbackServer({ scenario });
    const compat = isAppendable ? { supportsMidConvoToolChanges: true } : {};
    const { session } = await createTestSession([], {
      model: server.model("anthropic-messages", { compat }),
      providers: [keyless("loopback")],
      stream: createStream(),
    });
    const isActive = () => session.activeTools.some(({ name }) => name === "list_jobs");
    expect(isActive()).toBe(false);
    await session.prompt("go");
    expect(isActive()).toBe(true);
    expect(server.refusals).toEqual([]);
    const bodies = server.requests.map(({ body }) => body as { tools: { name: string }[] });
    const declared = bodies.map(({ tools }) => tools.map(({ name }) => name));
    expect(declared[0]).not.toContain("list_jobs");
    expect(declared[0]?.includes("call_tool")).toBe(!isAppendable);
    for (const names of declared) expect(names).toEqual(declared[0]);
    const additions = bodies.map((body) => JSON.stringify(body).includes("tool_addition"));
    expect(additions).toEqual([false, isAppendable, isAppendable]);
    expect(resultTexts(session)[0]?.includes("call_tool")).toBe(!isAppendable);
    expect(resultTexts(session)[1]).toContain(": true");
  });

  it("can be disabled", async () => {
    expect(await names(["bash"], ["job_*", "list_jobs"])).toEqual(["bash"]);
    expect(await names(["bash", "-job_kill"])).toEqual(["bash", "job_output", "list_jobs"]);
  });

  it("are read-only, unlike bash in the background", async () => {
    const { session } = await createTestSession([]);
    const find = (name: string) => session.tools.all.find((tool) => tool.name === name);
    expect(find("job_output")?.isReadOnly).toBe(true);
    expect(find("list_jobs")?.isReadOnly).toBe(true);
    expect(find("job_kill")?.isReadOnly).toBeUndefined();
    expect(await find("bash")?.isReadOnlyCall?.({ command: "ls" })).toBe(true);
    expect(await find("bash")?.isReadOnlyCall?.({ command: "ls", background: true })).toBe(false);
  });

  it("add little to a request", async () => {
    const { session } = await createTestSession([]);
    const declared = session.tools.available
      .filter(({ name }) => /job/.test(name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
    expect(JSON.stringify(declared).length).toBeLessThan(600);
  });
});

describe("a background job of the model", () => {
  it("continues across turns, and can be read, listed and killed", async () => {
    let jobId = "";
    const { session, events } = await createTestSession((request) => {
      const { index, toolResults } = request;
      jobId ||= /job-[0-9a-f]+/.exec(toolResults[0]?.text ?? "")?.[0] ?? "";
      if (index === 0) return turn([bash({ command: "echo up; sleep 630", background: true })]);
      if (index === 1) return turn([bash({ command: "sleep 0.5" })]);
      if (index === 2) return turn([toolCall("job_output", { jobId }), toolCall("list_jobs", {})]);
      if (index === 3) return turn([toolCall("job_kill", { jobId })]);
      if (index === 4) return turn([toolCall("job_output", { jobId: "job-ffffff" })]);
      return "done";
    });
    await session.prompt("go");
    const texts = resultTexts(session);
    expect(texts[0]).toContain(`Started in the background as ${jobId}.`);
    expect(texts[2]).toBe(`up\n\n[${jobId}: running; nextOffset 3]`);
    expect(texts[3]).toBe(`${jobId}: running: echo up; sleep 630`);
    expect(texts[4]).toMatch(/: killed after [\d.]+ s: echo up; sleep 630$/);
    expect(texts[5]).toContain("There is no job job-ffffff");
    const started = events.find(isType("tool_execution_end"));
    expect(started).toMatchObject({ result: { details: { jobId } } });
    expect(events.filter(isType("job_end"))).toMatchObject([{ jobId, status: "killed" }]);
    expect(await session.jobs.list()).toMatchObject([{ jobId, status: "killed" }]);
  });

  it("survives an abort of its run", async () => {
    const { session, events } = await createTestSession([
      turn([bash({ command: "sleep 20", background: true }), bash({ command: "sleep 21" })]),
    ]);
    const isSecond = (event: SessionEvent) =>
      event.type === "tool_execution_start" && JSON.stringify(event.args).includes("sleep 21");
    const running = session.prompt("go");
    await eventOf({ session, events }, isSecond);
    await session.abort();
    expect(await running).toMatchObject({ status: "aborted" });
    expect(await session.jobs.list()).toMatchObject([{ status: "running" }]);
  });

  it("needs a setting to outlive its host, and background for job-only arguments", async () => {
    const { session } = await createTestSession([
      turn([
        bash({ command: "true", background: true, detached: true }),
        bash({ command: "true", notify: true }),
        bash({ command: "true", background: true, timeout: -1 }),
      ]),
      "done",
    ]);
    await session.prompt("go");
    expect(resultTexts(session)).toEqual([
      expect.stringContaining("bash.jobs.allowDetached"),
      expect.stringContaining("set background too"),
      expect.stringContaining("Invalid timeout"),
    ]);
    expect(await session.jobs.list()).toEqual([]);
  });

  it("sends no notification without notify", async () => {
    const created = await createTestSession([
      turn([bash({ command: "true", background: true })]),
      "one",
    ]);
    const { session } = created;
    await session.prompt("go");
    await eventOf(created, isType("job_end"));
    await session.waitForIdle();
    expect(notices(session.messages)).toEqual([]);
  });

  it("starts a run with notify while the session is idle", async () => {
    const created = await createTestSession([
      turn([bash({ command: "sleep 0.6; echo built; exit 2", background: true, notify: true })]),
      "waiting",
      "seen",
    ]);
    const { session, events } = created;
    await session.prompt("go");
    expect(session.lastAssistantText).toBe("waiting");
    await eventOf(created, isType("job_end"));
    await session.waitForIdle();
    expect(session.lastAssistantText).toBe("seen");
    const [notice, ...more] = notices(session.messages);
    expect(more).toEqual([]);
    expect(JSON.stringify(notice)).toMatch(/job-\w+ has ended \(exited with code 2\).*built/s);
    expect(events.filter(isType("agent_settled"))).toHaveLength(2);
    expect(created.written().filter(({ type }) => type === "custom_message")).toHaveLength(1);
  });

  it("sends its notification with the next turn of a run", async () => {
    const { session } = await createTestSession([
      turn([bash({ command: "echo built", background: true, notify: true })]),
      turn([bash({ command: "sleep 0.8" })]),
      "seen",
    ]);
    await session.prompt("go");
    await session.waitForIdle();
    expect(session.messages.map(({ role }) => role)).toEqual(
      "user assistant toolResult assistant toolResult custom assistant".split(" "),
    );
  });

  it("starts another run with notify if it ends during the last turn", async () => {
    const created = await createTestSession([
      turn([bash({ command: "sleep 0.2", background: true, notify: true })]),
      turn(Array.from({ length: 30 }, (_, index) => `${index} `).join(""), {
        chunkSize: 4,
        delayMs: 40,
      }),
      "seen",
    ]);
    const { session } = created;
    await session.prompt("go");
    await eventOf(created, isType("job_end"));
    await session.waitForIdle();
    expect(session.lastAssistantText).toBe("seen");
    expect(session.messages.map(({ role }) => role)).toEqual(
      "user assistant toolResult assistant custom assistant".split(" "),
    );
  });
});
