import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Turn } from "@tau-agent/ai/testing";
import { RpcClient } from "@tau-agent/rpc-client";
import { expect, it, onTestFinished } from "vitest";
import type { Place } from "../support/place.ts";
import { call, repositoryPlace } from "../support/repository-place.ts";
import { binPath } from "../support/start-host.ts";

const stores = new URL("../../../../packages/coding-agent/dist/session-store.js", import.meta.url);

/** The model's reply to a first message with this mark, and its reply after the tool result. */
const does = (mark: string, content: Turn["content"]): Turn[] => [
  { when: { lastUserIncludes: mark, hasToolResults: false }, repeat: true, content },
  { when: { lastUserIncludes: mark, hasToolResults: true }, repeat: true, content: `${mark} done` },
];
const task = (id: string, more: object = {}) =>
  call("task", { tasks: [{ id, task: `<${id}>` }], ...more });
const wait = call("bash", { command: "until [ -e b.go ]; do sleep 0.1; done" });
const scenario: Turn[] = [
  ...does("begin", task("a", { background: true })),
  ...does("<a>", task("b")),
  {
    when: { lastUserIncludes: "<b>", hasToolResults: false },
    content: task("c", { isolated: true }),
  },
  // After the first result, when `c` has ended.
  { when: { lastUserIncludes: "<b>", hasToolResults: true }, content: wait },
  ...does("<c>", call("write", { path: "new.txt", content: "new\n" })),
  ...does("go on", call("bash", { command: "cat new.txt >> more.txt" })),
];

/** A machine with the project; its session is in the store that all machines share. */
function machine(kept: string) {
  const settings = { "task.maxRecursionDepth": 3, "session.leaseMs": 1_000 };
  const place = repositoryPlace(scenario, settings);
  onTestFinished(() => place.remove());
  const store = join(place.folder, "store.mjs");
  writeFileSync(
    store,
    `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default () => new FileSessionStore({ directory: ${JSON.stringify(kept)} });`,
  );
  const temporary = join(place.folder, "tmp");
  mkdirSync(temporary);
  return { place, temporary, words: ["--store", store, "--session-id", "s", "--project-key", "p"] };
}

async function open({ place, temporary, words }: ReturnType<typeof machine>, merge: string) {
  const path = join(place.folder, "agent", "settings.json");
  const settings = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...settings, "isolation.merge": merge }));
  const client = new RpcClient({
    command: [process.execPath, binPath],
    args: [...place.arguments, ...words],
    cwd: place.cwd,
    env: { ...place.variables, TMPDIR: temporary },
  });
  onTestFinished(async () => void (await client.stop()));
  await startAfterLease(client);
  const ends: string[] = [];
  client.onEvent((event) => {
    if (event.type === "subagent_end") ends.push(`${event.id}: ${event.exitCode}`);
  });
  const states = async () =>
    (await client.listSubagents()).subagents.map(({ id, status }) => `${id}: ${status}`);
  return { client, ends, states };
}

/** The lease of the killed host has to expire first. */
async function startAfterLease(client: RpcClient): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const problem = await client.start().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (problem === undefined) return;
    if (!/locked|in use|held/i.test(String(problem)) || Date.now() > deadline) throw problem;
  }
}

const file = ({ cwd }: Place, name: string) =>
  existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined;

it("a nested subagent continues from its kept patch in the next hosts, here and elsewhere", async () => {
  const kept = join(repositoryPlace([]).folder, "kept");
  onTestFinished(() => rmSync(join(kept, ".."), { recursive: true, force: true }));
  const here = machine(kept);
  const first = await open(here, "none");
  await first.client.promptAndWait("begin");
  await expect.poll(() => first.ends).toEqual(["a/b/c: 0"]);
  expect(await first.states()).toEqual(["a: running", "a/b: running", "a/b/c: completed"]);
  expect(file(here.place, "new.txt")).toBeUndefined();
  process.kill(first.client.pid ?? 0, "SIGKILL");
  await first.client.stop().catch(() => undefined);

  const second = await open(here, "none");
  expect(await second.states()).toEqual(["a: interrupted", "a/b: interrupted", "a/b/c: completed"]);
  await second.client.resumeSubagent("a/b/c", "go on");
  await expect.poll(() => second.ends).toEqual(["a/b/c: 0"]);
  // Isolated work counts as ended once it is merged or kept.
  await expect.poll(second.states).toContain("a/b/c: completed");
  expect(file(here.place, "more.txt")).toBeUndefined();
  process.kill(second.client.pid ?? 0, "SIGKILL");
  await second.client.stop().catch(() => undefined);

  const there = machine(kept);
  const third = await open(there, "patch");
  expect(await third.states()).toContain("a/b/c: completed");
  const { messages } = await third.client.getSubagentMessages("a/b/c");
  expect(JSON.stringify(messages)).toContain("go on done");
  await third.client.resumeSubagent("a/b/c", "go on, please");
  await expect.poll(() => third.ends).toEqual(["a/b/c: 0"]);
  await expect.poll(third.states).toContain("a/b/c: completed");
  expect(file(there.place, "new.txt")).toBe("new\n");
  expect(file(there.place, "more.txt")).toBe("new\nnew\n");
});
