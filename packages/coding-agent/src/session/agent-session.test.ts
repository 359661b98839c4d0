import { text, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it, vi } from "vitest";
import {
  createTestSession,
  eventOf,
  isType,
  placesIn,
  temporaryFolder,
  unpaired,
  userTexts,
} from "../create/__fixtures__/test-session.ts";
import { createAgentSession } from "../create/create-session.ts";

const slow = (value: string) => turn(text(value, { chunkSize: 4, delayMs: 5 }));
const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);

describe("a prompt", () => {
  it("is accepted, then runs, settles and gets exactly one result", async () => {
    const { session, events, written } = await createTestSession(["Hello"]);
    const { disposition, result } = await session.submit("hi", { id: "p1" });
    expect(disposition).toBe("started");
    expect(events).toEqual([]);
    expect(session.isStreaming).toBe(true);
    expect(await result).toMatchObject({ id: "p1", status: "completed" });
    expect(types(events).slice(-3)).toEqual(["agent_end", "agent_settled", "prompt_result"]);
    expect(events.at(-1)).toEqual({ type: "prompt_result", id: "p1", status: "completed" });
    expect(session.isStreaming).toBe(false);
    expect(session.lastAssistantText).toBe("Hello");
    expect(written().filter(({ type }) => type === "message")).toHaveLength(2);
  });

  it("stores every message before it is announced", async () => {
    const test = await createTestSession([turn([toolCall("ls", { path: "." })]), "done"]);
    let announced = 0;
    test.session.subscribe((event) => {
      if (event.type !== "message_end") return;
      announced++;
      const stored = test.written().filter(({ type }) => type === "message");
      expect(stored).toHaveLength(announced);
      expect(stored.at(-1)?.message).toEqual(JSON.parse(JSON.stringify(event.message)));
    });
    await test.session.prompt("go");
    expect(announced).toBe(4);
    expect(test.session.diagnostics).toEqual([]);
  });

  it("is refused without a model, and changes nothing", async () => {
    const folder = temporaryFolder();
    const session = await createAgentSession(placesIn(folder));
    const heard = vi.fn();
    session.subscribe(heard);
    await expect(session.submit("hi")).rejects.toMatchObject({ code: "no_model" });
    await expect(session.steer("hi")).rejects.toMatchObject({ code: "no_model" });
    expect(heard).not.toHaveBeenCalled();
    expect(session.isStreaming).toBe(false);
    await session.dispose();
  });

  it("is refused without a key, naming the variable to set", async () => {
    const folder = temporaryFolder();
    const model = "anthropic/claude-sonnet-4-5";
    const session = await createAgentSession({ ...placesIn(folder), model });
    await expect(session.submit("hi")).rejects.toMatchObject({
      code: "no_key",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    await session.dispose();
  });

  it("is refused with invalid image data, naming the field", async () => {
    const { session, events } = await createTestSession(["x"]);
    const images = [{ type: "image" as const, data: "not an image", mimeType: "image/png" }];
    await expect(session.submit("look", { images })).rejects.toMatchObject({
      code: "invalid_image",
      message: expect.stringContaining("images[0]"),
    });
    expect(events).toEqual([]);
  });

  it("ends with an error when the model fails", async () => {
    const fault = { kind: "status", status: 401, message: "bad key" } as const;
    const { session } = await createTestSession([turn("x", { fault }), "fine"]);
    expect(await session.prompt("hi")).toMatchObject({
      status: "error",
      error: expect.stringContaining("bad key"),
    });
    expect(await session.prompt("again")).toMatchObject({ status: "completed" });
  });

  it("needs a streamingBehavior during another run", async () => {
    const { session } = await createTestSession([slow("a longer answer"), "second", "third"]);
    const first = await session.submit("one", { id: "1" });
    await expect(session.submit("two")).rejects.toMatchObject({ code: "busy" });
    const behaviour = { streamingBehavior: "followUp", id: "2" } as const;
    const second = await session.submit("two", behaviour);
    expect(second.disposition).toBe("queued");
    expect(session.state).toMatchObject({ pendingMessageCount: 1, queuedMessageCount: 1 });
    expect(await first.result).toMatchObject({ id: "1", status: "completed" });
    expect(await second.result).toMatchObject({ id: "2", status: "completed" });
    expect(userTexts(session.messages)).toEqual(["one", "two"]);
  });

  it("starts one run when sent twice at once", async () => {
    const { session, events } = await createTestSession(["first", "second"]);
    const both = await Promise.allSettled([session.submit("a"), session.submit("b")]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await session.waitForIdle();
    expect(types(events).filter((type) => type === "agent_start")).toHaveLength(1);
    expect(userTexts(session.messages)).toEqual(["a"]);
  });

  it("may follow as soon as a listener learns that the session has settled", async () => {
    const { session, events } = await createTestSession(["first", "second"]);
    let next: Promise<unknown> | undefined;
    session.subscribe((event) => {
      if (event.type === "agent_settled") next ??= session.prompt("again", { id: "2" });
    });
    await session.prompt("hi", { id: "1" });
    await next;
    await session.waitForIdle();
    const ends = events.flatMap((event) => (event.type === "prompt_result" ? [event.id] : []));
    expect(ends).toEqual(["1", "2"]);
  });
});

describe("message queues", () => {
  it("announce their messages and their delivery", async () => {
    const { session, events } = await createTestSession([slow("a longer answer"), "b", "c"]);
    await session.submit("one");
    await session.steer("now");
    await session.followUp("later");
    await session.waitForIdle();
    const updates = events.flatMap((event) =>
      event.type === "queue_update" ? [[event.steering, event.followUp]] : [],
    );
    expect(updates).toEqual([
      [["now"], []],
      [["now"], ["later"]],
      [[], ["later"]],
      [[], []],
    ]);
    expect(userTexts(session.messages)).toEqual(["one", "now", "later"]);
    expect(events.filter(isType("prompt_result"))).toHaveLength(1);
  });

  it("start a run when the session is idle", async () => {
    const { session } = await createTestSession(["a", "b"]);
    const steered = await session.steer("now");
    expect(steered.disposition).toBe("started");
    await steered.result;
    const followed = await session.followUp("later");
    expect(followed.disposition).toBe("started");
    await followed.result;
    expect(userTexts(session.messages)).toEqual(["now", "later"]);
  });
});

describe("an abort", () => {
  it("ends the run, and the result says so", async () => {
    const test = await createTestSession([slow("a much longer answer than that")]);
    const { result } = await test.session.submit("go", { id: "1" });
    await eventOf(test, isType("message_update"));
    await test.session.abort();
    expect(test.session.isStreaming).toBe(false);
    expect(await result).toMatchObject({ id: "1", status: "aborted" });
    expect(test.events.find(isType("agent_settled"))).toEqual({
      type: "agent_settled",
      aborted: true,
    });
  });

  it("reaches a run that was admitted but has not begun", async () => {
    const { session } = await createTestSession([slow("never"), "later"]);
    const submitted = session.submit("go");
    await session.abort();
    expect(await (await submitted).result).toMatchObject({ status: "aborted" });
  });

  it("refuses a prompt that waits for a slow key, and leaves the session idle", async () => {
    const { session } = await createTestSession(["later"]);
    const keys = vi.spyOn(session.models.registry.keys, "require");
    keys.mockReturnValueOnce(new Promise(() => {}));
    const submitted = expect(session.submit("go")).rejects.toMatchObject({
      code: "prompt_aborted",
    });
    const waiting = expect(session.submit("behind it")).rejects.toMatchObject({
      code: "prompt_aborted",
    });
    await session.abort();
    await Promise.all([submitted, waiting]);
    const { result } = await session.submit("again");
    expect(await result).toMatchObject({ status: "completed" });
    expect(userTexts(session.messages)).toEqual(["again"]);
  });

  it("does not affect a prompt that comes after it", async () => {
    const { session } = await createTestSession(["later"]);
    const keys = vi.spyOn(session.models.registry.keys, "require");
    keys.mockReturnValueOnce(new Promise(() => {}));
    const refused = expect(session.submit("go")).rejects.toMatchObject({ code: "prompt_aborted" });
    const aborted = session.abort();
    const next = session.submit("again");
    await Promise.all([refused, aborted]);
    expect(await (await next).result).toMatchObject({ status: "completed" });
  });

  it("lets queued messages run next", async () => {
    const test = await createTestSession([slow("a much longer answer"), "second"]);
    await test.session.submit("one");
    await eventOf(test, isType("message_update"));
    const next = await test.session.followUp("two");
    await test.session.abort();
    expect(await next.result).toMatchObject({ status: "completed" });
    expect(userTexts(test.session.messages)).toEqual(["one", "two"]);
  });

  it("kills the running tool and gives its call a result", async () => {
    const test = await createTestSession([turn([toolCall("bash", { command: "sleep 630" })])]);
    await test.session.submit("go");
    await eventOf(test, isType("tool_execution_start"));
    const start = performance.now();
    await test.session.abort();
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(unpaired(test.session.messages)).toEqual([]);
  });

  it("does nothing if nothing is running", async () => {
    const { session, events } = await createTestSession([]);
    await session.abort();
    expect(events).toEqual([]);
  });
});

describe("a client's shell command", () => {
  it("becomes part of the next request and triggers no reply", async () => {
    let seen = "";
    const { session, events, written } = await createTestSession((request) => {
      seen = JSON.stringify(request.messages);
      return "ok";
    });
    expect(await session.bash.run("printf hello")).toEqual({
      output: "hello",
      exitCode: 0,
      cancelled: false,
      truncated: false,
    });
    await session.bash.run("printf secret", { excludeFromContext: true });
    expect(events).toEqual([]);
    await session.prompt("hi");
    expect(seen).toContain("Ran `printf hello`");
    expect(seen).not.toContain("secret");
    expect(JSON.stringify(written())).toContain("secret");
  });

  it("is added after the current run, so that no call is separated from its result", async () => {
    const test = await createTestSession([
      turn([toolCall("bash", { command: "sleep 0.3" })]),
      "done",
    ]);
    await test.session.submit("go");
    await eventOf(test, isType("tool_execution_start"));
    await test.session.bash.run("printf hi");
    expect(test.session.messages.some(({ role }) => role === "bashExecution")).toBe(false);
    await test.session.waitForIdle();
    expect(test.session.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "bashExecution",
    ]);
    expect(unpaired(test.session.messages)).toEqual([]);
  });

  it("keeps its result when it ends while listeners still receive the run's end", async () => {
    const { session } = await createTestSession(["done"]);
    session.subscribe(async (event) => {
      if (event.type === "agent_end") await session.bash.run("printf hi");
    });
    await session.prompt("go");
    expect(session.messages.at(-1)).toMatchObject({ role: "bashExecution", output: "hi" });
  });

  it("is killed by abort_bash, together with all others", async () => {
    const { session } = await createTestSession([]);
    const running = [session.bash.run("sleep 630"), session.bash.run("sleep 631")];
    setTimeout(() => session.bash.abort(), 50);
    for (const result of await Promise.all(running)) {
      expect(result).toMatchObject({ cancelled: true });
      expect(result).not.toHaveProperty("exitCode");
    }
  });
});

describe("a new session", () => {
  it("leaves the old file unchanged and keeps the model", async () => {
    const { session, written } = await createTestSession(["one", "two"]);
    await session.prompt("first");
    const before = written();
    const oldPath = session.log.path;
    expect(await session.newSession("/parent.jsonl")).toEqual({ cancelled: false });
    expect(session.messages).toEqual([]);
    expect(session.log.path).not.toBe(oldPath);
    await session.prompt("second");
    expect(written()[0]).toMatchObject({ parentSession: "/parent.jsonl" });
    expect(written()[1]).toMatchObject({ type: "model_change", modelId: "scenario" });
    expect(userTexts(session.messages)).toEqual(["second"]);
    expect(before).toHaveLength(7);
  });

  it("aborts the current run, and gets the prompts sent meanwhile", async () => {
    const test = await createTestSession([slow("a much longer answer"), "fresh"]);
    const first = await test.session.submit("old", { id: "1" });
    await test.session.followUp("never delivered");
    await eventOf(test, isType("message_update"));
    const switching = test.session.newSession();
    const second = test.session.submit("new", { id: "2" });
    await switching;
    expect(await first.result).toMatchObject({ id: "1", status: "aborted" });
    expect(await (await second).result).toMatchObject({ id: "2", status: "completed" });
    expect(userTexts(test.session.messages)).toEqual(["new"]);
    expect(test.session.state.pendingMessageCount).toBe(0);
  });

  it("does not get the output of commands that started before it", async () => {
    const { session } = await createTestSession(["one"]);
    await session.prompt("first");
    const running = session.bash.run("echo from before; sleep 630");
    await new Promise((resolve) => setTimeout(resolve, 100));
    const oldLog = session.log;
    await session.newSession();
    expect(await running).toMatchObject({ cancelled: true });
    expect(session.messages).toEqual([]);
    expect(oldLog.tree.entries.at(-1)).toMatchObject({ message: { role: "bashExecution" } });
  });
});

describe("a clone of the session", () => {
  it("includes the results of running calls", async () => {
    const test = await createTestSession([turn([toolCall("bash", { command: "sleep 630" })])]);
    await test.session.submit("go");
    await eventOf(test, isType("tool_execution_start"));
    await test.session.navigation.clone();
    expect(test.session.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(unpaired(test.session.messages)).toEqual([]);
  });
});

describe("dispose", () => {
  it("ends the run, drops queued prompts, and refuses new ones", async () => {
    const test = await createTestSession([slow("a much longer answer"), "never"]);
    const first = await test.session.submit("one", { id: "1" });
    const followUp = { streamingBehavior: "followUp", id: "2" } as const;
    const second = await test.session.submit("two", followUp);
    await eventOf(test, isType("message_update"));
    await Promise.all([test.session.dispose(), test.session.dispose()]);
    expect(await first.result).toMatchObject({ id: "1", status: "aborted" });
    expect(await second.result).toMatchObject({ id: "2", status: "aborted" });
    expect(userTexts(test.session.messages)).toEqual(["one"]);
    for (const late of [
      test.session.submit("late"),
      test.session.newSession(),
      test.session.bash.run("true"),
    ]) {
      await expect(late).rejects.toMatchObject({ code: "disposed" });
    }
  });

  it("records the shell commands that it had to kill", async () => {
    const { session, written } = await createTestSession(["one"]);
    await session.prompt("first");
    const running = session.bash.run("echo begun; sleep 630");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await session.dispose();
    expect(await running).toMatchObject({ cancelled: true });
    expect(written().at(-1)).toMatchObject({ message: { role: "bashExecution", cancelled: true } });
  });

  it("lets the file be opened again", async () => {
    const { session, folder } = await createTestSession(["one"]);
    await session.prompt("first");
    await session.dispose();
    const path = session.log.path ?? "";
    const again = await createAgentSession({
      ...placesIn(folder),
      session: { kind: "file", path },
    });
    expect(userTexts(again.messages)).toEqual(["first"]);
    await again.dispose();
  });
});

describe("a session whose creation fails", () => {
  it("releases the file that it was to continue", async () => {
    const { session, folder } = await createTestSession(["one"]);
    await session.prompt("first");
    await session.dispose();
    const start = { kind: "file", path: session.log.path ?? "" } as const;
    const options = { ...placesIn(folder), session: start };
    await expect(createAgentSession({ ...options, model: "no/such-model" })).rejects.toMatchObject({
      code: "model_not_found",
    });
    const again = await createAgentSession(options);
    await again.dispose();
  });
});

describe("await using", () => {
  it("disposes of the session", async () => {
    const { session } = await createTestSession(["one"]);
    {
      await using scoped = session;
      await scoped.prompt("hi");
    }
    await expect(session.prompt("again")).rejects.toMatchObject({ code: "disposed" });
  });
});

describe("listeners", () => {
  it("affect neither the run nor each other when they throw on every event", async () => {
    const { session, events } = await createTestSession(["one"]);
    session.subscribe(() => {
      throw new TypeError("always");
    });
    session.subscribe(() => Promise.reject(new TypeError("later")));
    session.subscribe((() => 42) as never);
    const noted: string[] = [];
    session.onDiagnostic(({ message }) => noted.push(message));
    expect(await session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(types(events).at(-1)).toBe("prompt_result");
    expect(session.diagnostics.map(({ message }) => message)).toEqual([
      "A listener failed: always",
      "A listener failed: later",
    ]);
    expect(noted).toEqual(["A listener failed: always", "A listener failed: later"]);
  });

  it.each(["abort", "dispose", "newSession"] as const)(
    "may wait for %s, although that waits for the run that they delay",
    async (stop) => {
      const slow = turn(text("a long reply", { chunkSize: 1, delayMs: 5 }));
      const { session } = await createTestSession([slow, "two"]);
      const stopped: string[] = [];
      session.subscribe(async (event) => {
        if (event.type !== "message_update" || stopped.length > 0) return;
        stopped.push("asked");
        await session[stop]();
        stopped.push("done");
      });
      expect(await session.prompt("go")).toMatchObject({ status: "aborted" });
      await session.waitForIdle();
      await expect.poll(() => stopped).toEqual(["asked", "done"]);
    },
  );

  it("do not keep the session from ending when they never finish", async () => {
    const { session } = await createTestSession(["one"]);
    const heard = new Promise<void>((resolve) => {
      session.subscribe((event) => {
        if (event.type !== "message_update") return undefined;
        resolve();
        return new Promise(() => {});
      });
    });
    const prompt = session.prompt("go");
    await heard;
    await session.dispose();
    expect(await prompt).toMatchObject({ status: "aborted" });
  });

  it("delay the run by returning a promise", async () => {
    const { session } = await createTestSession(["one"]);
    let isWaiting = false;
    session.subscribe(async (event) => {
      expect(isWaiting).toBe(false);
      isWaiting = event.type.startsWith("message");
      await new Promise((resolve) => setTimeout(resolve, 1));
      isWaiting = false;
    });
    expect(await session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(session.diagnostics).toEqual([]);
  });
});
