/** Creates a stored conversation with a number of messages. */
export function longSession(messages: number): string {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.001 };
  const usage = { input: 10, output: 20, cacheRead: 30, cacheWrite: 5, cost };
  const lines: object[] = [
    { type: "session", version: 3, id: "long", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
  ];
  for (let at = 0; at < messages; at += 1) {
    const head = {
      id: `e${at}`,
      parentId: at === 0 ? null : `e${at - 1}`,
      timestamp: "2026-01-01T00:00:00.000Z",
    };
    const text = `Message **${at}** with \`code\`.`;
    const message =
      at % 2 === 0
        ? { role: "user", content: text, timestamp: at }
        : {
            role: "assistant",
            content: [{ type: "text", text }],
            api: "scripted",
            provider: "scripted",
            model: "m",
            usage,
            stopReason: "stop",
            timestamp: at,
          };
    lines.push({ type: "message", ...head, message });
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
