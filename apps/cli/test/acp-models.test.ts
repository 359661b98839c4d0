import { type LoopbackOptions, startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { Editor, makeEditorPlace } from "./support/acp-editor.ts";

/** A place with two models of one server that imitates a vendor. */
async function placeWith(options: LoopbackOptions) {
  const server = await startLoopbackServer(options);
  onTestFinished(() => server.close());
  const model = (id: string) => ({
    id,
    name: id.toUpperCase(),
    contextWindow: 100_000,
    maxTokens: 4_000,
  });
  const providers = {
    vendor: {
      baseUrl: server.url,
      api: "anthropic-messages",
      apiKey: "secret-key",
      models: [model("one"), model("two")],
    },
  };
  const place = makeEditorPlace({ files: { "agent/models.json": JSON.stringify({ providers }) } });
  return { server, place };
}

const failure = (running: Promise<unknown>) =>
  running.then(
    () => undefined,
    (error: { code: number; message: string }) => error,
  );

it("offers the models that have a key, and each session keeps its own choice", async () => {
  const { server, place } = await placeWith({ scenario: [{ repeat: true, content: "hello" }] });
  const first = await Editor.start({ place });
  const { sessionId, configOptions } = await first.open();
  const [model] = configOptions ?? [];
  expect(model).toMatchObject({
    id: "model",
    currentValue: "vendor/one",
    options: [
      { value: "vendor/one", name: "ONE" },
      { value: "vendor/two", name: "TWO" },
    ],
  });
  const { configOptions: after } = await first.agent.request("session/set_config_option", {
    sessionId,
    configId: "model",
    value: "vendor/two",
  });
  expect(after[0]).toMatchObject({ currentValue: "vendor/two" });
  expect(await first.prompt(sessionId, "hi")).toEqual({ stopReason: "end_turn" });
  expect(server.requests.at(-1)?.body).toMatchObject({ model: "two" });
  expect(first.of(sessionId, "config_option_update")).toEqual([]);
  expect(first.of(sessionId, "usage_update").at(-1)).toMatchObject({ size: 100_000 });
  await first.leave();

  const second = await Editor.start({ place });
  const state = await second.agent.request("session/load", {
    sessionId,
    cwd: place.cwd,
    mcpServers: [],
  });
  expect(state.configOptions?.[0]).toMatchObject({ currentValue: "vendor/two" });
  expect((await second.open()).configOptions?.[0]).toMatchObject({ currentValue: "vendor/one" });
});

it("reports a key that the vendor refuses as an authentication error", async () => {
  const { place } = await placeWith({ scenario: [], faults: [{ kind: "status", status: 401 }] });
  const editor = await Editor.start({ place });
  const { sessionId } = await editor.open();
  const error = await failure(editor.prompt(sessionId, "hi"));
  expect(error).toMatchObject({ code: -32000 });
  expect(JSON.stringify(error)).not.toContain("secret-key");
});

it("reports any other vendor error as an internal error and continues the session", async () => {
  const { place } = await placeWith({
    scenario: ["later"],
    faults: [{ kind: "status", status: 400 }],
  });
  const editor = await Editor.start({ place, capabilities: { session: { notices: {} } } });
  const { sessionId } = await editor.open();
  expect(await failure(editor.prompt(sessionId, "hi"))).toMatchObject({ code: -32603 });
  expect(await editor.prompt(sessionId, "again")).toEqual({ stopReason: "end_turn" });
});

it("notifies an editor that shows notices of a retry", async () => {
  const { place } = await placeWith({
    scenario: ["fine"],
    faults: [{ kind: "status", status: 529 }],
  });
  const editor = await Editor.start({ place, capabilities: { session: { notices: {} } } });
  const { sessionId } = await editor.open();
  expect(await editor.prompt(sessionId, "hi")).toEqual({ stopReason: "end_turn" });
  expect(editor.of(sessionId, "notice")).toMatchObject([
    { severity: "warning", title: expect.stringContaining("Attempt 1 of 3") },
  ]);
});
