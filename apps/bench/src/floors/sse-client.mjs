/**
 * The least a program can do with a streamed reply: read it, parse each event, write each delta as
 * a line. Reads requests as lines of JSON: `{url, body, turns?}`. With `turns`, it repeats the
 * request that often, each time with one more tool call and result.
 */
import { createInterface } from "node:readline";

/**
 * @param {string} url
 * @param {object[]} messages
 */
async function reply(url, messages) {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages }),
  });
  const decoder = new TextDecoder();
  let rest = "";
  let whole = "";
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (event === "data: [DONE]") continue;
      const { delta } = JSON.parse(event.slice(6)).choices?.[0] ?? {};
      const piece = delta?.content ?? delta?.tool_calls?.[0]?.function?.arguments;
      if (piece === undefined) continue;
      whole += piece;
      const assistantMessageEvent = { type: "text_delta", contentIndex: 0, delta: piece };
      process.stdout.write(
        `${JSON.stringify({ type: "message_update", assistantMessageEvent })}\n`,
      );
    }
  }
  process.stdout.write(`${JSON.stringify({ type: "message_end", text: whole })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { url, turns = 1 } = JSON.parse(line);
  const messages = [{ role: "user", content: "go" }];
  for (let turn = 0; turn < turns; turn++) {
    await reply(url, messages);
    const call = { id: `c${turn}`, type: "function", function: { name: "read", arguments: "{}" } };
    messages.push({ role: "assistant", content: null, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: call.id, content: "A short file.\n" });
  }
  process.stdout.write(`${JSON.stringify({ type: "agent_settled" })}\n`);
}
