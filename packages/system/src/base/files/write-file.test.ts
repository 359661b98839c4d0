import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeFileAtomic } from "./write-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-files-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

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
