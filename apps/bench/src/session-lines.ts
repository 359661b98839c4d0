/**
 * The lines of a session file with this many messages, alternately questions and replies. With `compactedAt`,
 * the messages before that one are summarized; `past` is the host's summary of them.
 */
export function* sessionLines(
  count: number,
  cwd: string,
  { compactedAt, past }: { readonly compactedAt?: number; readonly past?: unknown } = {},
): Generator<string> {
  const timestamp = new Date(0).toISOString();
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  yield line({ type: "session", version: 3, id: "bench", timestamp, cwd });
  let parentId: string | null = null;
  for (let index = 1; index <= count; index++) {
    if (index === compactedAt) {
      const compaction = { type: "compaction", id: "c0000000", parentId, timestamp };
      const kept = { firstKeptEntryId: firstKeptAt(index), tokensBefore: 100_000, past };
      yield line({ ...compaction, summary: "What was said before.", ...kept });
      parentId = compaction.id;
    }
    yield line({ type: "message", id: id(index), parentId, timestamp, message: message(index) });
    parentId = id(index);
  }
}

/** The first message kept by a compaction that happens before the message with this number. */
export const firstKeptAt = (compactedAt: number): string => id(compactedAt - 2);

function id(index: number): string {
  return index.toString(16).padStart(8, "0");
}

function message(index: number): object {
  const text = `Entry ${index}: ${"some words of a usual length, ".repeat(8)}`;
  if (index % 2 === 1) return { role: "user", content: text, timestamp: index };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "openai-completions",
    provider: "bench",
    model: "bench",
    usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 20, cost },
    stopReason: "stop",
    timestamp: index,
  };
}
