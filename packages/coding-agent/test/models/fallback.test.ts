import { type Fault, overloaded, rateLimited, text, toolCall, turn } from "@tau-agent/ai/testing";
import { buildSessionContext, resumedModel } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import { eventOf, isType } from "../../src/create/__fixtures__/test-session.ts";
import {
  createFallbackSession,
  down,
  fallbacksOf,
  quickSettings,
  writers,
} from "./__fixtures__/fallback-session.ts";

const status = (code: number, message = "no"): Fault => ({ kind: "status", status: code, message });

describe("a model that fails", () => {
  it("is replaced by the next model of the list after its retries", async () => {
    let asked = 0;
    const failing = () => {
      asked += 1;
      return turn("", { fault: overloaded() });
    };
    const test = await createFallbackSession({ a: failing, b: ["hello from b"] });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(asked).toBe(2);
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
    expect(writers(test)).toEqual(["b/one"]);
    const types = test.events.map(({ type }) => type);
    const order = [
      "auto_retry_start",
      "auto_retry_end",
      "model_fallback",
      "prompt_result",
    ] as const;
    const places = order.map((type) => types.indexOf(type));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(test.events.filter(isType("agent_end"))).toMatchObject([
      { willRetry: true },
      { willRetry: true },
      { willRetry: false },
    ]);
    expect(test.events.filter(isType("auto_retry_end"))).toMatchObject([{ success: false }]);
  });

  it.each<[string, Fault, string]>([
    ["overload", overloaded(), "overloaded"],
    ["a server error", status(500), "overloaded"],
    ["a rate limit", rateLimited(0.01), "rate_limited"],
    ["a rate limit for longer than may be waited", rateLimited(3600), "rate_limited"],
    ["a connection that breaks", { kind: "reset", when: "before_headers" }, "network"],
    ["half a reply", { kind: "truncate", afterDeltas: 2 }, "network"],
    [
      "an error amid a reply",
      { kind: "error_event", message: "busy", code: "overloaded_error", afterDeltas: 2 },
      "overloaded",
    ],
  ])("is replaced after %s, and nothing of its reply stays", async (_, fault, reason) => {
    const broken = () => turn([text("half a reply"), toolCall("ls", { path: "." })], { fault });
    const test = await createFallbackSession({ a: broken, b: ["whole"] });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed", text: "whole" });
    expect(fallbacksOf(test)).toEqual([`a/one b/one ${reason}`]);
    expect(test.session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const stored = buildSessionContext(test.session.log.tree.branch());
    expect(stored.messages).toEqual(test.session.messages);
  });

  it.each<[string, Fault, string]>([
    ["quota", status(402), "quota"],
    ["quota", status(429, "insufficient_quota: You exceeded your current quota"), "quota"],
    ["auth", status(401), "auth"],
    ["auth", status(403), "auth"],
  ])("is replaced for lack of %s only if the settings say so", async (on, fault, reason) => {
    const vendors = { a: down(fault), b: ["from b"] };
    const plain = await createFallbackSession(vendors);
    expect(await plain.session.prompt("hi")).toMatchObject({ status: "error", code: reason });
    expect(fallbacksOf(plain)).toEqual([]);
    const settings = quickSettings({ "fallback.on": [on] });
    const test = await createFallbackSession(vendors, { settings });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(fallbacksOf(test)).toEqual([`a/one b/one ${reason}`]);
  });

  it.each([400, 404, 422])("is not replaced when it refuses the request with %i", async (code) => {
    const settings = quickSettings({ "fallback.on": ["quota", "auth"] });
    const test = await createFallbackSession({ a: down(status(code)), b: ["b"] }, { settings });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "error" });
    expect(fallbacksOf(test)).toEqual([]);
  });

  it("ends the prompt with the last error when no fallback answers either", async () => {
    const test = await createFallbackSession({ a: down(), b: down(rateLimited(0.01)) });
    expect(await test.session.prompt("hi")).toMatchObject({
      status: "error",
      code: "rate_limited",
    });
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
    expect(test.events.filter(isType("agent_end")).at(-1)).toMatchObject({ willRetry: false });
    const stored = buildSessionContext(test.session.log.tree.branch());
    expect(stored.messages).toEqual(test.session.messages);
  });

  it("is replaced down the list, and each model is tried once", async () => {
    const vendors = { a: down(), b: down(status(503)), c: down(), d: ["from d"] };
    const test = await createFallbackSession(vendors);
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(fallbacksOf(test)).toEqual([
      "a/one b/one overloaded",
      "b/one c/one overloaded",
      "c/one d/one overloaded",
    ]);
  });

  it("is not replaced after the retries were cancelled, or the run aborted", async () => {
    const slow = quickSettings({ "retry.baseDelayMs": 60_000 });
    const cancelled = await createFallbackSession({ a: down(), b: ["b"] }, { settings: slow });
    const first = cancelled.session.prompt("hi");
    await eventOf(cancelled, isType("auto_retry_start"));
    cancelled.session.retry.cancel();
    expect(await first).toMatchObject({ status: "error" });
    const aborted = await createFallbackSession({ a: down(), b: ["b"] }, { settings: slow });
    const second = aborted.session.prompt("hi");
    await eventOf(aborted, isType("auto_retry_start"));
    await aborted.session.abort();
    expect(await second).toMatchObject({ status: "aborted" });
    expect([...fallbacksOf(cancelled), ...fallbacksOf(aborted)]).toEqual([]);
  });

  it("is replaced at once when retries are off", async () => {
    const settings = quickSettings({ "retry.enabled": false });
    const test = await createFallbackSession({ a: down(), b: ["b"] }, { settings });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(test.events.filter(({ type }) => type.startsWith("auto_retry"))).toEqual([]);
  });

  it("is replaced during a run, which keeps its tool results", async () => {
    const failsLater = ({ index }: { index: number }) =>
      index === 0 ? turn(toolCall("ls", { path: "." })) : turn("", { fault: overloaded() });
    const test = await createFallbackSession({ a: failsLater, b: ["done"] });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(writers(test)).toEqual(["a/one", "b/one"]);
    expect(test.events.filter(isType("tool_execution_start"))).toHaveLength(1);
  });
});

describe("after a fallback", () => {
  const failsTwice = ({ index }: { index: number }) =>
    index < 2 ? turn("", { fault: overloaded() }) : `a ${index}`;

  it("retries the chosen model with the first prompt after the cooldown", async () => {
    const test = await createFallbackSession({ a: failsTwice, b: () => "b" });
    const { session } = test;
    await session.prompt("1");
    await session.prompt("2");
    expect(writers(test)).toEqual(["b/one", "b/one"]);
    session.settings.override("fallback.cooldownMs", 0);
    await session.prompt("3");
    expect(writers(test)).toEqual(["b/one", "b/one", "a/one"]);
    expect(fallbacksOf(test)).toHaveLength(1);
  });

  it("lets a newly chosen model answer at once, even the one that failed", async () => {
    const test = await createFallbackSession({ a: failsTwice, b: () => "b", c: () => "c" });
    await test.session.prompt("1");
    await test.session.setModel("a", "one");
    await test.session.prompt("2");
    await test.session.setModel("c", "one");
    await test.session.prompt("3");
    expect(writers(test)).toEqual(["b/one", "a/one", "c/one"]);
  });

  it("replaces a failing fallback with the others, including those that failed before", async () => {
    const once = ({ index }: { index: number }) =>
      index < 2 ? turn("", { fault: overloaded() }) : "b";
    const later = ({ index }: { index: number }) =>
      index > 0 ? turn("", { fault: overloaded() }) : "c";
    const test = await createFallbackSession({ a: down(), b: once, c: later });
    await test.session.prompt("1");
    expect(await test.session.prompt("2")).toMatchObject({ status: "completed" });
    expect(writers(test)).toEqual(["c/one", "b/one"]);
    expect(fallbacksOf(test).at(-1)).toBe("c/one b/one overloaded");
  });

  it("begins a prompt with the chosen model when all have failed", async () => {
    let asked = 0;
    const recovering = () => {
      asked += 1;
      return asked <= 2 ? turn("", { fault: overloaded() }) : "a";
    };
    const test = await createFallbackSession({ a: recovering, b: down() });
    expect(await test.session.prompt("1")).toMatchObject({ status: "error" });
    expect(await test.session.prompt("2")).toMatchObject({ status: "completed" });
    expect(writers(test).at(-1)).toBe("a/one");
  });

  it("keeps the chosen model in the state and the file", async () => {
    const test = await createFallbackSession({ a: down(), b: () => "b" });
    await test.session.prompt("1");
    expect(test.session.state.model).toMatchObject({ provider: "a", id: "one" });
    expect(resumedModel(test.parts.conversation.log.tree)).toMatchObject({
      model: { provider: "a", modelId: "one" },
      fallback: { chosen: "a/one", to: "b/one" },
    });
    await test.session.newSession();
    await test.session.prompt("2");
    expect(writers(test)).toEqual(["b/one"]);
    expect(resumedModel(test.parts.conversation.log.tree)).toMatchObject({
      model: { provider: "a", modelId: "one" },
      fallback: { to: "b/one" },
    });
  });

  it("continues a reopened session with the fallback until the cooldown has passed", async () => {
    const first = await createFallbackSession({ a: down(), b: () => "b" });
    await first.session.prompt("1");
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    const again = async (cooldownMs: number) => {
      const vendors = { a: () => "a", b: () => "b again" };
      const settings = quickSettings({ "fallback.cooldownMs": cooldownMs });
      const session = { kind: "file", path } as const;
      const test = await createFallbackSession(vendors, { settings, session, model: undefined });
      expect(test.session.state.model).toMatchObject({ provider: "a" });
      await test.session.prompt("more");
      await test.session.dispose();
      return writers(test).at(-1);
    };
    expect(await again(300_000)).toBe("b/one");
    expect(await again(0)).toBe("a/one");
    expect(await again(300_000)).toBe("a/one");
  });
});

describe("an unusable fallback", () => {
  it("is skipped without a key, and a diagnostic names it", async () => {
    const test = await createFallbackSession(
      { a: down(), b: ["b"] },
      {
        fallbackModels: ["openai/gpt-5.5", "b/one"],
      },
    );
    expect(test.session.diagnostics).toContainEqual(
      expect.objectContaining({
        code: "fallback_skipped",
        message: expect.stringMatching(/openai\/gpt-5\.5 .*OPENAI_API_KEY/),
      }),
    );
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
  });

  it("is skipped when the conversation exceeds its context window", async () => {
    const models = { b: { contextWindow: 8_000 } };
    const long = "word ".repeat(20_000);
    const test = await createFallbackSession({ a: down(), b: ["b"], c: ["c"] }, { models });
    expect(await test.session.prompt(long)).toMatchObject({ status: "completed" });
    expect(fallbacksOf(test)).toEqual(["a/one c/one overloaded"]);
    expect(test.session.diagnostics).toContainEqual(
      expect.objectContaining({
        code: "fallback_skipped",
        message: expect.stringMatching(/b\/one .* does not fit its window of 8000 tokens/),
      }),
    );
    const only = await createFallbackSession({ a: down(), b: ["b"] }, { models });
    expect(await only.session.prompt(long)).toMatchObject({ status: "error", code: "overloaded" });
    expect(only.events.filter(isType("agent_end")).at(-1)).toMatchObject({ willRetry: false });
  });

  it("is ignored if it is the chosen model or a duplicate", async () => {
    const fallbackModels = ["a/one", "b/one", "b/one"];
    const test = await createFallbackSession({ a: down(), b: down() }, { fallbackModels });
    expect(await test.session.prompt("hi")).toMatchObject({ status: "error" });
    expect(fallbacksOf(test)).toEqual(["a/one b/one overloaded"]);
  });

  it.each([
    ["anthropic/claude-sonet-4-5", /claude-sonnet-4-5/],
    ["antropic/claude-sonnet-4-5", /anthropic/],
    ["claude-sonnet-4-5", /anthropic\/claude-sonnet-4-5/],
    ["nobody/nothing", /nobody\/nothing/],
    ["", /Model not found/],
  ])("is refused when no model has its name: %s", async (name, hint) => {
    await expect(
      createFallbackSession({ a: ["a"] }, { fallbackModels: [name] }),
    ).rejects.toMatchObject({ code: "model_not_found", message: expect.stringMatching(hint) });
  });

  it("is left out with a diagnostic when settings misspell it, or an error in strict mode", async () => {
    const settings = () => quickSettings({ fallbackModels: ["b/ones", "b/one"] });
    const options = { fallbackModels: undefined };
    const test = await createFallbackSession(
      { a: down(), b: ["b"] },
      { ...options, settings: settings() },
    );
    expect(test.session.diagnostics).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(/b\/ones.*Did you mean b\/one/) }),
    );
    expect(await test.session.prompt("hi")).toMatchObject({ status: "completed" });
    await expect(
      createFallbackSession(
        { a: down(), b: ["b"] },
        { ...options, settings: settings(), refusesMistakes: true },
      ),
    ).rejects.toMatchObject({ code: "model_not_found" });
  });
});
