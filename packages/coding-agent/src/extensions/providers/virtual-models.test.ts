import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelRegistry } from "@tau-agent/models";
import type { AgentMessage, AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { ProcessRegistry } from "@tau-agent/system";
import { expect, it, onTestFinished } from "vitest";
import { fakePort, systemIn } from "../port/__fixtures__/session-port.ts";

/** A host with one real provider and a router in front of it, with this body of `route`. */
async function routed(route: string, provider = "router") {
  const agentDirectory = mkdtempSync(join(tmpdir(), "tau-virtual-"));
  onTestFinished(() => rmSync(agentDirectory, { recursive: true, force: true }));
  const path = join(agentDirectory, "router.ts");
  const source = `export default (pi) => {
      const seen = [];
      pi.registerProvider("house", { models: [{ id: "big", reasoning: true }, { id: "small" }],
        streamSimple: async function* (model, context, options) {
          const failed = context.messages.at(-1).content === "fail";
          const message = { role: "assistant", provider: model.provider, model: model.id,
            content: [{ type: "text", text: model.id + ":" + options.reasoning + ":" + JSON.stringify(options.headers) }],
            stopReason: failed ? "error" : "stop", usage: {} };
          yield failed ? { type: "error", error: message } : { type: "done", message };
        } });
      pi.registerVirtualModel({ provider: "${provider}", id: "auto", name: "Auto",
        thinkingLevels: ["low", "high"],
        route(request, ctx) {
          const { model, messages, signal, ...told } = request;
          seen.push({ ...told, previous: request.previous?.model.id, failed: request.failed?.model.id });
          const pick = (id) => ctx.modelRegistry.find("house", id);
          ${route}
        } });
      pi.registerTool({ name: "seen", execute: async () => ({ content: [], details: seen }) });
      pi.registerCommand("drop", { handler: () => pi.unregisterVirtualModel("${provider}", "auto") });
    };`;
  writeFileSync(path, source);
  const registry = createModelRegistry({
    processes: new ProcessRegistry(),
    agentDirectory,
    environment: {},
    catalog: { providers: () => ({}), models: async () => [] },
  });
  const { system } = systemIn(agentDirectory, { paths: [path], registry });
  await system.load("own");
  const port = fakePort(agentDirectory, { activeTools: () => ["read"] });
  await system.bind(port);
  await system.runner.context.modelRegistry.refresh();
  expect(system.diagnostics).toEqual([]);
  const auto = (await registry.find(provider, "auto")) as Model;
  const tool = { name: "read", description: "", parameters: {} };
  const ask = async (messages: unknown[], tools = [tool]): Promise<AssistantMessage> => {
    const context = { messages: messages as AgentMessage[], tools } as never;
    const auth = await registry.requestAuth(auto);
    const steps = system.stream(auto, context, { ...auth, thinkingLevel: "high" });
    for (;;) {
      const step = await steps.next();
      if (step.done) return step.value.message;
    }
  };
  const seen = async () => {
    const owned = system.runner.tools.find((candidate) => candidate.tool.name === "seen");
    const result = await owned?.tool.execute("1", {}, undefined, () => {}, {} as never);
    return result?.details;
  };
  return { registry, system, port, auto, ask, seen };
}

const user = (content: string) => ({ role: "user", content, timestamp: 1 });
const toBig = `return { model: pick("big"), thinkingLevel: "high" };`;

it("lists a virtual model with its levels and without a key", async () => {
  const { registry, auto } = await routed(toBig);
  expect((await registry.available()).map(({ provider, id }) => `${provider}/${id}`)).toContain(
    "router/auto",
  );
  expect(auto).toMatchObject({ name: "Auto", reasoning: true, input: ["text", "image"] });
  expect(auto.thinkingLevelMap).toMatchObject({ off: null, low: "low", medium: null });
});

it("sends a request to the router's choice, at a level that the target supports", async () => {
  const { ask } = await routed(toBig);
  expect(await ask([user("hi")])).toMatchObject({
    model: "big",
    content: [{ text: "big:high:{}" }],
  });
  const small = await routed(`return { model: pick("small"), thinkingLevel: "high" };`);
  expect((await small.ask([user("hi")])).content).toEqual([
    { type: "text", text: "small:undefined:{}" },
  ]);
});

it("passes the router the reason, the last model and the last failure", async () => {
  const { ask, seen } = await routed(toBig);
  const reply = await ask([user("hi")]);
  const result = { role: "toolResult", toolCallId: "1", toolName: "t", content: [], timestamp: 1 };
  await ask([user("hi"), reply, result]);
  await ask([user("fail")]);
  await ask([user("fail")]);
  await ask([user("summarize")], []);
  expect(await seen()).toMatchObject([
    { reason: "user", thinkingLevel: "high" },
    { reason: "continuation", previous: "big" },
    { reason: "user" },
    { reason: "retry", failed: "big" },
    { reason: "direct" },
  ]);
});

it("stores the router's state on the branch", async () => {
  const count = `const n = (request.state?.n ?? 0) + 1;
    return { model: pick("big"), state: n > 2 ? request.state : { n } };`;
  const { ask, port } = await routed(count);
  for (const text of ["a", "b", "c"]) await ask([user(text)]);
  const kept = port.log.tree.branch().filter(({ type }) => type === "custom");
  expect(kept).toMatchObject([
    { customType: "pi.virtual-model-state", data: { provider: "router", state: { n: 1 } } },
    { data: { modelId: "auto", state: { n: 2 } } },
  ]);
});

it("ends a request with an error when there is no target", async () => {
  const throwing = await routed(`throw new Error("no idea");`);
  expect(await throwing.ask([user("hi")])).toMatchObject({
    stopReason: "error",
    errorMessage: "no idea",
  });
  const circular = await routed("return { model };");
  expect((await circular.ask([user("hi")])).errorMessage).toContain(
    "router/auto routes to no available model",
  );
});

it("lists a virtual model with the models of its provider, until it is unregistered", async () => {
  const { registry, system } = await routed(toBig, "house");
  const ids = async () => (await registry.models("house")).map(({ id }) => id);
  expect(await ids()).toEqual(["big", "small", "auto"]);
  const drop = system.runner.commands.find(({ name }) => name === "drop");
  await drop?.command.handler?.("", system.runner.commandContext);
  expect(await ids()).toEqual(["big", "small"]);
});
