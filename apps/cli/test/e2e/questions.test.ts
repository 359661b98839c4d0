import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { FrameClient } from "../support/frame-client.ts";
import { listeningHost } from "../support/listening-host.ts";
import { makePlace } from "../support/place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const questions = [{ question: "Which?", options: [{ label: "This" }, { label: "That" }] }];
const call = { type: "toolCall" as const, name: "ask_user", arguments: { questions } };
const scenario = [
  { when: { hasToolResults: false }, repeat: true, content: [call] },
  { when: { hasToolResults: true }, repeat: true, content: "done" },
];
const capabilities = { hostRequests: ["question"] };
const answer = { answers: [{ labels: ["That"] }] };

it("a question outlives a host that is killed, and is asked again with its id", async () => {
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

it("the first answer of several clients counts, and the others see it closed", async () => {
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

it("RpcClient answers with a function or with its dialogs, and else there is no such tool", async () => {
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
