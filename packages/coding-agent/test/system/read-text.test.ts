import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTextFile, readTextFileNow, type TextFile } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../src/create/__fixtures__/test-session.ts";

describe.each([
  ["readTextFile", readTextFile],
  ["readTextFileNow", async (path: string): Promise<TextFile> => readTextFileNow(path)],
] as const)("%s", (_, read) => {
  it("reads a file without its byte order mark, and reports a missing one", async () => {
    const path = join(temporaryFolder(), "a.md");
    expect(await read(path)).toEqual({ kind: "missing", path });
    writeFileSync(path, "\uFEFFhé");
    expect(await read(path)).toEqual({ kind: "text", path, text: "hé" });
    expect(await read(join(path, "b"))).toMatchObject({ kind: "missing" });
  });

  it("refuses devices, folders and huge files with a reason instead of reading forever", async () => {
    const folder = temporaryFolder();
    symlinkSync("/dev/zero", join(folder, "device"));
    mkdirSync(join(folder, "folder"));
    writeFileSync(join(folder, "huge"), "");
    truncateSync(join(folder, "huge"), 65 * 1024 * 1024);
    const reasons = {
      device: "not a regular file",
      folder: "a folder",
      huge: "larger than 64 MiB",
    };
    for (const [name, reason] of Object.entries(reasons)) {
      expect(await read(join(folder, name))).toMatchObject({
        kind: "unreadable",
        diagnostic: {
          message: expect.stringContaining(reason),
          reason: expect.stringMatching(`^it could not be read: it is .*${reason}`),
        },
      });
    }
  });
});
