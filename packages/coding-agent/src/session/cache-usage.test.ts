import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { cacheUsage } from "./cache-usage.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

function reply(timestamp: number, input: number, cacheRead: number, cacheWrite = 0): AgentMessage {
  const totalTokens = input + cacheRead + cacheWrite + 1;
  return {
    ...{ role: "assistant", content: [], api: "a", provider: "p", model: "m", timestamp },
    usage: { input, output: 1, cacheRead, cacheWrite, totalTokens, cost },
    stopReason: "stop",
  };
}
const user: AgentMessage = { role: "user", content: "Hi", timestamp: 0 };
const total = { input: 150, cacheRead: 300, cacheWrite: 150 };

it("reports what each request read from the cache, and the session in total", () => {
  const messages = [user, reply(1, 50, 0, 150), reply(2, 100, 300), user];
  expect(cacheUsage(messages, total)).toEqual({
    cacheUsage: {
      percent: 50,
      turns: [
        { timestamp: 1, input: 50, cacheRead: 0, cacheWrite: 150, percent: 0 },
        { timestamp: 2, input: 100, cacheRead: 300, cacheWrite: 0, percent: 75 },
      ],
    },
  });
});

it("lists only the latest 50 requests", () => {
  const messages = Array.from({ length: 70 }, (_, at) => reply(at, 1, 1));
  const { cacheUsage: found } = cacheUsage(messages, total);
  expect(found?.turns.map(({ timestamp }) => timestamp)).toEqual(
    Array.from({ length: 50 }, (_, at) => at + 20),
  );
});

it("reports nothing before the first reply with a token count from the vendor", () => {
  expect(cacheUsage([user, reply(1, 0, 0)], total)).toEqual({});
});
