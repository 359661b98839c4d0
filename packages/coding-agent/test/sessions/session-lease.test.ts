import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { sessionDirectoryFor } from "@tau-agent/sessions/log";
import { expect, it } from "vitest";
import { SessionLease } from "../../../sessions/src/log/file/session-lease.ts";
import { temporaryFolder } from "../../src/create/__fixtures__/test-session.ts";

const hour = 3_600_000;

/** A session whose lease was last refreshed this long ago; a negative age is in the future. */
function leased(ageMs: number, change: (owner: Record<string, unknown>) => object = (own) => own) {
  const path = join(temporaryFolder(), "s.jsonl");
  const lock = `${path}.lock`;
  const lease = new SessionLease(path);
  const owner = JSON.parse(readFileSync(lock, "utf8"));
  lease.release();
  expect(existsSync(lock)).toBe(false);
  writeFileSync(lock, JSON.stringify(change(owner)));
  const time = new Date(Date.now() - ageMs);
  utimesSync(lock, time, time);
  return path;
}

it("a lease is kept by a living owner on this machine that has slept for an hour", () => {
  expect(SessionLease.isHeld(leased(hour))).toBe(true);
});

it.runIf(process.platform === "linux")(
  "a lease is free when another process got the owner's process id",
  () => {
    expect(SessionLease.isHeld(leased(0, (own) => ({ ...own, start: "other 1" })))).toBe(false);
  },
);

it("a lease is free when its owner on another machine has stopped refreshing it", () => {
  const elsewhere = (own: object) => ({ ...own, host: "elsewhere" });
  expect(SessionLease.isHeld(leased(0, elsewhere))).toBe(true);
  expect(SessionLease.isHeld(leased(hour, elsewhere))).toBe(false);
});

it("a lease is free when its date is in the future and no process on this machine holds it", () => {
  expect(SessionLease.isHeld(leased(-hour, (own) => ({ ...own, host: "elsewhere" })))).toBe(false);
  expect(SessionLease.isHeld(leased(-hour, () => ({})))).toBe(false);
  const dead = (own: object) => ({ ...own, host: hostname(), pid: 2 ** 22 + 1 });
  expect(SessionLease.isHeld(leased(-hour, dead))).toBe(false);
  expect(SessionLease.isHeld(leased(-hour))).toBe(true);
});

it("shortens long paths to unique names that file systems take", () => {
  const folder = `/${"long-name-".repeat(60)}`;
  const nameOf = (cwd: string) =>
    sessionDirectoryFor("/agent", { cwd }).slice("/agent/sessions/".length);
  const names = [nameOf(`${folder}/a`), nameOf(`${folder}/b`), nameOf(`/${"é".repeat(200)}`)];
  for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(250);
  expect(new Set(names).size).toBe(3);
  expect(nameOf("/work/app")).toBe("--work-app--");
});
