import { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildSessionContext } from "../session-context.ts";
import { mendEntry } from "./mend-entry.ts";

const node = { parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost };
const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "x" } };
const image = { type: "image", data: "AA==", mimeType: "image/png" };
const reply = {
  role: "assistant",
  content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "see" }, call],
  ...{ api: "a", provider: "p", model: "m", usage, stopReason: "toolUse", timestamp: 2 },
};
const result = { role: "toolResult", toolCallId: "c", toolName: "read", isError: false };
const shell = { command: "ls", output: "x", cancelled: false, truncated: false };

const right: Record<string, unknown>[] = [
  { type: "message", message: { role: "user", content: "hello", timestamp: 1 } },
  { type: "message", message: reply },
  { type: "message", message: { ...result, content: [{ type: "text", text: "y" }], timestamp: 3 } },
  { type: "message", message: { role: "user", content: [image], timestamp: 4 } },
  {
    type: "message",
    message: { role: "bashExecution", ...shell, exitCode: 0, fullOutputPath: null, timestamp: 5 },
  },
  { type: "message", message: { role: "of a later version", anything: 1 } },
  { type: "model_change", provider: "p", modelId: "m" },
  { type: "thinking_level_change", thinkingLevel: "high" },
  { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 9, usage },
  { type: "branch_summary", summary: "s", fromId: "e0" },
  { type: "custom", customType: "x", data: 7 },
  { type: "custom_message", customType: "x", content: "hey", display: true, details: {} },
  { type: "label", targetId: "e0", label: "here" },
  { type: "context_edit", targetId: "e0", replacement: { content: "instead" } },
  { type: "session_info", name: "n" },
  { type: "of a later version", anything: 1 },
].map((entry, index) => ({ ...entry, id: `e${index}`, ...node }));

/** Replaces or removes one member at any depth. */
function spoil(value: unknown, path: readonly number[], other: unknown): unknown {
  if (typeof value !== "object" || value === null || path.length === 0) return other;
  const [at = 0, ...rest] = path;
  if (Array.isArray(value)) {
    const spoilt = at % (value.length + 1);
    // A list read from a file has no holes, so a removed item becomes null.
    return value.length === 0
      ? [other ?? null]
      : value.map((item, index) => (index === spoilt ? (spoil(item, rest, other) ?? null) : item));
  }
  const names = Object.keys(value);
  const name = names[at % names.length] ?? "";
  const member = spoil((value as Record<string, unknown>)[name], rest, other);
  const { [name]: _, ...others } = value as Record<string, unknown>;
  return member === undefined ? others : { ...others, [name]: member };
}

const others = fc.oneof(
  fc.constantFrom(undefined, null, "", 0, true, [], {}, [{ type: "text" }], [null]),
  fc.jsonValue({ maxDepth: 2 }),
);

describe("an entry of a file", () => {
  it.each(right)("stays the same object if it is valid: %j", (entry) => {
    expect(mendEntry(entry)).toBe(entry);
  });

  it("has the documented form after repair, whatever another program wrote", () => {
    const paths = fc.array(fc.nat(20), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.constantFrom(...right), paths, others, (entry, path, other) => {
        const { id, parentId } = entry;
        const { type } = entry;
        const roles: unknown[] = ["user", "assistant", "toolResult", "bashExecution"];
        const spoilt = spoil(entry, path, other) as Record<string, unknown>;
        const role = (spoilt.message as { role?: unknown } | undefined)?.role;
        // Entries that the file's reader rejects, or of unknown types, are skipped.
        if (typeof spoilt.type !== "string") return;
        if (type === "message" && !roles.includes(role)) return;
        const mended: Record<string, unknown> = { ...mendEntry(spoilt), id, parentId };
        if (mended.type === type) {
          const isKnown = type !== "of a later version";
          if (isKnown) expect(KnownSessionEntry.safeParse(mended).error).toBeUndefined();
        } else expect([spoilt.type, "unreadable"]).toContain(mended.type);
        expect(buildSessionContext([mended] as never).messages.length).toBeLessThan(2);
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps its place but has no effect without its required members", () => {
    const entry = { type: "compaction", id: "c", ...node, firstKeptEntryId: "e0", tokensBefore: 1 };
    expect(mendEntry(entry)).toEqual({ ...entry, type: "unreadable" });
  });

  it("keeps the calls and texts that are readable", () => {
    const content = [null, call, { ...call, arguments: "{}" }, { type: "text", text: { a: 1 } }];
    const entry = { type: "message", id: "m", ...node, message: { ...reply, content } };
    expect(mendEntry(entry).message).toMatchObject({
      content: [call, { ...call, arguments: {} }],
    });
  });
});
