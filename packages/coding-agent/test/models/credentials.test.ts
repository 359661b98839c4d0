import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { createStream } from "@tau-agent/ai";
import {
  type Fault,
  type Scenario,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import type { CredentialParams, GetCredentials, OpenHostRequest } from "@tau-agent/rpc-protocol";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { takeRewrites } from "../../../ai/test/stable-prefix.ts";
import {
  createTestSession,
  isType,
  keyless,
  placesIn,
  temporaryFolder,
} from "../../src/create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../src/create/options/session-options.ts";
import { quickSettings } from "./__fixtures__/fallback-session.ts";

const SECRET = "vault.0123456789abcdef";

/** A vendor that accepts only these keys; its error repeats a refused key. */
async function vendor(good: readonly string[], scenario: Scenario = () => "hello") {
  const keyAt = (index: number) => {
    const { headers } = server.requests[index] ?? {};
    return String(headers?.authorization ?? headers?.["x-gateway"] ?? "").replace("Bearer ", "");
  };
  const server = await startLoopbackServer({
    scenario,
    faults: (index): Fault | undefined => {
      const key = keyAt(index);
      if (good.includes(key)) return undefined;
      return { kind: "status", status: 401, message: `Incorrect API key provided: ${key}` };
    },
  });
  onTestFinished(() => server.close());
  return { server, keys: () => server.requests.map((_, index) => keyAt(index)) };
}

/** A session that calls `get` for its keys. */
async function session(
  { server }: Awaited<ReturnType<typeof vendor>>,
  get: GetCredentials | undefined,
  options: Partial<CreateAgentSessionOptions> = {},
) {
  const asked: CredentialParams[] = [];
  const credentials: GetCredentials | undefined =
    get &&
    ((params) => {
      asked.push(params);
      return get(params);
    });
  const model = server.model("openai-completions", { provider: "acme", id: "m" });
  const other = server.model("openai-completions", { provider: "acme", id: "n" });
  const test = await createTestSession([], {
    ...placesIn(temporaryFolder()),
    model,
    providers: [{ ...keyless("acme"), isKeyless: false, models: () => [model, other] }],
    stream: createStream(),
    settings: quickSettings(),
    ...(credentials && { credentials }),
    ...options,
  });
  return { ...test, asked };
}

const start = { provider: "acme", modelId: "m", reason: "start" };

describe("credentials from an embedder", () => {
  it("are requested once, kept in memory, and preferred to all other keys", async () => {
    const acme = await vendor([SECRET]);
    const places = placesIn(temporaryFolder());
    mkdirSync(places.agentDirectory ?? "", { recursive: true });
    const stored = { acme: { type: "api_key", key: "from-auth-json" } };
    writeFileSync(join(places.agentDirectory ?? "", "auth.json"), JSON.stringify(stored));
    const { models: _, ...rest } = places;
    const test = await session(acme, async () => ({ apiKey: SECRET }), rest);
    await test.session.prompt("1");
    expect(await test.session.prompt("2")).toMatchObject({ status: "completed" });
    expect(test.asked).toEqual([start]);
    expect(acme.keys()).toEqual([SECRET, SECRET]);
  });

  it("may consist of headers only", async () => {
    const acme = await vendor([SECRET]);
    const test = await session(acme, () => ({ headers: { "x-gateway": SECRET } }));
    const available = async () => (await test.session.models.available()).map(({ id }) => id);
    expect(await available()).toEqual([]);
    expect(await test.session.prompt("1")).toMatchObject({ status: "completed" });
    expect(await available()).toEqual(["m", "n"]);
  });

  it("are requested again when they have expired", async () => {
    const acme = await vendor(["first-key", "second-key"]);
    const keys = ["first-key", "second-key"];
    const given = [...keys];
    const test = await session(acme, () => ({
      apiKey: given.shift() ?? "none",
      expiresAt: Date.now() + (given.length === 1 ? 150 : 60_000),
    }));
    await test.session.prompt("1");
    await new Promise((resolve) => setTimeout(resolve, 200));
    await test.session.prompt("2");
    await test.session.prompt("3");
    expect(acme.keys()).toEqual([keys[0], keys[1], keys[1]]);
    expect(test.asked.map(({ reason }) => reason)).toEqual(["start", "expired"]);
  });

  it.each([true, false])("are requested once more after a 401; retries on: %s", async (isOn) => {
    const acme = await vendor(["second-key"]);
    const keys = ["first-key", "second-key"];
    const settings = quickSettings({ "retry.enabled": isOn });
    const test = await session(acme, () => ({ apiKey: keys.shift() ?? "none" }), { settings });
    expect(await test.session.prompt("1")).toMatchObject({ status: "completed" });
    expect(test.asked.map(({ reason }) => reason)).toEqual(["start", "refused"]);
    expect(test.session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("end the prompt with the vendor's error, without the key, when refused twice", async () => {
    const acme = await vendor([]);
    let count = 0;
    const test = await session(acme, () => ({ apiKey: `${SECRET}-${++count}` }));
    const result = await test.session.prompt("1");
    expect(result).toMatchObject({ status: "error", code: "auth" });
    expect(result.error).toMatch(/Incorrect API key provided: \[redacted\].*from credentials/);
    expect(test.asked.map(({ reason }) => reason)).toEqual(["start", "refused"]);
    const told = inspect([test.events, test.written(), result, test.session.diagnostics], {
      depth: 20,
    });
    expect(told).not.toContain(SECRET);
  });

  it("are not tried again if they do not change", async () => {
    const acme = await vendor([]);
    const test = await session(acme, () => ({ apiKey: SECRET }));
    expect(await test.session.prompt("1")).toMatchObject({ status: "error", code: "auth" });
    expect(acme.keys()).toEqual([SECRET]);
    expect(test.asked.map(({ reason }) => reason)).toEqual(["start", "refused"]);
  });

  it("fall back to the other sources of keys if the embedder has none", async () => {
    const acme = await vendor(["from-environment"]);
    for (const nothing of [{}, undefined, null]) {
      const test = await session(acme, () => nothing as never, { apiKey: undefined });
      test.session.models.registry.keys.setRuntimeKey("acme", undefined);
      await expect(test.session.prompt("1")).rejects.toMatchObject({ code: "no_key" });
    }
  });

  it.each([
    ["throws", () => Promise.reject(new Error("the vault is sealed")), /the vault is sealed/],
    ["misspells a member", () => ({ apikey: SECRET }), /apikey.*nearest is apiKey/],
    ["gives an empty key", () => ({ apiKey: " " }), /apiKey.*not empty/],
    ["gives a number", () => ({ apiKey: 7 }), /apiKey/],
    ["gives a date", () => ({ apiKey: SECRET, expiresAt: "tomorrow" }), /expiresAt.*ms/],
    ["gives a text", () => SECRET, /expected an object/],
  ])("refuse the prompt with the reason when the callback %s", async (_, get, reason) => {
    const acme = await vendor([]);
    const test = await session(acme, get as never);
    await expect(test.session.prompt("1")).rejects.toMatchObject({
      code: "key_unresolved",
      message: expect.stringMatching(reason),
    });
    expect(acme.keys()).toEqual([]);
  });

  it("time out after 30 seconds", async () => {
    const acme = await vendor([]);
    const test = await session(acme, () => new Promise(() => {}));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const refused = expect(test.session.prompt("1")).rejects.toMatchObject({
      code: "key_unresolved",
      message: expect.stringContaining("no answer within 30 s"),
    });
    await expect.poll(() => test.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(30_000);
    await refused;
  });

  it("are requested once for concurrent requests", async () => {
    const acme = await vendor([SECRET]);
    const gate = Promise.withResolvers<void>();
    const test = await session(acme, async () => {
      await gate.promise;
      return { apiKey: SECRET };
    });
    const { keys } = test.session.models.registry;
    const needed = [1, 2, 3].map(() => keys.require("acme", "m"));
    gate.resolve();
    expect(new Set((await Promise.all(needed)).map(({ key }) => key))).toEqual(new Set([SECRET]));
    expect(test.asked).toEqual([start]);
  });

  it("are shared with subagents, and may differ by model", async () => {
    const keys: Record<string, string> = { m: "key-of-m", n: "key-of-n" };
    const acme = await vendor(Object.values(keys), ({ lastUserText, toolResults }) => {
      if (!lastUserText.includes("delegate")) return "looked";
      return toolResults.length > 0 ? "done" : turn(toolCall("task", { task: "look" }));
    });
    const test = await session(acme, ({ modelId = "" }) => ({ apiKey: keys[modelId] ?? "" }));
    expect(await test.session.prompt("delegate")).toMatchObject({ text: "done" });
    expect(test.asked).toEqual([start]);
    await test.session.setModel("acme", "n");
    await test.session.prompt("more");
    expect(test.asked.slice(1)).toEqual([{ ...start, modelId: "n" }]);
    expect(acme.keys().at(-1)).toBe("key-of-n");
  });

  it("are never written or shown", async () => {
    const acme = await vendor([SECRET]);
    const test = await session(acme, () => ({ apiKey: SECRET }));
    await test.session.prompt("1");
    expect(inspect([test.events, test.session.state], { depth: 20 })).not.toContain(SECRET);
    expect(readFileSync(test.session.log.path ?? "", "utf8")).not.toContain(SECRET);
  });

  it("must be a function", async () => {
    const { createAgentSession } = await import("../../src/create/create-session.ts");
    const options = { ...placesIn(temporaryFolder()), credentials: SECRET as never };
    await expect(createAgentSession(options)).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("credentials"),
    });
  });

  it("let a reopened session use its model without any other key", async () => {
    const acme = await vendor([SECRET]);
    const first = await session(acme, () => ({ apiKey: SECRET }));
    await first.session.prompt("1");
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    const again = await session(acme, () => ({ apiKey: SECRET }), {
      model: undefined,
      session: { kind: "file", path },
    });
    expect(again.session.state.model).toMatchObject({ provider: "acme", id: "m" });
    expect(await again.session.prompt("2")).toMatchObject({ status: "completed" });
    // The session was opened in another folder, which rewrites the instructions.
    expect(takeRewrites()).toEqual(["the instructions"]);
  });
});

describe("credentials from a client", () => {
  it("are requested by a host request that is not listed", async () => {
    const acme = await vendor([SECRET]);
    const test = await session(acme, undefined);
    const shown: OpenHostRequest[] = [];
    test.session.requests.attach({
      answers: (method) => method === "credential",
      open: (request) => shown.push(request) > 0,
      closed: () => {},
    });
    const running = test.session.prompt("1");
    await expect.poll(() => shown).toHaveLength(1);
    const [request] = shown;
    expect(request).toMatchObject({ method: "credential", params: start, onTimeout: "cancel" });
    expect(test.session.requests.pending).toEqual([]);
    expect(test.session.requests.size).toBe(0);
    expect(test.session.state.pendingRequests).toEqual([]);
    test.session.requests.show();
    expect(shown).toHaveLength(1);
    const answer = (result: unknown) => test.session.requests.answer(request?.id ?? "", { result });
    expect(() => answer({ apiKey: 1 })).toThrow(/result\.apiKey/);
    answer({ apiKey: SECRET });
    expect(await running).toMatchObject({ status: "completed" });
    expect(test.events.filter(isType("prompt_result"))).toHaveLength(1);
    expect(inspect(test.events, { depth: 20 })).not.toContain(SECRET);
  });

  it("are not requested if no client answers such requests", async () => {
    const acme = await vendor([SECRET]);
    const test = await session(acme, undefined);
    await expect(test.session.prompt("1")).rejects.toMatchObject({ code: "no_key" });
  });
});
