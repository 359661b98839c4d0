import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withFileLock } from "./file-lock.ts";
import { writeFileAtomic } from "./write-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-lock-"));
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

  it("names the file and the reason only once when no lock can be made", async () => {
    const path = join(dir, "plain", "file.json");
    writeFileSync(join(dir, "plain"), "");
    const failed = withFileLock(path, async () => expect.fail("it has no lock"));
    await expect(failed).rejects.toMatchObject({
      code: "file_write_failed",
      message: expect.stringMatching(
        /^Could not write [^ ]*file\.json: a part of the path is a file, not a folder \(E\w+\)$/,
      ),
    });
  });

  it("takes over a stale lock", async () => {
    const path = join(dir, "file.json");
    mkdirSync(`${path}.lock`);
    utimesSync(`${path}.lock`, 1, 1);
    expect(await withFileLock(path, async () => "done")).toBe("done");
  });

  /** A process that takes the lock and is killed while holding it. */
  async function killHolder(path: string) {
    const module = JSON.stringify(new URL("./file-lock.ts", import.meta.url).href);
    const source = `import { withFileLock } from ${module};
      await withFileLock(${JSON.stringify(path)}, () => new Promise(() => {
        console.log("held");
        setInterval(() => {}, 1000);
      }));`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", source]);
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  it("takes over the lock of a killed process immediately", async () => {
    const path = join(dir, "file.json");
    await killHolder(path);
    expect(readdirSync(dir).sort()).toEqual(["file.json.lock", "file.json.lock.owner"]);
    expect(await withFileLock(path, async () => "done", { waitMs: 1000 })).toBe("done");
    expect(readdirSync(dir)).toEqual([]);
  });

  it("leaves a lock alone that another program made after the holder was killed", async () => {
    const path = join(dir, "file.json");
    await killHolder(path);
    rmdirSync(`${path}.lock`);
    mkdirSync(`${path}.lock`);
    const refused = withFileLock(path, async () => {}, { waitMs: 100 });
    await expect(refused).rejects.toMatchObject({ code: "file_locked" });
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

  it("lets one process at a time take a stale lock over, even if another died doing so", async () => {
    const path = join(dir, "file.json");
    for (const name of [".lock", ".lock.stale"]) mkdirSync(`${path}${name}`);
    utimesSync(`${path}.lock`, 1, 1);
    const refused = withFileLock(path, async () => {}, { waitMs: 60 });
    await expect(refused).rejects.toMatchObject({ code: "file_locked" });
    expect(readdirSync(dir)).toEqual(["file.json.lock", "file.json.lock.stale"]);
    utimesSync(`${path}.lock.stale`, 1, 1);
    expect(await withFileLock(path, async () => "done")).toBe("done");
    expect(readdirSync(dir)).toEqual([]);
  });

  it("does not remove the lock of the process that took it over", async () => {
    const path = join(dir, "file.json");
    await withFileLock(path, async () => {
      rmSync(`${path}.lock`, { recursive: true });
      mkdirSync(`${path}.lock`);
      utimesSync(`${path}.lock`, 5, 5);
    });
    expect(readdirSync(dir)).toContain("file.json.lock");
  });

  it("names the file when another process holds the lock", async () => {
    const path = join(dir, "file.json");
    mkdirSync(`${path}.lock`);
    await expect(withFileLock(path, async () => {}, { waitMs: 30 })).rejects.toMatchObject({
      code: "file_locked",
      message: expect.stringContaining(path),
    });
  });
});
