/**
 * The minimum that a program can do with a streamed reply: read it and parse each event.
 *
 * @param {string} url
 * @param {object[]} messages
 * @returns {AsyncGenerator<string>}
 */
export async function* readDeltas(url, messages) {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages }),
  });
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (event === "data: [DONE]") continue;
      const { delta } = JSON.parse(event.slice(6)).choices?.[0] ?? {};
      const piece = delta?.content ?? delta?.tool_calls?.[0]?.function?.arguments;
      if (piece !== undefined) yield piece;
    }
  }
}

/**
 * A delta in the form that hosts send.
 *
 * @param {string} delta
 */
export function updateOf(delta) {
  const assistantMessageEvent = { type: "text_delta", contentIndex: 0, delta };
  return { type: "message_update", assistantMessageEvent };
}
