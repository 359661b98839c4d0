import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { exportSession, exportSessionFile } from "../session/export-session.ts";
import { createTestSession } from "./__fixtures__/test-session.ts";

it("exports a session without a path beside a link that a command has put there", async () => {
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

it("shows a reader nothing of what the host notes for itself", async () => {
  const { session } = await createTestSession(["hello"]);
  await session.prompt("go");
  const page = readFileSync(await exportSession(session), "utf8");
  expect(page).toContain("hello");
  expect(page).not.toContain("State of ");
});
