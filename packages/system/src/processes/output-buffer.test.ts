import { readdirSync, readFileSync, statSync } from "node:fs";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace } from "./__fixtures__/workspace.ts";
import { openOutput } from "./open-output.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { splitLines, truncateTail } from "./truncate.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

const bufferHere = () =>
  new OutputBuffer(() => openOutput({ temporaryDirectory: workspace.spillDirectory }));

async function fill(text: string, chunkBytes: number) {
  const buffer = bufferHere();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    await buffer.append(bytes.subarray(at, at + chunkBytes), "stdout");
  }
  return buffer.finish();
}

it("shows the same as truncating the whole text, however it is split into chunks", async () => {
  const line = fc.oneof(
    { weight: 8, arbitrary: fc.string({ unit: "grapheme", maxLength: 30 }) },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(30_000), "é".repeat(26_000), "") },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 1990, 2100),
      fc.array(line, { maxLength: 20 }),
      fc.constantFrom(997, 65_536),
      fc.boolean(),
      async (fillers, lines, chunkBytes, isClosed) => {
        const text = "€\n".repeat(fillers) + lines.join("\n") + (isClosed ? "\n" : "");
        const whole = Buffer.from(text).toString();
        const { truncation, fullOutputPath } = await fill(whole, chunkBytes);
        expect(truncation).toEqual(truncateTail(whole));
        expect(fullOutputPath !== undefined).toBe(truncation.truncated);
        if (fullOutputPath !== undefined) expect(readFileSync(fullOutputPath, "utf8")).toBe(whole);
      },
    ),
    { numRuns: 40 },
  );
});

it("writes no file when everything is shown, at exactly 2000 lines", async () => {
  const { truncation } = await fill("x\n".repeat(2000), 100);
  expect(truncation.truncated).toBe(false);
  expect(readdirSync(workspace.spillDirectory)).toEqual([]);
});

it("writes a private file with an unpredictable name once output is cut", async () => {
  const { truncation, fullOutputPath = "" } = await fill("x\n".repeat(2001), 100);
  expect(truncation).toMatchObject({ truncatedBy: "lines", totalLines: 2001, outputLines: 2000 });
  expect(fullOutputPath).toMatch(/\/pi-bash-[0-9a-f]{16}\.log$/);
  expect(statSync(fullOutputPath).mode & 0o777).toBe(0o600);
  expect(splitLines(readFileSync(fullOutputPath, "utf8"))).toHaveLength(2001);
});

it("keeps characters whole when both streams are split inside a character", async () => {
  const buffer = bufferHere();
  const [first, second] = [Buffer.from("€"), Buffer.from("😀")];
  void buffer.append(first.subarray(0, 1), "stdout");
  void buffer.append(second.subarray(0, 3), "stderr");
  void buffer.append(first.subarray(1), "stdout");
  void buffer.append(second.subarray(3), "stderr");
  expect((await buffer.finish()).truncation.content).toBe("€😀");
});

it("shows an unfinished character and invalid bytes as replacement characters", async () => {
  const buffer = bufferHere();
  void buffer.append(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]), "stdout");
  expect((await buffer.finish()).truncation.content).toBe("a\ufffdb\ufffd");
});

it("reports the size of a last line that is too long to show", async () => {
  const snapshot = await fill(`first\n${"y".repeat(200_000)}`, 65_536);
  expect(snapshot.truncation).toMatchObject({ lastLinePartial: true, totalLines: 2 });
  expect(snapshot.lastLineBytes).toBe(200_000);
});

it("continues without the file when it cannot be written, and reports why", async () => {
  const buffer = new OutputBuffer(() => openOutput({ temporaryDirectory: "/no/such/directory" }));
  for (let count = 0; count < 100; count++)
    await buffer.append(Buffer.alloc(65_536, "z\n"), "stdout");
  const { truncation, spillFailure } = await buffer.finish();
  expect(truncation.outputLines).toBe(2000);
  expect(spillFailure?.message).toContain("ENOENT");
});

it("accepts large output without keeping it in memory or waiting for garbage collection", async () => {
  const buffer = bufferHere();
  const before = process.memoryUsage();
  let most = 0;
  for (let count = 0; count < 300; count++) {
    await buffer.append(Buffer.alloc(65_536, "0123456789abcde\n"), "stdout");
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    most = Math.max(most, arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed);
  }
  const { truncation, fullOutputPath = "" } = await buffer.finish();
  expect(truncation.totalBytes).toBe(300 * 65_536);
  expect(readFileSync(fullOutputPath, "utf8")).toBe("0123456789abcde\n".repeat(300 * 4_096));
  expect(most).toBeLessThan(10 * 1024 * 1024);
});
