import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "@tau-agent/ai/testing";
import { RpcClient, type SubagentInfo } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import { makePlace, type Place } from "../support/place.ts";
import { call } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

const wait = (name: string) =>
  call("bash", { command: `until [ -e ${name} ]; do sleep 0.1; done` });
/** The reply of a subagent with this mark in its first message: a call, then an answer to the newest message. */
const child = (mark: string, content: Turn["content"]): Turn => ({
  repeat: true,
  when: { lastUserIncludes: `<${mark}>`, hasToolResults: false },
  content,
});

async function start(place: Place, more: readonly string[] = []) {
  const client = new RpcClient({
    command: [process.execPath, binPath],
    args: [...place.arguments, ...more],
    cwd: place.cwd,
    env: place.variables,
  });
  onTestFinished(async () => void (await client.stop()));
  await client.start();
  const ends: string[] = [];
  client.onEvent((event) => {
    if (event.type === "subagent_end") ends.push(event.id);
  });
  const states = async () =>
    (await client.listSubagents()).subagents.map(
      ({ id, status }: SubagentInfo) => `${id}: ${status}`,
    );
  return { client, ends, states };
}

const tasks = ["a", "c"].map((id) => ({ id, task: `<${id}>` }));
const scenario: Turn[] = [
  {
    repeat: true,
    when: { lastUserIncludes: "begin", hasToolResults: false },
    content: call("task", { tasks, background: true }),
  },
  child("a", call("task", { tasks: [{ id: "b", task: "<b>" }] })),
  child("b", wait("b.go")),
  child("c", wait("c.go")),
  { repeat: true, when: { lastUserMatches: "(?<said>.*)" }, content: "You said: {{said}}" },
];

it("subagents in processes are listed, read, steered, stopped and resumed individually", async () => {
  const place = makePlace({ scenario, arguments: [] });
  const { client, ends, states } = await start(place);
  await client.promptAndWait("begin");
  await expect.poll(states).toEqual(["a: running", "c: running", "a/b: running"]);
  const texts = async (id: string, since?: string) =>
    JSON.stringify((await client.getSubagentMessages(id, since)).messages);
  await expect.poll(() => texts("a/b")).toContain("b.go");
  await client.abortSubagent("c");
  expect(ends).toEqual(["c"]);
  expect(await states()).toEqual(["a: running", "c: aborted", "a/b: running"]);
  await client.steerSubagent("a/b", "hurry up");
  writeFileSync(join(place.cwd, "b.go"), "");
  await expect.poll(() => ends).toEqual(["c", "a/b", "a"]);
  expect(await texts("a/b")).toContain("You said: hurry up");
  expect(await client.resumeSubagent("c", "once more")).toEqual({ subagentId: "c" });
  await expect.poll(() => ends).toEqual(["c", "a/b", "a", "c"]);
  expect(await texts("c")).toContain("You said: once more");
  await expect(client.steerSubagent("c", "x")).rejects.toMatchObject({
    code: "subagent_not_running",
  });
  await expect(client.resumeSubagent("d", "x")).rejects.toMatchObject({
    code: "subagent_not_found",
  });
});

it("a killed host leaves its subagents interrupted, and the next host continues them", async () => {
  const place = makePlace({ scenario, arguments: [] });
  const first = await start(place);
  await first.client.promptAndWait("begin");
  await expect.poll(first.states).toEqual(["a: running", "c: running", "a/b: running"]);
  for (const id of ["c", "a/b"]) {
    const messages = async () => (await first.client.getSubagentMessages(id)).messages.length;
    await expect.poll(messages).toBeGreaterThan(1);
  }
  process.kill(first.client.pid ?? 0, "SIGKILL");
  await first.client.stop().catch(() => undefined);
  const second = await start(place, ["--continue"]);
  expect(await second.states()).toEqual(["a: interrupted", "c: interrupted", "a/b: interrupted"]);
  await second.client.resumeSubagent("c", "after the crash");
  await expect.poll(() => second.ends).toEqual(["c"]);
  const { messages: said } = await second.client.getSubagentMessages("c");
  expect(JSON.stringify(said)).toContain("You said: after the crash");
  expect(await second.states()).toEqual(["a: interrupted", "c: completed", "a/b: interrupted"]);
  await second.client.resumeSubagent("a/b", "you, too");
  await expect.poll(() => second.ends).toEqual(["c", "a/b"]);
  expect(existsSync(join(place.cwd, "c.go"))).toBe(false);
});
