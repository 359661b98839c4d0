import { describe, expect, it } from "vitest";
import { EventQueue } from "./event-queue.ts";

describe("EventQueue", () => {
  it("delivers buffered events before it ends", async () => {
    const queue = new EventQueue<number>(10, () => {});
    queue.push(1);
    queue.push(2);
    queue.close();
    queue.push(3);
    expect(await Array.fromAsync(queue)).toEqual([1, 2]);
  });

  it("throws its error once, after the buffered events", async () => {
    const queue = new EventQueue<number>(10, () => {});
    queue.push(1);
    queue.close(new TypeError("gone"));
    expect(await queue.next()).toEqual({ value: 1, done: false });
    await expect(queue.next()).rejects.toThrow("gone");
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it("serves waiting readers in the order of their calls", async () => {
    const queue = new EventQueue<number>(10, () => {});
    const readers = [queue.next(), queue.next(), queue.next()];
    queue.push(1);
    queue.push(2);
    queue.close();
    expect((await Promise.all(readers)).map((result) => result.value)).toEqual([1, 2, undefined]);
  });

  it("notifies its owner when the reader leaves early", async () => {
    let left = 0;
    const queue = new EventQueue<number>(10, () => left++);
    queue.push(1);
    for await (const value of queue) {
      expect(value).toBe(1);
      break;
    }
    expect(left).toBe(1);
  });

  it("keeps order over many pushes and reads", async () => {
    const queue = new EventQueue<number>(10_000, () => {});
    let next = 0;
    for (let round = 0; round < 20; round++) {
      for (let count = 0; count < 400; count++) queue.push(round * 400 + count);
      for (let count = 0; count < 300; count++) expect((await queue.next()).value).toBe(next++);
    }
  });
});
