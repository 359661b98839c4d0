import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { Turns } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { PromptQueue } from "./prompt-queue.ts";
import { UpdateLine } from "./update-line.ts";

const later = () => new Promise((resolve) => setImmediate(resolve));

describe("PromptQueue", () => {
  const queue = (log: string[]) => {
    const prompts = new PromptQueue();
    const run = (name: string, signal = new AbortController().signal) =>
      prompts.run(
        async (ticket) => {
          log.push(`${name} runs`);
          await new Promise<void>((resolve) => {
            ticket.onCancel(resolve);
            setTimeout(resolve, 5);
          });
          log.push(`${name} ends${ticket.isCancelled ? " early" : ""}`);
          return name;
        },
        { signal, cancelled: "cancelled" },
      );
    return { prompts, run };
  };

  it("runs prompts one after the other", async () => {
    const log: string[] = [];
    const { prompts, run } = queue(log);
    expect(await Promise.all([run("a"), run("b")])).toEqual(["a", "b"]);
    expect(log).toEqual(["a runs", "a ends", "b runs", "b ends"]);
    expect(prompts.isBusy).toBe(false);
  });

  it("cancels all prompts: the running one and those that wait", async () => {
    const log: string[] = [];
    const { prompts, run } = queue(log);
    const all = Promise.all([run("a"), run("b"), run("c")]);
    await later();
    prompts.cancelAll();
    expect(await all).toEqual(["a", "cancelled", "cancelled"]);
    expect(log).toEqual(["a runs", "a ends early"]);
  });

  it("ends a waiting prompt at once when it alone is cancelled", async () => {
    const log: string[] = [];
    const { run } = queue(log);
    const controller = new AbortController();
    const first = run("a");
    const second = run("b", controller.signal);
    controller.abort();
    expect(await second).toBe("cancelled");
    expect(log).toEqual(["a runs"]);
    expect(await first).toBe("a");
    expect(await run("c", AbortSignal.abort())).toBe("cancelled");
  });

  it("runs the next prompt after a failure", async () => {
    const prompts = new PromptQueue();
    const options = { signal: new AbortController().signal, cancelled: "cancelled" };
    const failing = prompts.run(() => Promise.reject(new Error("no")), options);
    const next = prompts.run(async () => "next", options);
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });
});

describe("Turns", () => {
  it("runs work for one key in order, also after a failure, and does not hold up other keys", async () => {
    const turns = new Turns();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await later();
      log.push(`${name} ends`);
      if (name === "a1") throw new Error(name);
    };
    const all = [
      turns.take("a", work("a1")),
      turns.take("a", work("a2")),
      turns.take("b", work("b")),
    ];
    expect([...turns.keys]).toEqual(["a", "b"]);
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(log.slice(0, 2)).toEqual(["a1 begins", "b begins"]);
    const ofOne = log.filter((line) => line.startsWith("a"));
    expect(ofOne).toEqual(["a1 begins", "a1 ends", "a2 begins", "a2 ends"]);
    await later();
    expect([...turns.keys]).toEqual([]);
  });
});

describe("UpdateLine", () => {
  const title = (text: string): SessionUpdate => ({
    sessionUpdate: "session_info_update",
    title: text,
  });

  it("sends updates in order, even if one takes time to make", async () => {
    const sent: unknown[] = [];
    const line = new UpdateLine(async (update) => void sent.push(Object(update).title));
    void line.add(async () => {
      await later();
      return [title("slow")];
    });
    await line.add(() => [title("a"), title("b")]);
    expect(sent).toEqual(["slow", "a", "b"]);
  });

  it("sends only the latest of updates that replace each other while the client is slow", async () => {
    const sent: unknown[] = [];
    const { promise: drained, resolve: drain } = Promise.withResolvers<void>();
    const line = new UpdateLine(async (update) => {
      sent.push(Object(update).title);
      await drained;
    });
    void line.add(() => [title("first")]);
    for (let at = 0; at < 100; at++) line.addLatest("call", () => [title(`output ${at}`)]);
    drain();
    await line.settled();
    expect(sent).toEqual(["first", "output 99"]);
    line.addLatest("call", () => [title("later")]);
    await line.settled();
    expect(sent).toEqual(["first", "output 99", "later"]);
  });

  it("continues after an update that cannot be made or sent", async () => {
    const sent: unknown[] = [];
    const line = new UpdateLine(async (update) => {
      if (Object(update).title === "lost") throw new Error("gone");
      sent.push(Object(update).title);
    });
    await line.add(() => {
      throw new Error("no update");
    });
    await line.add(() => [title("lost")]);
    await line.add(() => [title("kept")]);
    expect(sent).toEqual(["kept"]);
  });
});
