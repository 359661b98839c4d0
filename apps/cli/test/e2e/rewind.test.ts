import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePlace, type Place, type PlaceSetup } from "../support/place.ts";
import { binPath, startHost } from "../support/start-host.ts";

const settings = { "agent/settings.json": '{"rewind": {"enabled": true}}' };
const call = (command: string) => ({
  content: [{ type: "toolCall" as const, name: "bash", arguments: { command } }],
});
const scenario = [call("echo 1 > a; echo 1 > b"), "one", call("echo 2 > a"), "two"];

const read = ({ cwd }: Place, name: string) => {
  const path = join(cwd, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};

async function prompt(host: ReturnType<typeof startHost>, message: string): Promise<void> {
  host.send({ type: "prompt", message });
  await host.until({ "...": true, type: "agent_end" });
  // A client of any dialect may change files as soon as it learns of the end.
  writeFileSync(join(host.place.cwd, "mine"), message);
  await host.until({ "...": true, type: "agent_settled" });
}

async function ask(host: ReturnType<typeof startHost>, frame: object) {
  host.send({ ...frame, id: "q" });
  return (await host.until({ "...": true, id: "q" })) as {
    success: boolean;
    error?: string;
    code?: string;
    data: object;
  };
}

async function withTwoPrompts(setup: PlaceSetup = {}) {
  const host = startHost({ scenario, files: settings, ...setup });
  execFileSync("git", ["init", "--quiet"], { cwd: host.place.cwd });
  await prompt(host, "first");
  await prompt(host, "second");
  const { data } = await ask(host, { type: "list_checkpoints" });
  const { checkpoints } = data as { checkpoints: { entryId: string; id: string; text: string }[] };
  expect(checkpoints.map(({ text }) => text)).toEqual(["first", "second"]);
  return { host, first: checkpoints[0]!, second: checkpoints[1]! };
}

it("lists and reverts prompts over RPC, by entry and by checkpoint", async () => {
  const { host, first, second } = await withTwoPrompts();
  const { place } = host;
  const one = await ask(host, { type: "rewind", checkpointId: second.id });
  const { undoCheckpointId } = one.data as { undoCheckpointId: string };
  expect(one.data).toEqual({
    entryId: second.entryId,
    files: { changed: [{ path: "a", change: "restored" }], conflicts: [], notCovered: [] },
    undoCheckpointId: expect.any(String),
  });
  expect([read(place, "a"), read(place, "b"), read(place, "mine")]).toEqual([
    "1\n",
    "1\n",
    "second",
  ]);
  await ask(host, { type: "rewind", checkpointId: undoCheckpointId });
  expect(read(place, "a")).toBe("2\n");
  const all = await ask(host, { type: "rewind", entryId: first.entryId, conversation: true });
  expect(all.data).toMatchObject({ text: "first", files: { conflicts: [] } });
  expect([read(place, "a"), read(place, "b")]).toEqual([undefined, undefined]);
  expect((await ask(host, { type: "get_messages" })).data).toEqual({ messages: [] });
});

it("survives kill -9, and tau rewind works on the latest session", async () => {
  const { host, first, second } = await withTwoPrompts();
  const { place } = host;
  host.child.kill("SIGKILL");
  await host.ended;
  const tau = (...words: string[]) =>
    spawnSync(process.execPath, [binPath, "rewind", ...words], {
      cwd: place.cwd,
      env: { ...process.env, ...place.variables },
      encoding: "utf8",
    });
  const list = tau("--list");
  expect(list.stderr).toBe("");
  expect(list.stdout.split("\n").map((line) => line.split("  ")[0])).toEqual([
    ...[first.entryId, second.entryId, ""],
  ]);
  const dry = tau(second.entryId, "--dry-run");
  expect(dry.stdout).toBe("restored  a\nNothing was changed.\n");
  expect(read(place, "a")).toBe("2\n");
  writeFileSync(join(place.cwd, "b"), "user\n");
  const done = tau(first.entryId, "--conversation");
  expect(done.stdout).toMatch(
    /^deleted {3}a\nconflict {2}b: .*\nThe conversation continues before: first\nTo undo: tau rewind rw-\w+\n$/,
  );
  expect(done.status).toBe(1);
  expect([read(place, "a"), read(place, "b")]).toEqual([undefined, "user\n"]);
  for (const [words, text] of [
    [["nope"], "Entry not found: nope"],
    [[], "name a message"],
    [["--lost"], "--lost"],
    [["--list", "--session", "0000"], "0000"],
  ] as const) {
    const { status, stderr } = tau(...words);
    expect([status, stderr.split("\n").length <= 5, stderr]).toEqual([
      ...[1, true, expect.stringContaining(text)],
    ]);
    expect(stderr).toMatch(/^tau: error: /);
  }
  expect(tau("--help").stdout).toContain("--dry-run");
});

it("is off by default; initialize turns it on", async () => {
  const host = startHost({ scenario: [call("echo 1 > a"), "one", call("echo 2 > a"), "two"] });
  await prompt(host, "first");
  const off = await ask(host, { type: "rewind", entryId: "x" });
  expect(off).toMatchObject({ success: false, error: expect.stringContaining("rewind.enabled") });
  expect(existsSync(join(host.place.folder, "agent/rewind"))).toBe(false);
  await ask(host, { type: "initialize", rewind: true });
  await prompt(host, "second");
  const { data } = await ask(host, { type: "list_checkpoints" });
  expect(data).toMatchObject({ checkpoints: [{ text: "second" }] });
  const unknown = await ask(host, { type: "rewind", entryId: "nope" });
  expect(unknown).toMatchObject({ code: "entry_not_found", error: "Entry not found: nope" });
});

it("is refused during a run", async () => {
  const place = makePlace({ scenario: [call("echo 1 > a; sleep 20")], files: settings });
  const host = startHost({}, { place });
  host.send({ type: "prompt", message: "go" });
  await host.until({ "...": true, type: "tool_execution_start" });
  const refused = await ask(host, { type: "rewind", entryId: "x" });
  expect(refused).toMatchObject({
    success: false,
    error: expect.stringContaining("run is active"),
  });
});
