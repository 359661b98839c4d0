import { expect, it } from "vitest";
import { TextTail } from "./text-tail.ts";

it("keeps only the end of the text", () => {
  const tail = new TextTail(10);
  expect(tail.toString()).toBe("");
  for (let count = 0; count < 1_000; count++) tail.append(String(count));
  expect(tail.toString()).toBe("6997998999");
  tail.append("!");
  expect(tail.toString().endsWith("999!")).toBe(true);
  expect(tail.toString()).toHaveLength(10);
});
