import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withFileLock, writeFileAtomic } from "./write-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-files-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("withFileLock", () => {
  it("admits one holder at a time and removes the lock afterwards", async () => {
    const path = join(dir, "new", "file.json");
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
    };
    await Promise.all([1, 2, 3].map(() => withFileLock(path, work)));
    expect(most).toBe(1);
    expect(readdirSync(join(dir, "new"))).toEqual([]);
  });

  it("takes over a stale lock", async () => {
    const path = join(dir, "file.json");
    mkdirSync(`${path}.lock`);
    utimesSync(`${path}.lock`, 1, 1);
    expect(await withFileLock(path, async () => "done")).toBe("done");
  });

  it("releases the lock when the work fails", async () => {
    const path = join(dir, "file.json");
    await expect(withFileLock(path, () => Promise.reject(new TypeError("no")))).rejects.toThrow(
      "no",
    );
    expect(await withFileLock(path, async () => "next")).toBe("next");
  });

  it("works on the file behind a link, so that the link stays", async () => {
    const real = join(dir, "real.json");
    const link = join(dir, "link.json");
    writeFileSync(real, "old");
    symlinkSync(real, link);
    await withFileLock(link, (target) => writeFileAtomic(target, "new"));
    expect(readFileSync(real, "utf8")).toBe("new");
    expect(readFileSync(link, "utf8")).toBe("new");
  });
});

describe("writeFileAtomic", () => {
  it("makes a new file for its owner only and keeps the mode of an old one", async () => {
    const path = join(dir, "file");
    await writeFileAtomic(path, "1");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await writeFileAtomic(path, "2");
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(dir)).toEqual(["file"]);
  });

  it("leaves nothing behind when it cannot write", async () => {
    mkdirSync(join(dir, "taken", "full"), { recursive: true });
    await expect(writeFileAtomic(join(dir, "taken"), "x")).rejects.toThrow();
    expect(readdirSync(dir)).toEqual(["taken"]);
  });
});
