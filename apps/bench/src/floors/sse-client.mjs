/**
 * The minimum that a program can do with a streamed reply: read it, parse each event, write each delta as a
 * line. Reads requests as lines of JSON: `{url, body, turns?}`. With `turns`, it repeats the request that
 * often, each time with one more tool call and result.
 */
import { createInterface } from "node:readline";
import { readDeltas, updateOf } from "./read-deltas.mjs";

/**
 * @param {string} url
 * @param {object[]} messages
 */
async function reply(url, messages) {
  let whole = "";
  for await (const piece of readDeltas(url, messages)) {
    whole += piece;
    process.stdout.write(`${JSON.stringify(updateOf(piece))}\n`);
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
