import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkAtif } from "../../../../packages/trajectories/src/__fixtures__/check-atif.ts";
import { nextLike } from "../support/next-like.ts";
import { makePlace, type Place } from "../support/place.ts";
import { call, worker } from "../support/repository-place.ts";
import { runCommand } from "../support/run-command.ts";
import { startHost } from "../support/start-host.ts";

const tasks = [{ id: "w1", task: "<w1>" }];
const scenario = [
  ...worker("<w1>", call("write", { path: "w1.new", content: "1\n" })),
  ...worker("start", call("task", { tasks })),
];

function trajectoryIn(place: Place, name = "t.json") {
  const text = readFileSync(join(place.cwd, name), "utf8");
  expect(checkAtif(text)).toEqual([]);
  return JSON.parse(text);
}

async function run(place: Place) {
  const host = startHost({}, { place });
  host.child.stdin.end();
  const { code } = await host.ended;
  return { code, stdout: host.stdout, stderr: host.stderr };
}

const oneSubagent = {
  steps: [{ source: "system" }, { source: "user" }, { source: "agent" }, { message: "start done" }],
  subagent_trajectories: [
    { steps: [{ message: expect.stringContaining("<w1>") }, {}, { message: "<w1> done" }] },
  ],
};

describe("--trajectory-file", () => {
  const words = ["-p", "--trajectory-file", "t.json"];

  it("includes the subagents, even of a session that is not saved", async () => {
    for (const more of [[], ["--no-session"]]) {
      const place = makePlace({ scenario, arguments: [...words, ...more, "start"] });
      const { code } = await run(place);
      expect(code).toBe(0);
      expect(trajectoryIn(place)).toMatchObject(oneSubagent);
      const sessions = join(place.folder, "agent", "sessions");
      expect(existsSync(sessions) && readdirSync(sessions).length > 0).toBe(more.length === 0);
    }
  });

  it("is written after a failure and after a signal", async () => {
    const fault = { kind: "status" as const, status: 401, message: "bad key" };
    const failing = makePlace({
      scenario: [{ content: "x", fault }],
      arguments: [...words, "go"],
    });
    expect((await run(failing)).code).toBe(1);
    expect(trajectoryIn(failing).steps.at(-1)).toMatchObject({
      source: "agent",
      extra: { stop_reason: "error", error: expect.stringContaining("bad key") },
    });
    const stopped = makePlace({
      scenario: [{ content: call("bash", { command: "echo > began; sleep 600" }) }, "late"],
      arguments: [...words, "go"],
    });
    const host = startHost({}, { place: stopped });
    host.child.stdin.end();
    await expect.poll(() => existsSync(join(stopped.cwd, "began"))).toBe(true);
    host.child.kill("SIGTERM");
    await host.ended;
    const { steps } = trajectoryIn(stopped);
    expect(steps.some(({ tool_calls: calls = [] }) => calls.length > 0)).toBe(true);
  });

  it("is refused in rpc mode, and makes the exit code 1 if the file cannot be written", async () => {
    const rpc = await run(
      makePlace({ arguments: ["--mode", "rpc", "--trajectory-file", "t.json"] }),
    );
    expect(rpc).toMatchObject({ code: 1, stderr: expect.stringContaining("export_session") });
    const place = makePlace({
      scenario: ["hi"],
      arguments: ["-p", "--trajectory-file", ".", "go"],
    });
    const refused = await run(place);
    expect(refused).toMatchObject({ code: 1, stdout: "hi\n" });
    expect(refused.stderr).toContain("no trajectory was written");
  });
});

it("exports a session of a store with its subagents, both over RPC and with tau export", async () => {
  const stores = new URL(
    "../../../../packages/coding-agent/dist/session-store.js",
    import.meta.url,
  );
  const place = makePlace({ scenario, arguments: ["--session-id", "order-1"] });
  writeFileSync(
    join(place.folder, "store.mjs"),
    `import { FileSessionStore } from ${JSON.stringify(stores.href)};
     export default () => new FileSessionStore({ directory: ${JSON.stringify(join(place.folder, "kept"))} });`,
  );
  const store = ["--store", join(place.folder, "store.mjs"), "--project-key", "shop"];
  const host = startHost({}, { place: { ...place, arguments: [...place.arguments, ...store] } });
  host.send({ type: "prompt", message: "start", id: "p" });
  await host.until({ "...": true, type: "prompt_result", status: "completed" });
  host.send({ type: "export_session", format: "atif", outputPath: "t.json", id: "e" });
  const { data } = await nextLike(host, { id: "e", type: "response" });
  expect(data).toEqual({ path: join(place.cwd, "t.json") });
  expect(trajectoryIn(place)).toMatchObject(oneSubagent);
  const outside = ["export", "order-1", "--format", "atif", "-o", "outside.json", ...store];
  expect(await runCommand(place, outside)).toMatchObject({ code: 0, stderr: "" });
  // Outside the session, the system prompt is unknown.
  expect(trajectoryIn(place, "outside.json")).toMatchObject({
    ...oneSubagent,
    steps: oneSubagent.steps.slice(1),
  });
});

it("tau export reports what it cannot find or do", async () => {
  const place = makePlace();
  const refusal = async (...words: string[]) =>
    (await runCommand(place, ["export", ...words])).stderr;
  expect(await refusal()).toContain("name a session");
  expect(await refusal("nowhere.jsonl")).toContain("Session file not found");
  expect(await refusal(".")).toContain("not a regular file");
  expect(await refusal("a.jsonl", "--format", "pdf")).toContain("html, jsonl, markdown, atif");
  expect(await refusal("a.jsonl", "--formt", "html")).toContain("the nearest is --format");
});
