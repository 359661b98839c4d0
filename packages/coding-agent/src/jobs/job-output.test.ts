import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OutputMask } from "@tau-agent/system";
import { createJobWriter, createMask } from "@tau-agent/system/durability";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readOutput } from "./read-output.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-job-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀", "\n") });
const pieces = (bytes: Buffer, sizes: readonly number[]) => {
  const chunks: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
};
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

it("reads back in pieces what was written in others, whole characters each", () => {
  fc.assert(
    fc.property(text, sizes, sizes, (said, written, reads) => {
      const own = mkdtempSync(join(folder, "job-"));
      const writer = createJobWriter({ folder: own });
      let offset = 0;
      let read = "";
      for (const [index, chunk] of pieces(Buffer.from(said), written).entries()) {
        writer.add(chunk, "stdout");
        if (index % (reads[0] ?? 1) !== 0) continue;
        const piece = readOutput(own, { offset });
        expect(piece.truncated).toBe(false);
        read += piece.output;
        offset = piece.nextOffset;
      }
      writer.end();
      const rest = readOutput(own, { offset });
      expect(read + rest.output).toBe(said);
      expect(rest.nextOffset).toBe(Buffer.byteLength(said));
    }),
    { numRuns: 60 },
  );
});

it("never keeps more than its limit, and of that the end", () => {
  fc.assert(
    fc.property(text, sizes, (said, written) => {
      const own = mkdtempSync(join(folder, "job-"));
      const writer = createJobWriter({ folder: own, maxBytes: 64 });
      for (const chunk of pieces(Buffer.from(said.repeat(8)), written)) {
        writer.add(chunk, "stdout");
        const files = readdirSync(own).map((name) => statSync(join(own, name)));
        expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(64);
        for (const { mode } of files) expect(mode & 0o777).toBe(0o600);
      }
      writer.end();
      const whole = said.repeat(8);
      const { output, truncated, nextOffset } = readOutput(own);
      expect(whole.endsWith(output)).toBe(true);
      expect(nextOffset).toBe(Buffer.byteLength(whole));
      expect(truncated).toBe(output !== whole);
      expect(Buffer.byteLength(output)).toBeGreaterThanOrEqual(Math.min(57, nextOffset) - 3);
    }),
    { numRuns: 60 },
  );
});

it("shows 50 KB at most, and where to continue", () => {
  const writer = createJobWriter({ folder });
  writer.add(Buffer.from("x".repeat(60_000)), "stdout");
  const first = readOutput(folder);
  expect(first).toMatchObject({ truncated: true, nextOffset: 60_000 });
  expect(first.output).toHaveLength(51_200);
  expect(readOutput(folder, { offset: 59_990 })).toMatchObject({
    output: "x".repeat(10),
    truncated: false,
  });
  expect(readOutput(folder, { offset: 99_999 })).toEqual({
    output: "",
    nextOffset: 60_000,
    truncated: false,
  });
});

it("takes the same keys out as the mask of other outputs", () => {
  const key = fc.constantFrom("abab", "ababc", "key", "kéy");
  fc.assert(
    fc.property(
      fc.array(fc.oneof(key, fc.constantFrom("a", "b", "k", "ke", " "))),
      sizes,
      (words, written) => {
        const keys = ["ababc", "abab", "kéy", "key"];
        const [own, other] = [createMask(keys, "[redacted]"), new OutputMask(keys)];
        const run = (mask: { push(chunk: Buffer): Buffer; end(): Buffer }) =>
          Buffer.concat([
            ...pieces(Buffer.from(words.join("")), written).map((chunk) => mask.push(chunk)),
            mask.end(),
          ]).toString();
        const said = run(own);
        for (const secret of keys) expect(said).not.toContain(secret);
        expect(said).toBe(run(other));
      },
    ),
  );
});
