import { appendFileSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import {
  assistant,
  linesOf,
  message,
  namesIn,
  temporaryFolder,
  user,
} from "../__fixtures__/session-files.ts";
import { SessionLog } from "../session-log.ts";
import { SessionLease } from "./session-lease.ts";

// Test files of a worker share modules: this file loads its own copy, on top of the simulated disk below.
const disk = vi.hoisted(() => {
  vi.resetModules();
  return { freeBytes: Number.POSITIVE_INFINITY, refusesTruncate: false };
});
afterAll(() => void vi.resetModules());

// A disk that is filling up: like a real one, it writes whatever still fits.
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const full = () => Object.assign(new TypeError("ENOSPC: no space left"), { code: "ENOSPC" });
  return {
    ...fs,
    writeSync: (file: number, bytes: Buffer, offset: number, length: number) => {
      if (disk.freeBytes === 0) throw full();
      const written = Math.min(length, disk.freeBytes);
      disk.freeBytes -= written;
      return fs.writeSync(file, bytes, offset, written);
    },
    ftruncateSync: (file: number, size: number) => {
      if (disk.refusesTruncate) throw full();
      fs.ftruncateSync(file, size);
    },
  };
});

const cwd = "/project";
const codeOf = (step: () => unknown): string | undefined => {
  try {
    step();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const rejectionCode = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

function begun(): { log: SessionLog; path: string } {
  const log = SessionLog.create({ cwd, directory: temporaryFolder() });
  log.append(message(user("first")));
  return { log, path: log.path ?? "" };
}

describe("a disk that fills up", () => {
  it.each([0, 1, 40, 150])("removes an entry of which only %d bytes fitted", (freeBytes) => {
    const { log, path } = begun();
    const before = readFileSync(path);
    const leaf = log.tree.leafId;
    disk.freeBytes = freeBytes;
    const refused = codeOf(() => log.append(message(assistant("x".repeat(500)))));
    disk.freeBytes = Number.POSITIVE_INFINITY;
    expect(refused).toBe("session_write_failed");
    expect(readFileSync(path)).toEqual(before);
    expect(log.tree.leafId).toBe(leaf);
    expect(log.totals.assistantMessages).toBe(0);
    const added = log.append(message(assistant("fits again")));
    expect(added.parentId).toBe(leaf);
    expect(linesOf(path)).toHaveLength(3);
    log.close();
  });

  it("does not write the first prompt, but leaves the session usable", () => {
    const directory = temporaryFolder();
    const log = SessionLog.create({ cwd, directory });
    log.append({ type: "session_info", name: "Kept" });
    disk.freeBytes = 10;
    const refused = codeOf(() => log.append(message(user("first"))));
    disk.freeBytes = Number.POSITIVE_INFINITY;
    expect(refused).toBe("session_write_failed");
    expect(log.tree.entries).toHaveLength(1);
    log.append(message(user("second try")));
    expect(linesOf(log.path ?? "").map(({ type }) => type)).toEqual([
      "session",
      "session_info",
      "message",
    ]);
    log.close();
    expect(namesIn(directory)).toHaveLength(1);
  });

  it("leaves a file that the next load repairs if the torn entry cannot be removed", async () => {
    const { log, path } = begun();
    disk.freeBytes = 30;
    disk.refusesTruncate = true;
    const refused = codeOf(() => log.append(message(assistant("lost"))));
    disk.freeBytes = Number.POSITIVE_INFINITY;
    expect(refused).toBe("session_write_failed");
    log.close();
    disk.refusesTruncate = false;
    const again = await SessionLog.load(path, { cwd });
    expect(again.log.tree.entries).toHaveLength(1);
    expect(again.diagnostics[0]?.message).toContain("cut off");
    again.log.close();
  });
});

describe("a file with a torn entry that could not be removed", () => {
  it("accepts entries again once the disk has room, without the torn one", () => {
    const { log, path } = begun();
    Object.assign(disk, { freeBytes: 30, refusesTruncate: true });
    codeOf(() => log.append(message(assistant("lost"))));
    Object.assign(disk, { freeBytes: Number.POSITIVE_INFINITY, refusesTruncate: false });
    log.append(message(assistant("kept")));
    expect(linesOf(path).at(-1)).toMatchObject({ message: { content: [{ text: "kept" }] } });
    expect(linesOf(path)).toHaveLength(3);
    log.close();
  });
});

describe("a file that another program writes", () => {
  it("is not written to any more, and the other program's lines stay", () => {
    const { log, path } = begun();
    appendFileSync(path, '{"foreign":true}\n');
    const before = readFileSync(path);
    expect(codeOf(() => log.append(message(user("mine"))))).toBe("session_changed");
    expect(readFileSync(path)).toEqual(before);
    expect(log.tree.entries).toHaveLength(1);
    log.close();
  });

  it("is refused if it was created while the new session was empty", () => {
    const path = join(temporaryFolder(), "s.jsonl");
    const log = SessionLog.create({ cwd, path });
    writeFileSync(path, "somebody else's\n");
    expect(codeOf(() => log.append(message(user("hi"))))).toBe("session_changed");
    expect(readFileSync(path, "utf8")).toBe("somebody else's\n");
    log.close();
  });
});

describe("the lease", () => {
  const lockOf = (path: string) => `${path}.lock`;
  const otherOwner = (pid: number, host = hostname()) => JSON.stringify({ pid, host, token: "t" });
  const deadPid = 2 ** 22 + 5;

  it("keeps a second owner out and names the holder", async () => {
    const { log, path } = begun();
    const refused = SessionLog.load(path, { cwd });
    await expect(refused).rejects.toThrow(`in use by process ${process.pid}`);
    log.append(message(user("still mine")));
    log.close();
    const { log: next } = await SessionLog.load(path, { cwd });
    next.close();
  });

  it("of a dead process is taken over", async () => {
    const { log, path } = begun();
    log.close();
    writeFileSync(lockOf(path), otherOwner(deadPid));
    const { log: next } = await SessionLog.load(path, { cwd });
    expect(JSON.parse(readFileSync(lockOf(path), "utf8"))).toMatchObject({ pid: process.pid });
    next.close();
    expect(() => statSync(lockOf(path))).toThrow();
  });

  it("of another machine is valid while its heartbeat continues", async () => {
    const { log, path } = begun();
    log.close();
    writeFileSync(lockOf(path), otherOwner(deadPid, "elsewhere"));
    expect(await rejectionCode(SessionLog.load(path, { cwd }))).toBe("session_locked");
    const stale = new Date(Date.now() - 60_000);
    utimesSync(lockOf(path), stale, stale);
    const { log: next } = await SessionLog.load(path, { cwd });
    next.close();
  });

  it("counts while its file is being written, but not if the file stays empty", () => {
    const path = join(temporaryFolder(), "s.jsonl");
    writeFileSync(lockOf(path), "");
    expect(codeOf(() => new SessionLease(path))).toBe("session_locked");
    const earlier = new Date(Date.now() - 5_000);
    utimesSync(lockOf(path), earlier, earlier);
    new SessionLease(path).release();
  });

  it("is not removed if another process has taken it", () => {
    const path = join(temporaryFolder(), "s.jsonl");
    const lease = new SessionLease(path);
    writeFileSync(lockOf(path), otherOwner(deadPid));
    lease.release();
    expect(readFileSync(lockOf(path), "utf8")).toContain(String(deadPid));
  });

  it("is refreshed by a heartbeat", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const path = join(temporaryFolder(), "s.jsonl");
      const lease = new SessionLease(path);
      const old = new Date(Date.now() - 40_000);
      utimesSync(lockOf(path), old, old);
      vi.advanceTimersByTime(10_000);
      expect(Date.now() - statSync(lockOf(path)).mtimeMs).toBeLessThan(20_000);
      lease.release();
    } finally {
      vi.useRealTimers();
    }
  });
});
