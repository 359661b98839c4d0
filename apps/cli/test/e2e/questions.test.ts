import { RpcClient } from "@tau-agent/rpc-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { makePlace, type Place } from "../support/place.ts";
import { call as use } from "../support/repository-place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const questions = [{ question: "Which?", options: [{ label: "This" }, { label: "That" }] }];
const call = { type: "toolCall" as const, name: "ask_user", arguments: { questions } };
const scenario = [
  { when: { hasToolResults: false }, repeat: true, content: [call] },
  { when: { hasToolResults: true }, repeat: true, content: "done" },
];
const capabilities = { hostRequests: ["question"] };
const answer = { answers: [{ labels: ["That"] }] };

it("a question outlives a killed host and is repeated with the same id", async () => {
  const place = makePlace({ scenario, arguments: [] });
  const asked = { "...": true, type: "host_request", method: "question" };
  const initialize = { type: "initialize", capabilities };
  const first = startHost({}, { place });
  first.send(initialize);
  first.send({ type: "prompt", message: "go" });
  const { id } = await first.until(asked);
  first.child.kill("SIGKILL");
  await first.ended;
  const arguments_ = [...place.arguments, "--continue"];
  const second = startHost({}, { place: { ...place, arguments: arguments_ } });
  second.send(initialize);
  expect((await second.until(asked)).id).toBe(id);
  second.send({ type: "host_response", id, result: answer });
  expect(await second.until({ "...": true, type: "tool_execution_end" })).toMatchObject({
    isError: false,
    result: { details: answer },
  });
  expect(await second.until({ "...": true, type: "prompt_result" })).toMatchObject({
    status: "completed",
  });
});

it("the first answer of several clients counts, and the others see the question closed", async () => {
  const { unixUrl } = await listeningHost({ scenario: scenario as never, arguments: [] });
  const connect = async (given: object) => {
    const client = await FrameClient.connect(unixUrl);
    await client.ask({ type: "initialize", ...given });
    return client;
  };
  const [one, two, dialogs] = [
    await connect({ capabilities }),
    await connect({ capabilities }),
    await connect({}),
  ];
  const sessionId = await one.open();
  await two.ask({ type: "attach", sessionId });
  await dialogs.ask({ type: "attach", sessionId });
  await one.ask({ type: "prompt", message: "go", sessionId });
  const isQuestion = ({ type }: { type?: unknown }) => type === "host_request";
  const { id } = await one.until(isQuestion);
  expect((await two.until(isQuestion)).id).toBe(id);
  await dialogs.until(({ type }) => type === "extension_ui_request");
  two.send({ type: "host_response", id, result: answer, sessionId });
  const isClosed = ({ type }: { type?: unknown }) => type === "host_request_resolved";
  for (const client of [one, dialogs]) {
    expect(await client.until(isClosed)).toMatchObject({ id, by: "client", outcome: "answered" });
  }
  one.send({ type: "host_response", id, result: answer, sessionId });
  expect(await one.until(({ command }) => command === "host_response")).toMatchObject({
    code: "request_closed",
  });
  expect(await one.until(({ type }) => type === "prompt_result")).toMatchObject({
    status: "completed",
  });
});

it("RpcClient answers with a function or with its dialogs; otherwise there is no ask_user tool", async () => {
  const text = async (options: Partial<ConstructorParameters<typeof RpcClient>[0]>) => {
    const place = makePlace({ scenario, arguments: [] });
    const client = new RpcClient({
      command: [process.execPath, binPath],
      args: place.arguments,
      cwd: place.cwd,
      env: place.variables,
      ...options,
    });
    onTestFinished(async () => void (await client.stop()));
    await client.start();
    const ended = Promise.withResolvers<unknown>();
    client.onEvent((event) => {
      if (event.type === "tool_execution_end") ended.resolve(event.result);
    });
    await client.promptAndWait("go");
    return JSON.stringify(await ended.promise);
  };
  expect(await text({ answerQuestions: () => answer as never })).toContain("That");
  const own = { select: () => "Other…", input: () => "my own" };
  expect(await text({ ui: own })).toContain("my own");
  expect(await text({})).toContain("ask_user");
});

it("the next host shows the dialog of a question again", async () => {
  const place = makePlace({ scenario, arguments: [] });
  const dialog = { "...": true, type: "extension_ui_request", method: "select" };
  const first = startHost({}, { place });
  first.send({ type: "prompt", message: "go" });
  const { id } = await first.until(dialog);
  first.child.kill("SIGKILL");
  await first.ended;
  const arguments_ = [...place.arguments, "--continue"];
  const second = startHost({}, { place: { ...place, arguments: arguments_ } });
  second.send({ type: "get_state" });
  expect((await second.until(dialog)).id).toBe(id);
  second.send({ type: "extension_ui_response", id, value: "That" });
  expect(await second.until({ "...": true, type: "tool_execution_end" })).toMatchObject({
    isError: false,
    result: { details: answer },
  });
});

describe("a question of a subagent in its own host", () => {
  const asks = (mark: string, content: ReturnType<typeof use>) => [
    { when: { lastUserIncludes: mark, hasToolResults: false }, repeat: true, content },
    { when: { lastUserIncludes: mark, hasToolResults: true }, repeat: true, content: `${mark} ok` },
  ];
  const nested = [
    ...asks("<inner>", [call]),
    ...asks("<outer>", use("task", { tasks: [{ id: "in", task: "<inner>" }] })),
    ...asks("start", use("task", { tasks: [{ id: "out", task: "<outer>" }] })),
    // The subagent's reply after it was resumed.
    { when: { lastUserIncludes: "again" }, repeat: true, content: "I go on" },
  ];
  const asked = { "...": true, type: "host_request", method: "question" };

  const open = (place: Place, more: readonly string[] = []) => {
    const arguments_ = [...place.arguments, ...more];
    const host = startHost({}, { place: { ...place, arguments: arguments_ } });
    host.send({ type: "initialize", capabilities });
    return host;
  };

  it("carries the subagent's path and is answered once by the session's client", async () => {
    const host = open(makePlace({ scenario: nested, arguments: [] }));
    host.send({ type: "prompt", message: "start" });
    const { id, agentId } = await host.until(asked);
    expect(agentId).toBe("out/in");
    host.send({ type: "host_response", id, result: { answers: [{ labels: ["No such"] }] } });
    expect(await host.until({ "...": true, command: "host_response" })).toMatchObject({
      code: "invalid_response",
    });
    host.send({ type: "host_response", id, result: answer });
    const resolved = { "...": true, type: "host_request_resolved" };
    expect(await host.until(resolved)).toMatchObject({ id, by: "client", outcome: "answered" });
    expect(await host.until({ "...": true, type: "prompt_result" })).toMatchObject({
      status: "completed",
    });
    host.send({ type: "get_subagent_messages", subagentId: "out/in" });
    const { data } = await host.until({ "...": true, command: "get_subagent_messages" });
    expect(JSON.stringify(data)).toContain('"labels":["That"]');
  });

  it("is closed by an abort of the session or of the subagent", async () => {
    for (const abort of [{ type: "abort" }, { type: "abort_subagent", subagentId: "out/in" }]) {
      const host = open(makePlace({ scenario: nested, arguments: [] }));
      host.send({ type: "prompt", message: "start" });
      const { id } = await host.until(asked);
      host.send(abort);
      const resolved = { "...": true, type: "host_request_resolved" };
      expect(await host.until(resolved)).toMatchObject({ id, outcome: "cancelled" });
    }
  });

  it("is repeated when the subagent is resumed after its host was killed", async () => {
    const place = makePlace({ scenario: nested, arguments: [] });
    const first = open(place);
    first.send({ type: "prompt", message: "start" });
    await first.until(asked);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = open(place, ["--continue"]);
    second.send({ type: "list_subagents" });
    expect(await second.until({ "...": true, command: "list_subagents" })).toMatchObject({
      data: { subagents: [{ status: "interrupted" }, { id: "out/in", status: "interrupted" }] },
    });
    second.send({ type: "resume_subagent", subagentId: "out/in", message: "again" });
    const { id, agentId } = await second.until(asked);
    expect(agentId).toBe("out/in");
    second.send({ type: "host_response", id, result: answer });
    const end = await second.until({ "...": true, type: "subagent_end" });
    expect(end).toMatchObject({ id: "out/in", exitCode: 0 });
    second.send({ type: "get_subagent_messages", subagentId: "out/in" });
    const { data } = await second.until({ "...": true, command: "get_subagent_messages" });
    const said = JSON.stringify(data);
    expect(said).toContain('"labels":["That"]');
    expect(said).toContain("I go on");
  });
});
