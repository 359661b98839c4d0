import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { createHostModules } from "../host-modules.ts";

// biome-ignore lint/suspicious/noExplicitAny: extensions use these modules untyped, as this test does
async function load(name: string): Promise<any> {
  const modules = createHostModules({ cwd: tmpdir(), homeDirectory: tmpdir(), version: "1" });
  return modules[name]?.();
}

async function fauxAgent(
  replies: (faux: Record<string, (...given: unknown[]) => object>) => object[],
) {
  const ai = await load("@earendil-works/pi-ai");
  const core = ai.createFauxCore({ provider: "p", models: [{ id: "m" }] });
  core.setResponses(replies(ai));
  const requests: { systemPrompt?: string; messages: { role: string }[] }[] = [];
  const streamFn = (model: unknown, context: (typeof requests)[number], options: unknown) => {
    requests.push(context);
    return core.streamSimple(model, context, options);
  };
  return {
    streamFn,
    model: core.models[0],
    requests,
    ...(await load("@earendil-works/pi-agent-core")),
  };
}

it("runs an extension's agent, with its tools and listeners", async () => {
  const { Agent, model, streamFn, requests } = await fauxAgent((faux) => [
    faux.fauxAssistantMessage?.([faux.fauxToolCall?.("look", { at: "x" })], {
      stopReason: "toolUse",
    }) ?? {},
    faux.fauxAssistantMessage?.([faux.fauxText?.("seen")]) ?? {},
    faux.fauxAssistantMessage?.([faux.fauxText?.("more")]) ?? {},
  ]);
  const looked: unknown[] = [];
  const look = {
    name: "look",
    label: "Look",
    description: "Looks",
    parameters: { type: "object", properties: { at: { type: "string" } } },
    execute: async (_id: string, given: unknown) => {
      looked.push(given);
      return { content: [{ type: "text", text: "there" }], details: {} };
    },
  };
  const agent = new Agent({
    initialState: { systemPrompt: "Be brief.", model, tools: [look], thinkingLevel: "off" },
    streamFn: async (...given: Parameters<typeof streamFn>) => streamFn(...given),
    transformContext: async (messages: object[]) => messages,
    beforeToolCall: async ({ args }: { args: { at: string } }) =>
      args.at === "y" ? { block: true } : undefined,
  });
  const types: string[] = [];
  const unsubscribe = agent.subscribe(({ type }: { type: string }) => {
    types.push(type);
  });
  const running = agent.prompt("go");
  expect(agent.state.isStreaming).toBe(true);
  await expect(agent.prompt("again")).rejects.toThrow("already running");
  await running;
  expect(looked).toEqual([{ at: "x" }]);
  expect(types[0]).toBe("agent_start");
  expect(types).toContain("tool_execution_end");
  expect(types.at(-1)).toBe("agent_end");
  expect(agent.state.messages.map(({ role }: { role: string }) => role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
  ]);
  expect(requests[1]).toMatchObject({ systemPrompt: "Be brief.", messages: [{}, {}, {}] });
  unsubscribe();
  agent.followUp({ role: "user", content: "and now?", timestamp: 1 });
  expect(agent.hasQueuedMessages()).toBe(true);
  agent.clearAllQueues();
  await agent.prompt({ role: "user", content: "more", timestamp: 1 });
  expect(agent.state.messages).toHaveLength(6);
  expect(agent.state).toMatchObject({ isStreaming: false, errorMessage: undefined });
  agent.reset();
  expect(agent.state.messages).toEqual([]);
});

it("reports a failed request in the agent's state", async () => {
  const { Agent, model } = await fauxAgent(() => []);
  const streamFn = () => {
    throw new TypeError("no line");
  };
  const failing = new Agent({ initialState: { model }, streamFn });
  await failing.prompt("go");
  expect(failing.state.errorMessage).toContain("no line");
  expect(failing.state.messages.at(-1)).toMatchObject({ stopReason: "error" });
  await failing.waitForIdle();
});
