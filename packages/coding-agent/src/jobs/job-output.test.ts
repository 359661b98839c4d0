import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { createLocalWorkspace, OutputMask } from "@tau-agent/system";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJobWriter } from "../../../system/src/durability/keeper/job-writer.ts";
import { createMask } from "../../../system/src/durability/keeper/keep-commands.ts";
import { JobOutput } from "./job-output.ts";
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

const place = () => ({ workspace: createLocalWorkspace({ cwd: folder }), path: posix });

/** The two writers of output: the process that keeps a job, and the host. */
const writers = {
  keeper: (own: string, maxBytes?: number) => {
    const writer = createJobWriter({ folder: own, maxBytes });
    return {
      add: async (chunk: Buffer) => writer.add(chunk, "stdout"),
      end: async () => void writer.end(),
    };
  },
  host: (own: string, maxBytes?: number) => {
    const output = new JobOutput(place(), own, { maxBytes, pauseMs: 0 });
    return { add: async (chunk: Buffer) => output.add(chunk, "stdout"), end: () => output.end() };
  },
};

describe.each(["keeper", "host"] as const)("job output that the %s writes", (name) => {
  const open = writers[name];

  it("is read back in pieces of whole characters", async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, sizes, async (said, written, reads) => {
        const own = mkdtempSync(join(folder, "job-"));
        const writer = open(own);
        let offset = 0;
        let read = "";
        for (const [index, chunk] of pieces(Buffer.from(said), written).entries()) {
          await writer.add(chunk);
          if (index % (reads[0] ?? 1) !== 0) continue;
          const piece = await readOutput(place(), own, { offset });
          expect(piece.truncated).toBe(false);
          read += piece.output;
          offset = piece.nextOffset;
        }
        await writer.end();
        const rest = await readOutput(place(), own, { offset });
        expect(read + rest.output).toBe(said);
        expect(rest.nextOffset).toBe(Buffer.byteLength(said));
      }),
      { numRuns: 40 },
    );
  });

  it("never exceeds its limit, and keeps the end", async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, async (said, written) => {
        const own = mkdtempSync(join(folder, "job-"));
        const writer = open(own, 256);
        const whole = said.repeat(20);
        for (const chunk of pieces(Buffer.from(whole), written)) {
          await writer.add(chunk);
          const names = readdirSync(own).filter((file) => file.startsWith("output"));
          const files = names.flatMap((file) => {
            return statSync(join(own, file), { throwIfNoEntry: false }) ?? [];
          });
          expect(files.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(256);
          for (const { mode } of files) expect(mode & 0o777).toBe(0o600);
        }
        await writer.end();
        const { output, truncated, nextOffset } = await readOutput(place(), own);
        expect(whole.endsWith(output)).toBe(true);
        expect(nextOffset).toBe(Buffer.byteLength(whole));
        expect(truncated).toBe(output !== whole);
        expect(Buffer.byteLength(output)).toBeGreaterThanOrEqual(Math.min(240, nextOffset) - 3);
      }),
      { numRuns: 20 },
    );
  });

  it("is shown up to 50 KB, with the position where to continue", async () => {
    const writer = open(folder);
    await writer.add(Buffer.from("x".repeat(60_000)));
    await writer.end();
    const first = await readOutput(place(), folder);
    expect(first).toMatchObject({ truncated: true, nextOffset: 60_000 });
    expect(first.output).toHaveLength(51_200);
    expect(await readOutput(place(), folder, { offset: 59_990 })).toMatchObject({
      output: "x".repeat(10),
      truncated: false,
    });
    expect(await readOutput(place(), folder, { offset: 99_999 })).toEqual({
      output: "",
      nextOffset: 60_000,
      truncated: false,
    });
  });
});

it("shows no key that the workspace has written, wherever pieces begin", async () => {
  const key = "sk-secret";
  const said = `a ${key} sk-sec b${key}${key} sk-`;
  for (let size = 1; size < 9; size += 1) {
    const own = mkdtempSync(join(folder, "job-"));
    const writer = writers.keeper(own);
    let read = "";
    let offset = 0;
    const take = async (isGrowing: boolean) => {
      const wish = { offset, isGrowing, mask: new OutputMask([key]) };
      const piece = await readOutput(place(), own, wish);
      read += piece.output;
      offset = piece.nextOffset;
    };
    for (const chunk of pieces(Buffer.from(said), [size])) {
      await writer.add(chunk);
      await take(true);
    }
    await writer.end();
    await take(false);
    expect(read).toBe("a [redacted] sk-sec b[redacted][redacted] sk-");
    for (let at = 0; at < said.length; at += 1) {
      const piece = await readOutput(place(), own, { offset: at, mask: new OutputMask([key]) });
      expect(piece.output).not.toMatch(/secret/);
    }
  }
});

it("masks the same keys as other outputs", () => {
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
