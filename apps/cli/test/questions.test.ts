import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";
import type { PlaceSetup } from "./support/place.ts";
import { TestClient } from "./support/test-client.ts";

const questions = [
  {
    question: "Which one?",
    options: [{ label: "This", description: "the usual one" }, { label: "That" }],
  },
  { question: "Which ones?", options: [{ label: "A" }, { label: "B" }], multiSelect: true },
];
const call = { type: "toolCall" as const, name: "ask_user", arguments: { questions } };

async function start(hostRequests?: true | string[], setup: PlaceSetup = {}) {
  const host = await memoryHost({
    title: "",
    requirements: [],
    scenario: [{ content: [call] }, { content: "done" }],
    ...setup,
  });
  const client = new TestClient(host);
  if (hostRequests !== undefined) await client.initialize({ capabilities: { hostRequests } });
  client.send({ type: "prompt", message: "go" });
  return client;
}

const result = { type: "tool_execution_end" };

describe("a question over RPC", () => {
  it("is a host request without a deadline, and refuses invalid answers", async () => {
    await using client = await start(["question"]);
    const { id, ...request } = await client.until({ type: "host_request" });
    expect(request).toMatchObject({
      method: "question",
      onTimeout: "cancel",
      params: { questions },
    });
    expect(request).not.toHaveProperty("deadlineAt");
    const fine = { labels: ["A", "B"] };
    for (const [answers, named] of [
      [undefined, "result.answers"],
      [[{ labels: ["This"] }], "result.answers"],
      [[{ labels: ["Other"] }, fine], "result.answers[0].labels[0]"],
      [[{ labels: ["This", "That"] }, fine], "result.answers[0].labels"],
      [[{ labels: [] }, fine], "result.answers[0]"],
      [[{ labels: [], text: " " }, fine], "result.answers[0]"],
      [[{ labels: ["This"] }, { labels: ["A", "A"] }], "result.answers[1].labels"],
      [[{ labels: ["This"], text: 1 }, fine], "result.answers[0].text"],
    ] as const) {
      client.send({ type: "host_response", id, result: { answers } });
      const refusal = await client.until({ type: "response" });
      if (refusal.command === "prompt") continue;
      expect(refusal).toMatchObject({ command: "host_response", code: "invalid_response", id });
      expect(refusal.error).toContain(named);
    }
    const answers = [
      { labels: ["This"], text: "but smaller" },
      { labels: [], text: "neither" },
    ];
    client.send({ type: "host_response", id, result: { answers } });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "client",
      outcome: "answered",
    });
    expect(await client.until(result)).toMatchObject({
      isError: false,
      result: { details: { answers } },
    });
  });

  it.each([true as const, ["tool_approval"]])(
    "is not offered to a client that has not declared it (%j)",
    async (hostRequests) => {
      await using client = await start(hostRequests);
      expect(await client.until(result)).toMatchObject({ isError: true });
      client.send({ type: "get_tools" });
      const { data } = await client.until({ command: "get_tools" });
      expect(JSON.stringify(data)).not.toContain('"ask_user"');
    },
  );

  it("is shown as consecutive dialogs to clients that know no host requests", async () => {
    await using client = await start();
    const first = await client.until({ type: "extension_ui_request" });
    expect(first).toEqual({
      type: "extension_ui_request",
      id: expect.any(String),
      method: "select",
      title: "Which one?\nThis: the usual one",
      options: ["This", "That", "Other…"],
    });
    const reply = (id: unknown, value: string) =>
      client.send({ type: "extension_ui_response", id, value });
    reply(first.id, "Other…");
    const own = await client.until({ type: "extension_ui_request" });
    expect(own).toMatchObject({ method: "input", title: "Which one?\nThis: the usual one" });
    // A late answer to an earlier dialog is ignored.
    reply(first.id, "This");
    reply(own.id, "Something else");
    const second = await client.until({ type: "extension_ui_request" });
    expect(second).toMatchObject({ method: "select", title: "Which ones?" });
    expect(new Set([first.id, own.id, second.id]).size).toBe(3);
    reply(second.id, "B");
    expect(await client.until(result)).toMatchObject({
      isError: false,
      result: { details: { answers: [{ labels: [], text: "Something else" }, { labels: ["B"] }] } },
    });
  });

  it.each(["pi", "pi-1", "pisces", "oh-my-pi-18"])(
    "is shown as a dialog and answered in the dialect %s",
    async (dialect) => {
      await using client = await start(undefined, { dialect });
      for (const value of ["This", "B"]) {
        const { id } = await client.until({ type: "extension_ui_request", method: "select" });
        client.send({ type: "extension_ui_response", id, value });
      }
      expect(await client.until(result)).toMatchObject({
        isError: false,
        result: { details: { answers: [{ labels: ["This"] }, { labels: ["B"] }] } },
      });
    },
  );

  it.each(["oh-my-pi", "co-mono"])(
    "is not offered in %s, which has no dialogs",
    async (dialect) => {
      await using client = await start(undefined, { dialect });
      const end = await client.until(result);
      expect(JSON.stringify(end.result)).toContain("Tool ask_user not found");
    },
  );

  it.each([
    ["immediate", "abort"],
    ["wait", undefined],
  ])("with a steering message in mode %s is ended by %s", async (mode, by) => {
    await using client = await start(["question"]);
    const { id } = await client.until({ type: "host_request" });
    client.send({ type: "set_interrupt_mode", mode });
    await client.until({ command: "set_interrupt_mode" });
    client.send({ type: "steer", message: "never mind" });
    if (by === undefined) {
      await client.until({ command: "steer" });
      client.send({ type: "get_pending_requests" });
      expect(await client.until({ command: "get_pending_requests" })).toMatchObject({
        data: { requests: [{ id, method: "question" }] },
      });
      client.send({ type: "host_response", id, result: { cancelled: true } });
    }
    const closed = { id, by: by ?? "client", outcome: "cancelled" };
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject(closed);
    expect(await client.until(result)).toMatchObject({ isError: true });
  });

  it("ends with its session", async () => {
    await using client = await start(["question"]);
    const { id } = await client.until({ type: "host_request" });
    client.send({ type: "new_session" });
    const closed = { id, by: "end", outcome: "cancelled" };
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject(closed);
  });

  it("has no answer if a dialog is cancelled", async () => {
    await using client = await start();
    const { id } = await client.until({ type: "extension_ui_request" });
    client.send({ type: "extension_ui_response", id, cancelled: true });
    expect(await client.until(result)).toMatchObject({ isError: true });
  });

  it("is closed by an abort", async () => {
    await using client = await start(["question"]);
    const { id } = await client.until({ type: "host_request" });
    client.send({ type: "abort" });
    expect(await client.until({ type: "host_request_resolved" })).toMatchObject({
      id,
      by: "abort",
      outcome: "cancelled",
    });
    client.send({ type: "host_response", id, result: { cancelled: true } });
    expect(await client.until({ command: "host_response" })).toMatchObject({
      code: "request_closed",
    });
  });
});
