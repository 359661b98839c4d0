import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  firstBytes,
  formatSize,
  lastBytes,
  splitLines,
  truncateHead,
  truncateLine,
  truncateTail,
} from "./truncate.ts";

const lineTexts = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 12 });
const limits = fc.record({
  maxLines: fc.integer({ min: 1, max: 8 }),
  maxBytes: fc.integer({ min: 1, max: 40 }),
});

describe("truncateHead", () => {
  it("keeps as many whole lines from the start as fit within both limits", () => {
    fc.assert(
      fc.property(lineTexts, fc.boolean(), limits, (lines, closed, limit) => {
        const text = lines.join("\n") + (closed ? "\n" : "");
        const result = truncateHead(text, limit);
        expect(text.startsWith(result.content)).toBe(true);
        expect(Buffer.byteLength(result.content)).toBe(result.outputBytes);
        expect(result.outputBytes).toBeLessThanOrEqual(limit.maxBytes);
        expect(result.outputLines).toBeLessThanOrEqual(limit.maxLines);
        expect(result.totalBytes).toBe(Buffer.byteLength(text));
        expect(result.totalLines).toBe(splitLines(text).length);
        expect(result.truncated).toBe(result.content !== text);
        const kept = splitLines(text).slice(0, result.outputLines);
        if (result.truncated) expect(result.content).toBe(kept.join("\n"));
        const next = splitLines(text)[result.outputLines];
        if (result.truncatedBy === "bytes" && next !== undefined) {
          const separator = result.outputLines > 0 ? 1 : 0;
          const grown = result.outputBytes + separator + Buffer.byteLength(next);
          expect(grown).toBeGreaterThan(limit.maxBytes);
        }
        if (result.truncatedBy === "lines") expect(result.outputLines).toBe(limit.maxLines);
      }),
    );
  });

  it("shows exactly 2000 lines without truncating, with or without a closing newline", () => {
    const text = Array.from({ length: 2000 }, (_, index) => `${index}`).join("\n");
    expect(truncateHead(text).truncated).toBe(false);
    expect(truncateHead(`${text}\n`)).toMatchObject({ truncated: false, totalLines: 2000 });
    expect(truncateHead(`${text}\nx`)).toMatchObject({ truncatedBy: "lines", totalLines: 2001 });
  });

  it("shows exactly 51200 bytes without truncating", () => {
    expect(truncateHead("x".repeat(51_200)).truncated).toBe(false);
    expect(truncateHead("x".repeat(51_201))).toMatchObject({
      content: "",
      truncatedBy: "bytes",
      firstLineExceedsLimit: true,
      outputLines: 0,
    });
  });
});

describe("truncateTail", () => {
  it("keeps whole lines from the end, within both limits", () => {
    fc.assert(
      fc.property(lineTexts, fc.boolean(), limits, (lines, closed, limit) => {
        const text = lines.join("\n") + (closed ? "\n" : "");
        const result = truncateTail(text, limit);
        expect(result.outputBytes).toBe(Buffer.byteLength(result.content));
        expect(result.outputBytes).toBeLessThanOrEqual(limit.maxBytes);
        expect(result.outputLines).toBeLessThanOrEqual(limit.maxLines);
        expect(result.truncated).toBe(result.content !== text);
        if (!result.truncated) return;
        const all = splitLines(text);
        const kept = all.slice(all.length - result.outputLines);
        if (result.lastLinePartial) {
          expect(all.at(-1)?.endsWith(result.content)).toBe(true);
        } else expect(result.content).toBe(kept.join("\n"));
      }),
    );
  });

  it("shows the end of a single giant line", () => {
    const result = truncateTail(`${"a".repeat(60_000)}END`);
    expect(result).toMatchObject({ lastLinePartial: true, outputLines: 1, outputBytes: 51_200 });
    expect(result.content.endsWith("aEND")).toBe(true);
  });
});

describe("byte cuts", () => {
  it("never split a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(20), (text, maxBytes) => {
        const clean = Buffer.from(text).toString();
        expect(clean.startsWith(firstBytes(clean, maxBytes))).toBe(true);
        expect(clean.endsWith(lastBytes(clean, maxBytes))).toBe(true);
        expect(Buffer.byteLength(firstBytes(clean, maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});

it("cuts a long line before a surrogate pair and marks it", () => {
  expect(truncateLine("ab", 2)).toBe("ab");
  expect(truncateLine("ab😀c", 3)).toBe("ab... [truncated]");
  expect(truncateLine("ab😀c", 4)).toBe("ab😀... [truncated]");
});

it("prints sizes in bytes, KB and MB", () => {
  expect([12, 51_200, 3 * 1024 * 1024].map(formatSize)).toEqual(["12B", "50.0KB", "3.0MB"]);
});
