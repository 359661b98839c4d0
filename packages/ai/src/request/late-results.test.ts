import type { AssistantMessage, LlmMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { emptyUsage } from "../reply/empty-usage.ts";
import { withResultsInPlace } from "./late-results.ts";

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });

const asks = (...ids: string[]): AssistantMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "ls", arguments: {} })),
  api: "a",
  provider: "p",
  model: "m",
  usage: emptyUsage(),
  stopReason: "toolUse",
  timestamp: 1,
});

const answer = (toolCallId: string, text = toolCallId): LlmMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "ls",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

describe("withResultsInPlace", () => {
  it("returns the same array if nothing is out of place", () => {
    const messages = [user("go"), asks("1", "2"), answer("2"), answer("1"), user("on"), asks("1")];
    expect(withResultsInPlace(messages)).toBe(messages);
  });

  it("moves a result before a message that arrived while the tool ran", () => {
    const [question, call, note, first, second] = [
      user("go"),
      asks("1", "2"),
      user("note"),
      answer("1"),
      answer("2"),
    ];
    expect(withResultsInPlace([question, call, note, first, second])).toEqual([
      question,
      call,
      first,
      second,
      note,
    ]);
    expect(withResultsInPlace([question, call, first, note, second])).toEqual([
      question,
      call,
      first,
      second,
      note,
    ]);
  });

  it("assigns a result to the latest call with its id", () => {
    const [one, two] = [asks("1"), asks("1")];
    const messages = [one, user("note"), two, answer("1", "of the second")];
    expect(withResultsInPlace(messages)).toBe(messages);
  });

  it("leaves orphans in place", () => {
    const messages = [answer("9"), user("go"), answer("8")];
    expect(withResultsInPlace(messages)).toBe(messages);
  });
});
