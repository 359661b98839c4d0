import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { protectTerminal, showControls } from "./terminal.ts";

describe("showControls", () => {
  it("escapes what a terminal would interpret, and leaves text and lines unchanged", () => {
    expect(showControls("\u001b[31mred\u0007 \u009b2J \u202eabc\u2069 a\rb\u007f")).toBe(
      "\\u001b[31mred\\u0007 \\u009b2J \\u202eabc\\u2069 a\\u000db\\u007f",
    );
    const text = "Grüße, 日本 🎉\tcolumn\r\nnext\n";
    expect(showControls(text)).toBe(text);
  });

  it("keeps the meaning of JSON", () => {
    const anyText = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(anyText, (text) => {
        expect(JSON.parse(showControls(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});

function streamOf(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  protectTerminal(stream);
  return { stream, written: () => (stream as unknown as PassThrough).read() as Buffer };
}

describe("a protected stream", () => {
  it("passes every byte through to a pipe", () => {
    const { stream, written } = streamOf(false);
    stream.write("\u001b[2J");
    stream.write(Buffer.from([0x9b, 0xff]));
    expect(written()).toEqual(Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0x9b, 0xff]));
  });

  it("shows control characters on a terminal, even in bytes and in a character that is split", async () => {
    const { stream, written } = streamOf(true);
    const onWritten = vi.fn();
    const [first = 0, ...rest] = Buffer.from("ü\u009b");
    stream.write(Buffer.from([first]));
    stream.write(Buffer.from(rest), onWritten);
    stream.write("1b5b", "hex");
    expect(written().toString()).toBe("ü\\u009b\\u001b[");
    await expect.poll(() => onWritten).toHaveBeenCalled();
  });
});
