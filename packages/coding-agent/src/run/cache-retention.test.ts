import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { cacheRetentionOf } from "./cache-retention.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const minute = 60_000;

function reply(timestamp: number): AgentMessage {
  return {
    ...{ role: "assistant", content: [], api: "a", provider: "p", model: "m", timestamp },
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost },
    stopReason: "stop",
  };
}

/** Prompts that each follow the previous reply after this many minutes. */
function conversation(...gaps: readonly number[]): AgentMessage[] {
  let now = 0;
  const messages: AgentMessage[] = [{ role: "user", content: "Hi", timestamp: now }];
  for (const gap of gaps) {
    messages.push(reply(now));
    now += gap * minute;
    messages.push({ role: "user", content: "Go on", timestamp: now });
  }
  return messages;
}

it.each([
  ["a first prompt", [], "short"],
  ["quick prompts", [1, 2, 1], "short"],
  ["a single break of seven minutes", [7], "short"],
  ["two breaks of seven minutes", [7, 7], "long"],
  ["six breaks of seven minutes", [7, 7, 7, 7, 7, 7], "long"],
  ["a break of seventy minutes", [70], "short"],
  ["one break among quick prompts", [7, 1, 1], "short"],
  ["two breaks and a quick prompt", [7, 20, 1], "long"],
  ["breaks that were long ago", [7, 7, 7, 1, 1], "short"],
  ["breaks that began lately", [1, 1, 1, 30, 40], "long"],
] as const)("auto mode picks the lifetime after %s", (_, gaps, expected) => {
  expect(cacheRetentionOf(undefined, "auto", conversation(...gaps))).toBe(expected);
});

it("does not treat messages during tool calls as prompts", () => {
  const result: AgentMessage = {
    ...{ role: "toolResult", toolCallId: "c", toolName: "bash", content: [], isError: false },
    timestamp: 0,
  };
  const steered = (minutes: number): AgentMessage[] => [
    reply(0),
    result,
    { role: "user", content: "Wait", timestamp: minutes * minute },
  ];
  const messages = [...steered(10), ...steered(10), ...steered(10)];
  expect(cacheRetentionOf(undefined, "auto", messages)).toBe("short");
});

it("lets the environment override the setting, even with auto", () => {
  const paused = conversation(7, 7);
  expect(cacheRetentionOf("none", "auto", paused)).toBe("none");
  expect(cacheRetentionOf("auto", "short", paused)).toBe("long");
  expect(cacheRetentionOf("forever", "long", [])).toBe("long");
});
