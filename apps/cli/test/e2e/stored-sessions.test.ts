import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nextLike } from "../support/next-like.ts";
import { makePlace } from "../support/place.ts";
import { startHost } from "../support/start-host.ts";

const stores = new URL("../../../../packages/coding-agent/dist/session-store.js", import.meta.url);
const module = `import { FileSessionStore } from ${JSON.stringify(stores.href)};
  export default (url) => new FileSessionStore({ directory: new URL(url, "file:").searchParams.get("in") });`;

/** A host whose store is named only in the user's settings. */
function start(words: readonly string[], settings: object = {}) {
  const place = makePlace({ scenario: ["one", "two"], arguments: words });
  const store = join(place.folder, "store.mjs");
  writeFileSync(store, module);
  const all = { "session.store": `${store}?in=${join(place.folder, "kept")}`, ...settings };
  const agent = join(place.folder, "agent");
  mkdirSync(agent);
  writeFileSync(join(agent, "settings.json"), JSON.stringify(all));
  const host = startHost({}, { place });
  let nextId = 1;
  const ask = async (command: object) => {
    const id = `q${nextId++}`;
    host.send({ id, ...command });
    return nextLike(host, { id, type: "response" });
  };
  return { host, ask, place };
}

it("opens sessions of projects with any name, and refuses file paths", async () => {
  const { host, ask, place } = start(["--sessions"]);
  const open = (params: object) => ask({ type: "open_session", ...params });
  const session = { durableSessionId: "order-42", projectKey: "team/shop" };
  const first = (await open(session)).data as { sessionId: string; state: object };
  expect(first.state).toMatchObject({ sessionId: "order-42" });
  expect(first.state).not.toHaveProperty("sessionFile");
  const { sessionId } = first;
  await ask({ type: "prompt", message: "hello", sessionId });
  await nextLike(host, { type: "prompt_result", sessionId });
  expect(await open({ sessionPath: join(place.cwd, "a.jsonl") })).toMatchObject({
    success: false,
    code: "invalid_params",
    error: expect.stringMatching(/sessionPath.*durableSessionId/),
  });
  await ask({ type: "close_session", sessionId });
  const again = (await open(session)).data as { sessionId: string };
  const { data } = await ask({ type: "get_messages", sessionId: again.sessionId });
  expect(JSON.stringify(data)).toContain("hello");
});

it.each([true, false])(
  "uses a store named by the project only with approve: %s",
  async (approve) => {
    const { ask, place } = start(["--sessions"], { "session.store": undefined });
    const store = `${join(place.folder, "store.mjs")}?in=${join(place.folder, "own")}`;
    mkdirSync(join(place.cwd, ".pi"));
    writeFileSync(
      join(place.cwd, ".pi", "settings.json"),
      JSON.stringify({ "session.store": store }),
    );
    const key = { durableSessionId: "order-42", projectKey: "team/shop" };
    const opened = await ask({ type: "open_session", cwd: place.cwd, approve, ...key });
    if (!approve) {
      expect(opened).toMatchObject({ code: "invalid_params" });
      expect(opened.error).toContain("projectKey");
      return;
    }
    expect(opened).toMatchObject({ success: true, data: { state: { sessionId: "order-42" } } });
    const path = join(place.cwd, "a.jsonl");
    expect(
      await ask({ type: "open_session", cwd: place.cwd, approve, sessionPath: path }),
    ).toMatchObject({ success: false, code: "invalid_params" });
  },
);

it("provides statistics and a page for a session without a file", async () => {
  const { host, ask, place } = start(["--session-id", "shown"]);
  await ask({ type: "prompt", message: "hello <b>" });
  await nextLike(host, { type: "agent_end" });
  const stats = await ask({ type: "get_session_stats" });
  expect(stats.data).toMatchObject({ sessionId: "shown", userMessages: 1, assistantMessages: 1 });
  const exported = await ask({ type: "export_html" });
  const { path } = exported.data as { path: string };
  expect(path).toContain(place.cwd.split("/").at(-1));
  expect(readFileSync(path, "utf8")).toContain("shown");
});

it.each(["session.leaseMs", "session.storeTimeoutMs"])(
  "rejects %s unless it is a positive time",
  async (name) => {
    const { host } = start([], { [name]: 0 });
    const { code } = await host.ended;
    expect(code).toBe(1);
    expect(host.stderr).toContain(`${name} must be whole number from 1`);
  },
);
