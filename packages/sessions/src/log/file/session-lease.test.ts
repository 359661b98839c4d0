import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ownIdentity } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SessionLease } from "./session-lease.ts";

let folder: string;
let path: string;
let taken: SessionLease[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-lease-"));
  path = join(folder, "session.jsonl");
  taken = [];
});

afterEach(() => {
  vi.restoreAllMocks();
  for (const lease of taken) lease.release();
  rmSync(folder, { recursive: true, force: true });
});

function take(): SessionLease {
  const lease = new SessionLease(path);
  taken.push(lease);
  return lease;
}

const owner = () => readFileSync(`${path}.lock`, "utf8");

/** Leaves the lease of a killed host, with epoch 3. */
function leaveDead(): void {
  const dead = { pid: 2 ** 22 + 1, host: hostname(), token: "dead", epoch: 3 };
  writeFileSync(`${path}.lock`, JSON.stringify(dead));
}

/** Runs `work` after a host has read the holder of the lease, but before it acts on it. */
function afterReading(work: () => void): void {
  vi.spyOn(process, "kill").mockImplementationOnce(() => {
    work();
    throw Object.assign(new Error("There is no such process"), { code: "ESRCH" });
  });
}

it("takes over from a dead host with a higher epoch", () => {
  leaveDead();
  expect(take().epoch).toBe(4);
});

it("leaves the session to another host that has taken it over from the same dead host", () => {
  leaveDead();
  let winner: string | undefined;
  afterReading(() => {
    take();
    winner = owner();
  });
  expect(take).toThrow(expect.objectContaining({ code: "session_locked" }));
  expect(owner()).toBe(winner);
  expect(readdirSync(folder)).toEqual(["session.jsonl.lock"]);
});

it("refuses the session while another host is replacing the lease of a dead one", () => {
  leaveDead();
  writeFileSync(`${path}.lock.taking`, JSON.stringify({ ...ownIdentity(), host: hostname() }));
  expect(take).toThrow(expect.objectContaining({ code: "session_locked" }));
});

it("takes over after another host was killed while taking over", () => {
  leaveDead();
  writeFileSync(`${path}.lock.taking`, readFileSync(`${path}.lock`));
  expect(take().epoch).toBe(4);
  expect(readdirSync(folder)).toEqual(["session.jsonl.lock"]);
});
