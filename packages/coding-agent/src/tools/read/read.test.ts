import { mkdirSync } from "node:fs";
import type { ToolEnvironment } from "@tau-agent/system";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  textOf,
  toolCall,
  Workspace,
} from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { ReadLedger } from "../common/read-ledger.ts";
import { runReadTool } from "./read.ts";

let workspace: Workspace;
let readLedger: ReadLedger;
beforeEach(() => {
  workspace = new Workspace();
  readLedger = new ReadLedger();
});
afterEach(() => workspace[Symbol.dispose]());

const read = (
  path: string,
  range: { offset?: number; limit?: number } = {},
  overrides: Partial<ToolEnvironment> = {},
) =>
  runReadTool({ path, ...range }, { ...workspace.environment(overrides), readLedger }, toolCall());

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("a text file", () => {
  it("is returned unchanged", async () => {
    workspace.write({ "a.txt": "one\r\ntwo é\n", "b.txt": "\uFEFFbom", empty: "" });
    expect(await read("a.txt")).toEqual({ content: [{ type: "text", text: "one\r\ntwo é\n" }] });
    expect(textOf(await read("@b.txt"))).toBe("bom");
    expect(textOf(await read("empty"))).toBe("(empty file)");
  });

  it("has no notice at exactly 2000 lines, and one at 2001", async () => {
    workspace.write({ exact: numbered(2000), more: numbered(2001) });
    expect(textOf(await read("exact"))).toBe(numbered(2000));
    const result = await read("more");
    expect(
      textOf(result).endsWith(
        "line 2000\n\n[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]",
      ),
    ).toBe(true);
    expect(result.details).toMatchObject({
      truncation: { truncatedBy: "lines", totalLines: 2001, outputLines: 2000, maxBytes: 51_200 },
    });
    expect(textOf(await read("more", { offset: 2001 }))).toBe("line 2001\n");
  });

  it("names the byte limit", async () => {
    workspace.write({ wide: `${"x".repeat(99)}\n`.repeat(1000) });
    const text = textOf(await read("wide"));
    expect(text).toMatch(
      /\n\n\[Showing lines 1-512 of 1000 \(50\.0KB limit\)\. Use offset=513 to continue\.\]$/,
    );
  });

  it("is limited to the requested lines, and says how many are left", async () => {
    workspace.write({ f: numbered(10) });
    expect(textOf(await read("f", { offset: 3, limit: 2 }))).toBe(
      "line 3\nline 4\n\n[6 more lines in file. Use offset=5 to continue.]",
    );
    expect(textOf(await read("f", { offset: 9, limit: 2 }))).toBe("line 9\nline 10\n");
    expect(textOf(await read("f", { offset: 0, limit: Number.NaN }))).toBe(numbered(10));
  });

  it("is refused with the number of lines if the offset is beyond the end", async () => {
    workspace.write({ f: numbered(10) });
    await expect(read("f", { offset: 11 })).rejects.toThrow(
      "Offset 11 is beyond end of file (10 lines total)",
    );
  });

  it("suggests how to continue if the first line is too long", async () => {
    workspace.write({ f: `short\n${"x".repeat(80_000)}\nend` });
    expect(textOf(await read("f", { offset: 2 }))).toBe(
      "[Line 2 is 78.1KB, exceeds 50.0KB limit. Use bash: sed -n '2p' f | head -c 51200]",
    );
  });

  it("returns the same range however its chunks are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "", "é".repeat(90_000), "x".repeat(40_000)), {
          maxLength: 12,
        }),
        fc.boolean(),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (lines, isClosed, offset, limit) => {
          const content = lines.join("\n") + (isClosed && lines.length > 0 ? "\n" : "");
          const all = content.split("\n");
          if (all.at(-1) === "") all.pop();
          fc.pre(offset <= all.length && (all[offset - 1]?.length ?? 0) < 25_000);
          workspace.write({ f: content });
          const shown = textOf(await read("f", { offset, limit })).split("\n\n[")[0] ?? "";
          const wanted = all.slice(offset - 1, offset - 1 + limit).join("\n");
          expect(`${wanted}\n`.startsWith(shown)).toBe(true);
          if (Buffer.byteLength(wanted) < 51_200) {
            expect([wanted, `${wanted}\n`]).toContain(shown);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("is read from UTF-16, while other binary content is refused", async () => {
    workspace.write({
      wide: Buffer.from("\uFEFFhé\nx", "utf16le"),
      binary: Buffer.from([1, 0, 2, 0]),
      "gif.txt": "GIF89a is an image format\n",
    });
    expect(textOf(await read("wide"))).toBe("hé\nx");
    await expect(read("binary")).rejects.toThrow("binary is a binary file, not text.");
    expect(textOf(await read("gif.txt"))).toBe("GIF89a is an image format\n");
  });

  it("keeps memory bounded for a large file", async () => {
    workspace.write({ big: Buffer.alloc(200_000 * 1024, `${"y".repeat(1023)}\n`) });
    const before = process.memoryUsage().arrayBuffers;
    const text = textOf(await read("big", { offset: 30_000, limit: 1 }));
    expect(text).toContain("[170000 more lines in file. Use offset=30001 to continue.]");
    // Buffers count until they are garbage-collected.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
  });

  it("is remembered when it was truncated, so that write can refuse the part", async () => {
    workspace.write({ f: numbered(10) });
    await read("f", { limit: 2 });
    expect(readLedger.isTruncatedView(workspace.path("f"), "line 1\nline 2\n")).toBe(true);
    await read("f");
    expect(readLedger.isTruncatedView(workspace.path("f"), numbered(10))).toBe(false);
  });
});

it("explains what is wrong with a path", async () => {
  mkdirSync(workspace.path("dir"));
  await expect(read("none.txt")).rejects.toThrow("File not found: none.txt.");
  await expect(read("dir")).rejects.toThrow("dir is a directory, not a file. Use ls to list it.");
  await expect(read("/dev/zero")).rejects.toThrow("/dev/zero is not a regular file.");
});

it("does not wait for the kernel's message file, which claims to be a regular file", async () => {
  // Fails without permission and, with permission, once all messages have been read.
  await expect(read("/proc/kmsg")).rejects.toThrow("/proc/kmsg");
});
