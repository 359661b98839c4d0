import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../create/__fixtures__/test-session.ts";
import { type CallRecord, isAnswered } from "./call-records.ts";

it("accepts a result for a call only if it came after the call, even if ids were used before", async () => {
  const reference = join(temporaryFolder(), "subagent.jsonl");
  const lines: object[] = [{ type: "session", version: 3, id: "s", timestamp: "", cwd: "/" }];
  const add = (message: object) => {
    const [id, parentId] = [`e${lines.length}`, lines.length === 1 ? null : `e${lines.length - 1}`];
    lines.push({ type: "message", id, parentId, timestamp: "", message });
    writeFileSync(reference, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  const call = { type: "toolCall", id: "call_0", name: "bash", arguments: {} };
  const result = { role: "toolResult", toolCallId: "call_0", toolName: "bash", content: [] };
  const record = { reference, toolCallId: "call_0" } as CallRecord;
  const answered: boolean[] = [];
  for (const message of [{ role: "assistant", content: [call] }, result]) {
    add(message);
    answered.push(await isAnswered(record));
  }
  add({ role: "assistant", content: [call] });
  add({ role: "user", content: 'not {"role":"toolResult"} of "call_0"' });
  answered.push(await isAnswered(record));
  expect(answered).toEqual([false, true, false]);
  expect(await isAnswered({ ...record, reference: `${reference}.gone` })).toBe(false);
});
