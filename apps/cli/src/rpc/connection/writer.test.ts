import { describe, expect, it } from "vitest";
import { TestOutput, turnOfLoop } from "./__fixtures__/test-output.ts";
import { FrameWriter } from "./writer.ts";

function create() {
  const output = new TestOutput();
  return { output, writer: new FrameWriter(output) };
}

/** Fills the pipe, so that the reader is behind at the next write. */
async function behind() {
  const { output, writer } = create();
  output.accepts = false;
  void writer.write("a\n");
  await turnOfLoop();
  return { output, writer };
}

const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
  let pending = true;
  void promise.then(() => {
    pending = false;
  });
  await turnOfLoop();
  return pending;
};

describe("FrameWriter", () => {
  it("writes the lines of one turn of the event loop together, in order", async () => {
    const { output, writer } = create();
    for (let index = 0; index < 1000; index++) expect(writer.write(`${index}\n`)).toBeUndefined();
    expect(output.writes).toEqual([]);
    await turnOfLoop();
    expect(output.writes).toHaveLength(1);
    expect(output.text.split("\n").slice(0, -1).map(Number)).toEqual([...Array(1000).keys()]);
  });

  it("writes at once when flushed, and nothing twice", async () => {
    const { output, writer } = create();
    void writer.write("a\n");
    void writer.write("b\n");
    writer.flush();
    expect(output.writes).toEqual(["a\nb\n"]);
    await turnOfLoop();
    expect(output.writes).toEqual(["a\nb\n"]);
  });

  it("keeps the order of lines and of the pieces of a long line, and writes small ones together", async () => {
    const { output, writer } = create();
    const long = "2".repeat(100_000);
    void writer.write("a\n");
    void writer.write(['{"b":[', Buffer.from("1"), Buffer.from(","), '"é"', "]}\n"]);
    void writer.write(["[", Buffer.from(long), "]\n"]);
    void writer.write("c\n");
    await turnOfLoop();
    expect(output.writes).toEqual(['a\n{"b":[1,"é"]}\n[', long, "]\nc\n"]);
  });

  it("schedules no write while it is held, and buffers again after the next flush", async () => {
    const { output, writer } = create();
    writer.hold();
    void writer.write("a\n");
    await turnOfLoop();
    expect(output.writes).toEqual([]);
    writer.flush();
    void writer.write("b\n");
    await turnOfLoop();
    expect(output.writes).toEqual(["a\n", "b\n"]);
  });

  it("limits the buffer even if the event loop does not turn", () => {
    const { output, writer } = create();
    output.accepts = false;
    const line = `${"x".repeat(1000)}\n`;
    let written = 0;
    while (writer.write(line) === undefined && written < 1000) written++;
    expect(written).toBeLessThan(300);
    expect(output.writes).toHaveLength(1);
  });

  it("makes writers wait while the reader is behind, and keeps the order", async () => {
    const { output, writer } = await behind();
    expect(writer.isDrained).toBe(false);
    const wait = writer.write("b\n");
    void writer.write("c\n");
    expect(await isPending(wait as Promise<void>)).toBe(true);
    output.drain();
    await wait;
    expect(writer.isDrained).toBe(true);
    expect(writer.write("d\n")).toBeUndefined();
    await turnOfLoop();
    expect(output.text).toBe("a\nb\nc\nd\n");
  });

  it("calls back at once, or when the reader has caught up", async () => {
    const { output, writer } = await behind();
    const heard: string[] = [];
    writer.onDrain(() => heard.push("later"));
    await turnOfLoop();
    expect(heard).toEqual([]);
    output.drain();
    await turnOfLoop();
    writer.onDrain(() => heard.push("now"));
    expect(heard).toEqual(["later", "now"]);
  });

  it("ends after everything queued is handed over", async () => {
    const { output, writer } = create();
    void writer.write("last\n");
    await writer.end();
    expect(output.text).toBe("last\n");
  });

  it("makes no sender wait after the reader has left, and discards later lines", async () => {
    const { output, writer } = await behind();
    const wait = writer.write("b\n");
    output.close();
    await wait;
    expect(writer.write("c\n")).toBeUndefined();
    await turnOfLoop();
    await writer.end();
    expect(output.text).toBe("a\n");
  });

  it("makes no sender wait at the end, but still writes every line", async () => {
    const { output, writer } = await behind();
    const wait = writer.write("b\n");
    writer.stopWaiting();
    await wait;
    expect(writer.write("c\n")).toBeUndefined();
    await writer.end();
    expect(output.text).toBe("a\nb\nc\n");
  });
});
