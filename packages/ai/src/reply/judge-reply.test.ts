import type { AssistantContent, Usage } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { judgeReply } from "./judge-reply.ts";

const usage: Usage = {
  input: 90_000,
  output: 10,
  cacheRead: 90_000,
  cacheWrite: 0,
  totalTokens: 180_010,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const window = { contextWindow: 100_000 };
const text: AssistantContent[] = [{ type: "text", text: "Done." }];

it("accepts a good reply whose usage adds up to more than the window", () => {
  expect(judgeReply("stop", text, usage, window)).toBeUndefined();
});

it("reports an overflow if the server must have truncated the input", () => {
  expect(judgeReply("stop", text, { ...usage, input: 100_001 }, window)?.code).toBe(
    "context_overflow",
  );
});

it("reports an overflow for an empty reply whose input exceeds the window", () => {
  expect(judgeReply("stop", [], usage, window)?.code).toBe("context_overflow");
  expect(judgeReply("stop", [], { ...usage, cacheRead: 0 }, window)?.code).toBe("overloaded");
});
