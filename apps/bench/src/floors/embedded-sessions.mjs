/**
 * A program that embeds many sessions: it answers the commands of `many-sessions` and passes on the deltas of
 * each session, as the floor does.
 */
import { createInterface } from "node:readline";
import { createAgentSession, SessionSharing } from "@tau-agent/coding-agent";
import { createLineOutput } from "./line-output.mjs";
import { updateOf } from "./read-deltas.mjs";

const send = createLineOutput((text) => process.stdout.write(text));
/** @type {Map<string, import("@tau-agent/coding-agent").AgentSession>} */
const sessions = new Map();
const sharing = new SessionSharing();
let opened = 0;

/** @param {string} cwd */
async function open(cwd) {
  opened += 1;
  const sessionId = `session-${opened}`;
  const session = await createAgentSession({
    cwd,
    session: { kind: "memory" },
    environment: process.env,
    agentDirectory: process.env.PI_CODING_AGENT_DIR,
    provider: "bench",
    model: "bench",
    sharing,
  });
  session.subscribe((event) => {
    if (event.type !== "message_update") return;
    const { assistantMessageEvent: update } = event;
    if (update.type === "text_delta") send({ ...updateOf(update.delta), sessionId });
  });
  sessions.set(sessionId, session);
  return { sessionId };
}

/** @param {{ type: string, sessionId?: string, message?: string, cwd?: string }} command */
async function answer({ type, sessionId = "", message = "", cwd = "" }) {
  if (type === "open_session") return open(cwd);
  const session = sessions.get(sessionId);
  if (session === undefined) return {};
  if (type === "get_state") return session.state;
  if (type === "prompt") {
    const settled = () => send({ type: "agent_settled", sessionId });
    session.prompt(message).then(settled, settled);
  } else if (type === "close_session") {
    sessions.delete(sessionId);
    await session.dispose();
  }
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const { id, type, sessionId } = command;
  answer(command).then((data) => {
    send({ id, type: "response", command: type, success: true, data, sessionId });
  });
}
