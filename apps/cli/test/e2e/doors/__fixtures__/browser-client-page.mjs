// A page that uses the browser client; the test bundles it and calls the functions it puts on `globalThis`.
import { connect } from "@tau-agent/rpc-client/browser";

globalThis.run = async (url, token) => {
  const questions = [];
  const client = await connect(url, {
    token,
    approve: ({ toolName }) => {
      questions.push(toolName);
      return { decision: "allow" };
    },
  });
  const session = await client.openSession();
  let text = "";
  session.onEvent((event) => {
    const { assistantMessageEvent: step } = event;
    if (event.type === "message_update" && step.type === "text_delta") text += step.delta;
  });
  const { status } = await session.promptAndWait("What does it say?");
  const stats = await session.getSessionStats();
  const listed = await client.openSessions();
  await session.close();
  await client.close();
  return { status, text, questions, calls: stats.toolCalls, sessions: listed.length };
};
globalThis.refused = async (url, token) => {
  try {
    await connect(url, { token, connectTimeoutMs: 10_000 });
    return "connected";
  } catch (error) {
    return error.code;
  }
};
