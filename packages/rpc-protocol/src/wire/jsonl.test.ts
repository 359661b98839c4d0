import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DecodedLine, encodeLine, LineDecoder } from "./jsonl.ts";

const utf8 = new TextEncoder();

function decode(chunks: readonly Uint8Array[], maxBytes?: number): DecodedLine[] {
  const decoder = new LineDecoder(maxBytes);
  return [...chunks.flatMap((chunk) => [...decoder.push(chunk)]), ...decoder.end()];
}

function texts(text: string): string[] {
  return decode([utf8.encode(text)]).map((line) => ("text" in line ? line.text : "(too long)"));
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [...at.map((place) => place % (bytes.length + 1)), 0, bytes.length];
  places.sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

const input = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .string({ unit: fc.constantFrom("a", "\n", "\r", "é", "\u2028", "🙂", " ") })
    .map((text) => utf8.encode(text)),
);

describe("LineDecoder", () => {
  it("yields the same lines however the bytes are split", () => {
    fc.assert(
      fc.property(input, fc.array(fc.nat(), { maxLength: 20 }), (bytes, places) => {
        expect(decode(cut(bytes, places), 40)).toEqual(decode([bytes], 40));
      }),
    );
  });

  it("returns every frame that was encoded, byte by byte", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (values) => {
        const bytes = utf8.encode(values.map(encodeLine).join(""));
        const lines = decode(cut(bytes, [...bytes.keys()]));
        const decoded = lines.map((line) => ("text" in line ? JSON.parse(line.text) : line));
        expect(decoded).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it("ends lines only at LF and drops a preceding CR", () => {
    expect(texts("a\u2028b\u2029c\u0085d\ne\r\nf\rg\n")).toEqual([
      "a\u2028b\u2029c\u0085d",
      "e",
      "f\rg",
    ]);
  });

  it("skips blank lines and a byte order mark", () => {
    expect(texts("\uFEFF{}\n\n \t\r\n[]\n")).toEqual(["{}", "[]"]);
  });

  it("yields the last line even if nothing ends it", () => {
    expect(texts("a\nb")).toEqual(["a", "b"]);
    expect(texts("a\n")).toEqual(["a"]);
  });

  it("reports the size of a line over the limit and continues after it", () => {
    const bytes = utf8.encode(`ok\n${"x".repeat(11)}\n${"y".repeat(10)}\n`);
    expect(decode([bytes], 10)).toEqual([
      { text: "ok" },
      { oversizedBytes: 11, head: "x".repeat(11) },
      { text: "y".repeat(10) },
    ]);
  });

  it("shows the beginning of a line over the limit, however it was split", () => {
    const bytes = utf8.encode(`{"id":"c1",${" ".repeat(400)}}\n{"id":"c2"}\n`);
    for (const size of [1, 7, 300, 1000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const [skipped, next] = decode(chunks, 20);
      expect(skipped).toMatchObject({ head: expect.stringMatching(/^\{"id":"c1", {1,245}$/) });
      expect(next).toEqual({ text: '{"id":"c2"}' });
    }
  });

  it("buffers no more than the limit of a line that never ends", () => {
    const decoder = new LineDecoder(1024);
    const chunk = () => new Uint8Array(1024 * 1024).fill(0x78);
    // In a process with a large heap from other tests, a garbage collection takes time.
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 300; count++) expect([...decoder.push(chunk())]).toEqual([]);
    collect();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024);
    expect([...decoder.push(utf8.encode("\nnext\n"))]).toEqual([
      { oversizedBytes: 300 * 1024 * 1024, head: "x".repeat(256) },
      { text: "next" },
    ]);
  });

  it("scans each byte of a long line once, however small the chunks", () => {
    const decoder = new LineDecoder();
    const chunk = new Uint8Array(16).fill(0x78);
    const start = process.cpuUsage();
    for (let count = 0; count < 320_000; count++)
      for (const _ of decoder.push(chunk)) expect.fail();
    const [line] = decoder.end();
    expect(line && "text" in line ? line.text.length : 0).toBe(5_120_000);
    // Scanning the line again with every chunk would read 800 GB, which takes minutes.
    expect(process.cpuUsage(start).user).toBeLessThan(10_000_000);
  });
});

describe("encodeLine", () => {
  it("writes one line that simple line readers cannot split elsewhere", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = encodeLine({ text });
        expect(line.split(/\r\n|[\n\r\u2028\u2029]/)).toEqual([line.slice(0, -1), ""]);
        expect(JSON.parse(line)).toEqual({ text });
      }),
    );
  });

  it("escapes lone surrogates, so that the bytes are valid UTF-8", () => {
    const line = encodeLine({ text: "\uD83D" });
    expect(line).toBe('{"text":"\\ud83d"}\n');
    expect(new TextDecoder("utf-8", { fatal: true }).decode(utf8.encode(line))).toBe(line);
  });

  it("replaces what JSON cannot express instead of losing the frame", () => {
    const cycle: Record<string, unknown> = { type: "event", big: 10n };
    cycle.self = cycle;
    Object.defineProperty(cycle, "broken", {
      enumerable: true,
      get() {
        throw new TypeError("no");
      },
    });
    expect(JSON.parse(encodeLine(cycle))).toEqual({
      type: "event",
      big: "10",
      self: "[circular]",
      broken: "[unreadable]",
    });
    expect(encodeLine(undefined)).toBe("null\n");
  });

  it("keeps a value that appears twice without being a cycle", () => {
    const shared = { n: 1n };
    expect(JSON.parse(encodeLine([shared, shared]))).toEqual([{ n: "1" }, { n: "1" }]);
  });

  it("handles a value nested deeper than the stack allows", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) deep = { deep };
    expect(encodeLine(deep)).toContain("[too deep]");
  });
});
