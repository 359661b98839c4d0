import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext } from "@tau-agent/sessions/log";
import { describe, expect, it } from "vitest";
import { assistant, message, user } from "../../../sessions/src/log/__fixtures__/session-files.ts";
import { createLlmConverter, toLlmMessages } from "../../src/user-input/llm-messages.ts";

let count = 0;
const entry = (fields: Record<string, unknown>): SessionEntry => {
  const parentId = count === 0 ? null : String(count - 1);
  const timestamp = "2026-01-01T00:00:00.000Z";
  return { id: String(count++), parentId, timestamp, ...fields } as SessionEntry;
};
const chain = (...list: Record<string, unknown>[]): SessionEntry[] => {
  count = 0;
  return list.map(entry);
};
const compaction = (firstKeptEntryId: string, summary = "S") => ({
  type: "compaction",
  summary,
  firstKeptEntryId,
  tokensBefore: 9,
});
const shown = (messages: readonly AgentMessage[]) =>
  messages.map((each) =>
    "summary" in each
      ? `${each.role}:${each.summary}`
      : "content" in each
        ? textOf(each)
        : each.role,
  );
const textOf = ({ content }: { content: unknown }): string =>
  typeof content === "string" ? content : JSON.stringify(content).replace(/.*"text":"|".*/g, "");

describe("buildSessionContext", () => {
  it("returns the model and thinking level at the end of the branch", () => {
    const branch = chain(
      { type: "model_change", provider: "p", modelId: "m" },
      { type: "thinking_level_change", thinkingLevel: "low" },
      message(user("hi")),
      { type: "thinking_level_change", thinkingLevel: "high" },
      message(assistant("x", { provider: "q", model: "n" })),
    );
    expect(buildSessionContext(branch)).toMatchObject({
      thinkingLevel: "high",
      model: { provider: "q", modelId: "n" },
    });
    expect(buildSessionContext([])).toMatchObject({
      messages: [],
      thinkingLevel: undefined,
      model: undefined,
    });
  });

  it("puts the summary first, then the kept messages, then the later ones", () => {
    const branch = chain(
      message(user("0")),
      message(user("1")),
      message(user("2")),
      compaction("1"),
      message(user("4")),
    );
    expect(shown(buildSessionContext(branch).messages)).toEqual([
      "compactionSummary:S",
      "1",
      "2",
      "4",
    ]);
  });

  it("applies only the latest compaction", () => {
    const branch = chain(
      message(user("0")),
      compaction("0", "old"),
      message(user("2")),
      compaction("2", "new"),
    );
    expect(shown(buildSessionContext(branch).messages)).toEqual(["compactionSummary:new", "2"]);
  });

  it("keeps nothing when a compaction names itself or a missing entry", () => {
    for (const kept of ["1", "elsewhere"]) {
      const branch = chain(message(user("0")), compaction(kept), message(user("2")));
      expect(shown(buildSessionContext(branch).messages)).toEqual(["compactionSummary:S", "2"]);
    }
  });

  it("includes custom messages and branch summaries, and leaves out state entries", () => {
    const branch = chain(
      { type: "custom", customType: "x", data: 1 },
      { type: "custom_message", customType: "x", content: "note", display: true },
      { type: "branch_summary", fromId: "0", summary: "went there" },
      { type: "branch_summary", fromId: "0", summary: "" },
      { type: "label", targetId: "0", label: "l" },
      { type: "from_the_future", content: "?" },
    );
    const { messages } = buildSessionContext(branch);
    expect(shown(messages)).toEqual(["note", "branchSummary:went there"]);
    const [note, summary] = toLlmMessages(messages);
    expect(note).toMatchObject({ role: "user", content: "note" });
    expect(summary?.content).toContain("<summary>\nwent there\n</summary>");
  });

  it("makes entries of other programs safe to use", () => {
    const branch = chain(
      message(user(null as never)),
      message(assistant("", { content: "plain" as never, usage: undefined as never })),
      message({ role: "toolResult", content: null } as never),
    );
    expect(buildSessionContext(branch).messages).toMatchObject([
      { content: "" },
      { content: [{ type: "text", text: "plain" }], usage: { cost: { total: 0 } } },
      { content: [] },
    ]);
  });
});

describe("toLlmMessages", () => {
  const bash = {
    role: "bashExecution" as const,
    command: "ls",
    output: "a\nb",
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  };
  const textFor = (overrides: object) => toLlmMessages([{ ...bash, ...overrides }])[0]?.content;

  it("renders a client's command as documented", () => {
    expect(textFor({})).toBe("Ran `ls`\n```\na\nb\n```");
    expect(textFor({ output: "" })).toBe("Ran `ls`\n(no output)");
    expect(textFor({ exitCode: 2 })).toMatch(/Command exited with code 2$/);
    expect(textFor({ cancelled: true, exitCode: undefined })).toMatch(/\(command cancelled\)$/);
    expect(textFor({ truncated: true, fullOutputPath: "/t/x.log" })).toMatch(
      /\[Output truncated. Full output: \/t\/x.log\]$/,
    );
  });

  it("leaves out excluded messages and unknown roles", () => {
    expect(textFor({ excludeFromContext: true })).toBeUndefined();
    expect(toLlmMessages([{ role: "hologram" } as never])).toEqual([]);
  });

  it("returns the same object for the same message on each call for a session", () => {
    const convert = createLlmConverter(() => () => undefined);
    const [first] = convert([bash]);
    const [again, other] = convert([bash, { ...bash }]);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect([again, other]).toEqual(toLlmMessages([bash, { ...bash }]));
  });

  it("shows a line in place of a result and a note after other messages, as long as they are found", () => {
    let texts: Record<string, string> = {};
    const convert = createLlmConverter(
      () =>
        ({ role }) =>
          texts[role],
    );
    const user = { role: "user", content: "Hello", timestamp: 1 } as const;
    const content = [{ type: "text", text: "long" } as const];
    const call = { toolCallId: "c", toolName: "read", isError: false, timestamp: 2 };
    const result = { role: "toolResult", ...call, content } as const;
    const given = [user, { ...result, content: [...content] }];
    expect(convert(given)).toEqual(given);
    texts = { user: "today", toolResult: "cleared" };
    const shown = convert(given);
    expect(shown.map((message) => message.content)).toEqual([
      "Hello\n\ntoday",
      [{ type: "text", text: "cleared" }],
    ]);
    expect(convert(given)[1]).toBe(shown[1]);
    texts = {};
    expect(convert(given)[1]).toBe(given[1]);
  });
});
