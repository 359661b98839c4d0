const usage = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const reply = {
  role: "assistant",
  content: [{ type: "text", text: "Hello" }],
  api: "x",
  provider: "y",
  model: "z",
  usage,
  stopReason: "stop",
  timestamp: 1,
};
/** One frame of each kind for tests that mutate frames. */
export const exampleFrames = {
  update: {
    type: "message_update",
    message: reply,
    assistantMessageEvent: {
      type: "text_delta",
      contentIndex: 0,
      delta: "Hello",
      partial: reply,
    },
  },
  response: {
    id: "a",
    type: "response",
    command: "cycle_thinking_level",
    success: true,
    data: { level: "high" },
  },
  failure: { type: "response", command: "x", success: false, error: "Unknown command: x" },
  retry: { type: "auto_retry_end", success: true, attempt: 2 },
};
