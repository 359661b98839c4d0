import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findSavedSession, listSessions } from "@tau-agent/sessions/log";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createAgentSession } from "../../src/create/create-session.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-saved-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (cwd: string, id: string) => {
  mkdirSync(join(folder, cwd), { recursive: true });
  return createAgentSession({
    cwd: join(folder, cwd),
    agentDirectory: join(folder, "agent"),
    homeDirectory: folder,
    provider: "scripted",
    session: { kind: "new", id, isListed: true },
  });
};

it("gives a listed session its file before the first message, and keeps notes in it", async () => {
  const session = await open("project", "first");
  const { path = "" } = session.log;
  expect(JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0] ?? "")).toMatchObject({
    type: "session",
    id: "first",
  });
  session.note("my.kind", { value: 1 });
  const last = readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "";
  expect(JSON.parse(last)).toMatchObject({ type: "custom", customType: "my.kind" });
  await session.dispose();
  const listed = await listSessions({ agentDirectory: join(folder, "agent") });
  expect(listed.map(({ id }) => id)).toEqual(["first"]);
});

it("finds a session by its full id, in any project and under any file name", async () => {
  const agentDirectory = join(folder, "agent");
  const one = await open("one", "abc");
  const two = await open("two", "abcdef");
  const paths = { one: one.log.path ?? "", two: two.log.path ?? "" };
  await one.dispose();
  await two.dispose();
  expect(await findSavedSession("abcdef", { agentDirectory })).toBe(paths.two);
  expect(await findSavedSession("abc", { agentDirectory })).toBe(paths.one);
  expect(await findSavedSession("ab", { agentDirectory })).toBeUndefined();
  const renamed = join(dirname(paths.two), "renamed.jsonl");
  renameSync(paths.two, renamed);
  writeFileSync(join(dirname(paths.two), "x_abcdef.jsonl"), "not a session\n");
  expect(await findSavedSession("abcdef", { agentDirectory })).toBe(renamed);
  const sessionDirectory = dirname(paths.one);
  expect(await findSavedSession("abc", { sessionDirectory })).toBe(paths.one);
  expect(await findSavedSession("abcdef", { sessionDirectory })).toBeUndefined();
  expect(await findSavedSession("abc", { agentDirectory: join(folder, "none") })).toBeUndefined();
});
