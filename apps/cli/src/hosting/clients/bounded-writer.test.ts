import { describe, expect, it, vi } from "vitest";
import { BoundedWriter } from "./bounded-writer.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function create(limits = { events: 100, answers: 1_000 }) {
  const written: string[] = [];
  const taken: (() => void)[] = [];
  const onOverflow = vi.fn();
  const output = {
    write: (text: string, onWritten: () => void) => {
      written.push(text);
      taken.push(onWritten);
    },
  };
  const writer = new BoundedWriter(output, limits, onOverflow);
  /** The reader accepts everything. */
  const read = () => {
    for (const take of taken.splice(0)) take();
  };
  return { writer, written, read, onOverflow };
}

const line = (length: number) => `${"x".repeat(length - 1)}\n`;

describe("a connection whose sender does not wait", () => {
  it("writes lines in order, and the lines of one turn in one write", async () => {
    const { writer, written } = create();
    writer.write("a\n");
    writer.write("b\n", true);
    await nextTurn();
    expect(written).toEqual(["a\nb\n"]);
  });

  it("is dropped when its reader leaves too many events unread", async () => {
    const { writer, onOverflow } = create();
    writer.write(line(80));
    await nextTurn();
    writer.write(line(80));
    await nextTurn();
    expect(onOverflow).not.toHaveBeenCalled();
    expect(writer.isOverLimit).toBe(true);
    writer.write(line(1));
    expect(onOverflow).toHaveBeenCalledOnce();
  });

  it("allows more unread answers to its own commands", async () => {
    const { writer, onOverflow } = create();
    for (let count = 0; count < 9; count += 1) {
      writer.write(line(100), true);
      await nextTurn();
    }
    writer.write(line(50));
    expect(onOverflow).not.toHaveBeenCalled();
    await nextTurn();
    writer.write(line(200), true);
    await nextTurn();
    writer.write("more\n");
    expect(onOverflow).toHaveBeenCalledOnce();
  });

  it("is not dropped for one large frame that its reader has had no chance to read", async () => {
    const { writer, read, onOverflow } = create();
    writer.write(line(500));
    writer.write(line(500));
    await nextTurn();
    read();
    writer.write(line(10));
    expect(onOverflow).not.toHaveBeenCalled();
    expect(writer.isDrained).toBe(true);
  });

  it("reports that it is drained and, at its end, that everything was handed over", async () => {
    const { writer, read } = create();
    const onDrain = vi.fn();
    const onEnd = vi.fn();
    writer.write("a\n");
    const ended = writer.end().then(onEnd);
    writer.onDrain(onDrain);
    await nextTurn();
    expect([onDrain.mock.calls.length, onEnd.mock.calls.length]).toEqual([0, 0]);
    read();
    await ended;
    expect(onDrain).toHaveBeenCalledOnce();
  });

  it("discards everything once the reader is gone", async () => {
    const { writer, written } = create();
    writer.write("a\n");
    writer.close();
    writer.write("b\n");
    await writer.end();
    await nextTurn();
    expect(written).toEqual([]);
  });
});
