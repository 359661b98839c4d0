import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { MemoryWorkspace } from "../resources/__fixtures__/memory-workspace.ts";
import { exportSession, exportSessionFile } from "../session/export-session.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

it("exports a session without a path, without following a link that a command put there", async () => {
  const { session, folder } = await createTestSession(["hello"]);
  await session.prompt("go");
  const cwd = join(folder, "project");
  mkdirSync(join(folder, "outside"));
  const victim = join(folder, "outside", "file");
  writeFileSync(victim, "untouched");
  const file = session.log.path ?? "";
  const page = join(cwd, `tau-session-${basename(file, ".jsonl")}.html`);
  for (const exports of [() => exportSession(session), () => exportSessionFile(file, { cwd })]) {
    rmSync(page, { force: true });
    symlinkSync(victim, page);
    expect(await exports()).toBe(page);
    expect(readFileSync(page, "utf8")).toContain("<!doctype html>");
    expect(readFileSync(victim, "utf8")).toBe("untouched");
  }
});

it("hides the host's own notes from readers", async () => {
  const { session } = await createTestSession(["hello"]);
  await session.prompt("go");
  const page = readFileSync(await exportSession(session), "utf8");
  expect(page).toContain("hello");
  expect(page).not.toContain("State of ");
});

it("exports a remote session to a folder on this machine, not to the same path here", async () => {
  const places = placesIn(temporaryFolder());
  const base = temporaryFolder();
  const workspace = new MemoryWorkspace({ cwd: places.cwd });
  const options = { ...places, workspace, baseDirectory: base };
  const { session } = await createTestSession(["hello"], options);
  await session.prompt("go");
  expect(dirname(await exportSession(session))).toBe(base);
  expect(await exportSession(session, "page.html")).toBe(join(base, "page.html"));
  expect(readdirSync(places.cwd)).toEqual([]);
});
