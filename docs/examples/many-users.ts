// One session per user of a server, with limits: node docs/examples/many-users.ts
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, turn } from "@tau-agent/ai/testing";
import {
  type AgentSession,
  createAgentSession,
  type SessionEvent,
  SettingsStore,
} from "@tau-agent/coding-agent";

const provider = scriptedProvider(
  Array.from({ length: 4 }, () => turn("Hello! What can I do for you?")),
);
const sessions = new Map<string, Promise<AgentSession>>();

function sessionOf(user: string): Promise<AgentSession> {
  const known = sessions.get(user);
  if (known !== undefined) return known;
  const session = createAgentSession({
    cwd: process.cwd(),
    session: { kind: "memory" },
    // Without the server operator's settings, and with read-only tools.
    settings: SettingsStore.inMemory({ "retry.maxRetries": 1, "task.budget.maxToolCalls": 50 }),
    tools: { only: ["read", "grep", "find", "ls"] },
    // For a real model, use `model: "sonnet"` and the user's own `apiKey` instead of these.
    model: scriptedModel(),
    stream: createStream({ providers: { scripted: async () => provider } }),
    apiKey: "none",
  });
  sessions.set(user, session);
  return session;
}

/**
 * What a web server's route would do; `send` is its event stream, `signal` ends with the request.
 */
async function handle(
  { user, text }: { user: string; text: string },
  send: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const session = await sessionOf(user);
  const stop = session.subscribe((event) => forward(event, send));
  const abort = () => void session.abort();
  signal.addEventListener("abort", abort);
  try {
    // During a run, another prompt of the same user steers it.
    const { status, error } = await session.prompt(text, { streamingBehavior: "steer" });
    send(status === "error" ? `failed: ${error}` : status);
  } finally {
    signal.removeEventListener("abort", abort);
    stop();
  }
}

function forward(event: SessionEvent, send: (line: string) => void): void {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
    send(event.assistantMessageEvent.delta);
  } else if (event.type === "auto_retry_start") send(`trying again: ${event.errorMessage}`);
  else if (event.type === "budget_exceeded") send(`used up: ${event.snapshot.reason}`);
}

const { signal } = new AbortController();
await Promise.all(
  ["ada", "grace"].map((user) =>
    handle({ user, text: "Hello" }, (line) => console.log(`${user}: ${line}`), signal),
  ),
);
for (const session of sessions.values()) await (await session).dispose();
