import assert from "node:assert/strict";
import { test } from "node:test";
import { retry } from "./retry.ts";

test("retries", async () => {
  const seen: number[] = [];
  const work = async (attempt: number) => {
    seen.push(attempt);
    if (attempt < 3) throw new Error(`no ${attempt}`);
    return "yes";
  };
  assert.equal(await retry(work, 5), "yes");
  assert.deepEqual(seen, [1, 2, 3]);
  await assert.rejects(retry(work, 2), /no 2/);
});
