import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  FileSessionStore,
  type SessionKey,
  type SessionStore,
} from "@tau-agent/coding-agent/session-store";
import { createRedisStore } from "@tau-agent/store-redis";
import { expect, it, onTestFinished } from "vitest";
import { RedisServer, redisIsMissing } from "../../../../packages/store-redis/test/redis-server.ts";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { makePlace, type Place } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";

const key = { projectKey: "project", sessionId: "shared" };

/** The model's reply depends on the last message; subagents use the same model. */
const model = `
const call = (name, args) => ({ content: [{ type: "toolCall", id: "call", name, arguments: args }] });
export default ({ messages }) => {
  const last = messages.at(-1);
  if (last.role !== "user") return last.toolName === "task" ? "parent done" : "child done";
  const text = typeof last.content === "string" ? last.content : last.content.map((one) => one.text).join("");
  const [, word, rest] = /<(\\w+)>\\s*(.*)/s.exec(text) ?? [];
  if (word === "delegate") {
    return call("task", { isolated: true, tasks: [{ id: "a", task: "<write>" }, { id: "b", task: "<count>" }] });
  }
  if (word === "write") return call("write", { path: "new.txt", content: "new\\n" });
  if (word === "count") return call("bash", { command: "seq 1 20000" });
  if (word === "read") return call("read", { path: rest, limit: 3 });
  return "I remember";
};
`;

interface Machine {
  readonly place: Place;
  readonly temporary: string;
  readonly remove: () => void;
}

/** A separate machine: project, home, agent directory and temporary folder. */
function machine(): Machine {
  const place = makePlace({ scenario: [] });
  onTestFinished(place.remove);
  const temporary = join(place.folder, "tmp");
  mkdirSync(temporary);
  writeFileSync(join(place.folder, "model.mjs"), model);
  mkdirSync(join(place.folder, "agent"), { recursive: true });
  const settings = JSON.stringify({ "session.leaseMs": 1_000 });
  writeFileSync(join(place.folder, "agent", "settings.json"), settings);
  const git = (...words: string[]) => execFileSync("git", words, { cwd: place.cwd });
  writeFileSync(join(place.cwd, "a.txt"), "one\n");
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-qm", "first");
  const remove = () => rmSync(temporary, { recursive: true });
  return { place: { ...place, remove: () => {} }, temporary, remove };
}

function hostOn({ place, temporary }: Machine, store: string) {
  const model = ["--model", join(place.folder, "model.mjs")];
  const words = ["--session-id", key.sessionId, "--project-key", key.projectKey, "--store", store];
  const own = {
    ...place,
    arguments: [...place.arguments, ...model, ...words],
    variables: { ...place.variables, TMPDIR: temporary },
  };
  return startHost({}, { place: own });
}

type Host = ReturnType<typeof hostOn>;

async function say(host: Host, message: string) {
  host.send({ type: "prompt", message });
  return host.until({ "...": true, type: "prompt_result" });
}

/** The results of tools, oldest first. */
async function results(host: Host): Promise<Record<string, never>[]> {
  host.send({ type: "get_messages" });
  const { data } = await host.until({ "...": true, command: "get_messages" });
  const { messages } = data as { messages: { role: string }[] };
  return messages.filter(({ role }) => role === "toolResult") as never;
}

async function hasBlob(store: SessionStore, of: SessionKey, bytes: Buffer): Promise<boolean> {
  const id = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const found = await store.getBlob(of, id);
  return found !== null && bytes.equals(found);
}

/** One machine does the work and disappears; the files it named are used on another. */
async function movesWithItsFiles(url: string, store: SessionStore): Promise<void> {
  const first = machine();
  const before = hostOn(first, url);
  before.send({ type: "initialize" });
  await say(before, "<count>");
  await say(before, "<delegate>");
  const [output, task] = (await results(before)) as unknown as [
    { details: { fullOutputPath: string } },
    { details: { results: Record<string, string>[] } },
  ];
  const whole = readFileSync(output.details.fullOutputPath);
  const [a, b] = task.details.results;
  const patch = readFileSync(a?.patchPath ?? "");
  expect(await hasBlob(store, key, whole)).toBe(true);
  expect(await hasBlob(store, key, patch)).toBe(true);
  before.child.kill("SIGKILL");
  await before.ended;
  first.remove();

  const second = machine();
  const lease = await (async () => {
    for (;;) {
      // The lease of the dead host has to expire first.
      const taken = await store.acquire(key, 1_000).catch(() => undefined);
      if (taken !== undefined) return taken;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  await store.release(lease);
  const after = hostOn(second, url);
  after.send({ type: "initialize" });
  const [moved, movedTask] = (await results(after)) as unknown as [typeof output, typeof task];
  const path = moved.details.fullOutputPath;
  expect(path.startsWith(second.temporary)).toBe(true);
  await say(after, `<read> ${path}`);
  expect(JSON.stringify((await results(after)).at(-1))).toContain("1\\n2\\n3");
  const [movedA, movedB] = movedTask.details.results;
  expect(readFileSync(movedA?.patchPath ?? "").equals(patch)).toBe(true);
  expect(existsSync(movedB?.sessionFile ?? "")).toBe(true);
  const part = { ...key, subpath: "subagents/call_2/b" };
  const log = JSON.stringify(await store.load(part));
  expect(log).toContain("child done");
  expect(await hasBlob(store, part, whole)).toBe(true);

  after.send({ type: "switch_session", sessionPath: b?.storedSession });
  await after.until({ "...": true, command: "switch_session", success: true });
  expect(await say(after, "what did you do?")).toMatchObject({ status: "completed" });
  expect(JSON.stringify(await store.load(part))).toContain("I remember");
  await after.finish();
}

it("files and subagents move to another machine with a session in files", async () => {
  const { place } = machine();
  const directory = join(place.folder, "kept");
  const module = join(place.folder, "store.mjs");
  const stores = new URL(
    "../../../../packages/coding-agent/dist/session-store.js",
    import.meta.url,
  );
  writeFileSync(
    module,
    `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default () => new FileSessionStore({ directory: ${JSON.stringify(directory)} });`,
  );
  await movesWithItsFiles(module, new FileSessionStore({ directory }));
});

describeWith(redisIsMissing)("hosts over Redis", () => {
  it("files and subagents move to another machine with a session", async () => {
    await using redis = await RedisServer.start();
    const store = createRedisStore({ url: redis.url });
    onTestFinished(() => store.close?.());
    await movesWithItsFiles(redis.url, store);
  });
});
