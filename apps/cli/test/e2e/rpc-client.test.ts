import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type LoopbackApi,
  loopbackApis,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { RpcClient, type RpcClientOptions, RpcError } from "@tau-agent/rpc-client";
import { protocolNames, type SessionEvent, type StreamForm } from "@tau-agent/rpc-protocol";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { z } from "zod";
import { slice } from "../../../../scripts/testing/slice.ts";
import { makePlace, type Place } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

const examples = join(import.meta.dirname, "../../../../docs/examples");
const hello = join(examples, "scenarios/hello.json");
const byLastWord = join(examples, "../../clients/python/tests/scenario.mjs");

/** Our client with the built host; both are stopped after the test. */
async function start(scenario: string, options: RpcClientOptions = {}): Promise<RpcClient> {
  const args = ["--no-session", "--provider", "scripted", "--model", scenario];
  return startIn(makePlace(), { args, ...options });
}

async function startIn(place: Place, options: RpcClientOptions): Promise<RpcClient> {
  const client = new RpcClient({
    ...options,
    cliPath: binPath,
    cwd: place.cwd,
    env: { ...place.variables, ...options.env },
  });
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  return client.start();
}

const thinking = { type: "thinking" as const, thinking: "Hm.", chunkSize: 1 };
const replies = [turn([thinking, "Let me look.", toolCall("ls", { path: "." })]), turn("Done.")];

/** All events of a run: of a block's deltas only the last, and without values that change from run to run. */
async function eventsOf(api: LoopbackApi, stream: StreamForm): Promise<unknown[]> {
  await using server = await startLoopbackServer({ scenario: replies });
  const provider = { api, baseUrl: server.urls[api], apiKey: "none", models: [{ id: "looped" }] };
  const models = JSON.stringify({ providers: { local: provider } });
  const place = makePlace({ files: { "agent/models.json": models } });
  const args = ["--no-session", "--model", "local/looped"];
  const client = await startIn(place, { args, stream });
  const events: SessionEvent[] = [];
  client.onEvent((event) => {
    const last = events.at(-1);
    if (last !== undefined && deltaOf(event) && deltaOf(event) === deltaOf(last)) events.pop();
    events.push(structuredClone(event));
  });
  await client.promptAndWait("go", { timeoutMs: 20_000 });
  return JSON.parse(JSON.stringify(events), (name, value) =>
    /^(timestamp|delta|responseId|promptId|seq)$/.test(name) ? "some" : value,
  );
}

function deltaOf(event: SessionEvent): string | undefined {
  if (event.type !== "message_update") return undefined;
  const step = event.assistantMessageEvent;
  return "delta" in step ? `${step.type} ${step.contentIndex}` : undefined;
}

describe("our client and the built host", () => {
  it.each(slice(loopbackApis, 4))("report the same reply in both forms, over %s", async (api) => {
    const inFull = await eventsOf(api, "full");
    expect(await eventsOf(api, "delta")).toEqual(inFull);
    // A reply over Converse has no id.
    const hasId = api !== "bedrock-converse-stream";
    expect(JSON.stringify(inFull).includes('"responseId":"some"')).toBe(hasId);
  });

  it.each(protocolNames)("work together if the environment says %s", async (protocol) => {
    const client = await start(hello, { env: { PI_RPC_PROTOCOL: protocol } });
    expect(client.host?.protocol).toBe("pi");
    const { status, text } = await client.promptAndWait("Look", { timeoutMs: 20_000 });
    expect(status).toBe("completed");
    expect(text).toContain("The first thing here is");
    await client.waitForIdle(5_000);
  });

  it("pass on events without the accumulated reply", async () => {
    const client = await start(byLastWord);
    const steps: string[] = [];
    client.onEvent(
      (event) => {
        if (event.type !== "message_update") return;
        expect(event).not.toHaveProperty("message");
        expect(event.assistantMessageEvent).not.toHaveProperty("partial");
        expect(event.promptId).toBe("mine");
        steps.push(event.assistantMessageEvent.type);
      },
      { stream: "delta" },
    );
    await client.promptAndWait("one", { promptId: "mine", timeoutMs: 20_000 });
    expect(steps).toEqual(expect.arrayContaining(["text_start", "text_delta", "text_end"]));
  });

  it("give an answer the type of its schema", async () => {
    const answer = (text: string) => ({ content: text });
    const place = makePlace({
      scenario: [
        answer('{"count": 3, "due": "2026-01-02"}'),
        answer('{"count": 3, "due": "never"}'),
        answer("7"),
      ],
    });
    const client = await startIn(place, { args: place.arguments.slice(2) });
    const outputSchema = z.object({
      count: z.number(),
      name: z.string().default("none"),
      due: z.string().transform((text, context) => {
        const date = new Date(text);
        if (Number.isNaN(date.getTime())) context.addIssue("no date");
        return date;
      }),
    });
    const { output, outputStatus } = await client.promptAndWait("go", { outputSchema });
    expectTypeOf(output).toEqualTypeOf<{ count: number; name: string; due: Date } | undefined>();
    const due = new Date("2026-01-02");
    expect([outputStatus, output]).toEqual(["valid", { count: 3, name: "none", due }]);
    // The host has accepted the answer, but only the client's validator can detect this error.
    const wrong = await client.promptAndWait("go", { outputSchema });
    expect(wrong).toMatchObject({ outputStatus: "invalid", status: "completed" });
    expect(wrong).not.toHaveProperty("output");
    const plain = await client.promptAndWait("go", { outputSchema: { type: "number" } });
    expectTypeOf(plain.output).toBeUnknown();
    expect(plain.output).toBe(7);
    const broken = client.prompt("go", { outputSchema: z.object({ at: z.date() }) });
    await expect(broken).rejects.toThrow(/Date/);
  });

  it("reject an aborted prompt only after its run has ended, so that the next can begin", async () => {
    const place = makePlace();
    const scenario = join(place.folder, "slow.mjs");
    writeFileSync(
      scenario,
      `const command = "trap '' TERM; sleep 1";
       const call = { type: "toolCall", name: "bash", arguments: { command } };
       export default ({ lastUserText }) => lastUserText === "slow" ? { content: [call] } : { content: "quick" };`,
    );
    const args = ["--no-session", "--provider", "scripted", "--model", scenario];
    const client = await startIn(place, { args });
    for (const wait of ["tool_execution_start", "agent_start"]) {
      const controller = new AbortController();
      const stop = client.onEvent(({ type }) => type === wait && controller.abort("enough"));
      const options = { signal: controller.signal };
      await expect(client.promptAndWait("slow", options)).rejects.toBe("enough");
      stop();
      expect((await client.promptAndWait("next")).text).toBe("quick");
    }
    // Cancels a prompt that waits for the end of another run, which continues.
    const running = client.promptAndWait("slow");
    const controller = new AbortController();
    const queued = client.promptAndWait("queued", {
      streamingBehavior: "followUp",
      signal: controller.signal,
    });
    client.onEvent(({ type }) => type === "queue_update" && controller.abort("not now"));
    await expect(queued).rejects.toBe("not now");
    expect((await client.getState()).isStreaming).toBe(true);
    await client.abort();
    expect((await running).status).toBe("aborted");
  });

  it("start a prompt with one id once and report its end to each sender", async () => {
    const client = await start(byLastWord);
    const options = { promptId: "mine", timeoutMs: 20_000 };
    const [first, second] = await Promise.all([
      client.promptAndWait("one", options),
      client.promptAndWait("one", options),
    ]);
    expect([first.status, second.status]).toEqual(["completed", "completed"]);
    expect((await client.promptAndWait("one", options)).status).toBe("handled");
    expect(await client.prompt("one", { promptId: "mine" })).toEqual({
      disposition: "duplicate",
      promptId: "mine",
    });
    const { messages } = await client.getMessages();
    expect(messages).toHaveLength(2);
  });

  it("report problems with the user's files as events", async () => {
    const place = makePlace({ files: { "agent/settings.json": '{"noSuchSetting": 1}' } });
    const diagnostics: string[] = [];
    const client = new RpcClient({
      cliPath: binPath,
      cwd: place.cwd,
      env: place.variables,
      provider: "scripted",
      session: "memory",
    });
    onTestFinished(async () => {
      await client.stop();
      place.remove();
    });
    client.onEvent((event) => {
      if (event.type === "diagnostic") diagnostics.push(`${event.severity}: ${event.message}`);
    });
    await client.start();
    await client.getState();
    expect(diagnostics).toEqual([expect.stringContaining("noSuchSetting")]);
  });

  it.each(["delta", "full"] as const)(
    "wait and rebuild replies with a filter, in %s",
    async (stream) => {
      const client = await start(byLastWord, { stream });
      const types: string[] = [];
      const texts: string[] = [];
      client.onEvent((event) => {
        types.push(event.type);
        if (event.type !== "message_update" || event.message.role !== "assistant") return;
        const [block] = event.message.content;
        if (block?.type === "text") texts.push(block.text);
      });
      await client.setEventFilter(["message_update", "agent_end"]);
      for (const word of ["one", "two"]) {
        const { text } = await client.promptAndWait(word, { timeoutMs: 20_000 });
        expect(text).toBe(`You said: ${word}`);
        expect(texts.at(-1)).toBe(text);
      }
      expect(new Set(types)).toEqual(new Set(["message_update", "agent_end"]));
      await client.request("initialize", { events: [] });
      types.length = 0;
      await client.prompt("bash sleep 0.2");
      await client.waitForIdle(20_000);
      expect(types).toEqual([]);
      const wrong = client.request("set_event_filter", { events: 7 } as never);
      await expect(wrong).rejects.toBeInstanceOf(RpcError);
      await client.promptAndWait("three");
      expect(types).toEqual([]);
      await client.setEventFilter();
      await client.promptAndWait("four");
      expect(types).toContain("agent_start");
      types.length = 0;
      await client.request("initialize", { events: ["agent_end"] });
      await client.request("initialize", { stream });
      await client.promptAndWait("five");
      expect(types).toEqual(["agent_end"]);
      await client.request("initialize", { events: null });
      await client.promptAndWait("six");
      expect(types).toContain("agent_start");
    },
  );
});
