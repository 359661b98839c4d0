/** The lines of a session file with this many messages, questions and replies alternating. */
export function* sessionLines(count: number, cwd: string): Generator<string> {
  const timestamp = new Date(0).toISOString();
  const id = (index: number) => index.toString(16).padStart(8, "0");
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  yield line({ type: "session", version: 3, id: "bench", timestamp, cwd });
  for (let index = 1; index <= count; index++) {
    const parentId = index === 1 ? null : id(index - 1);
    yield line({ type: "message", id: id(index), parentId, timestamp, message: message(index) });
  }
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
