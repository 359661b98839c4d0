import { type CommandName, command, commands, loadDialect } from "@tau-agent/rpc-protocol";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { handlers } from "../../rpc/handlers/index.ts";
import { SessionPool } from "../sessions/session-pool.ts";
import { Client } from "./client.ts";

/** Adds a command as an author would: its definition in the table, its handler next to the others. */
function addCommand(scope: "host" | "connection" | "session"): void {
  const definition = command({
    summary: "Does what the test says.",
    params: () => z.object({}),
    result: () => z.object({ done: z.boolean() }),
    scope,
  });
  Object.assign(commands, { invented: definition });
  Object.assign(handlers, { invented: () => ({ done: true }) });
}

afterEach(() => {
  Reflect.deleteProperty(commands, "invented");
  Reflect.deleteProperty(handlers, "invented");
});

/** The answer of a host that serves many sessions but has none open. */
async function answersTo(frame: { type: CommandName | "invented"; sessionId?: string }) {
  const pool = new SessionPool({
    many: undefined,
    graceMs: undefined,
    createRing: undefined,
    idleMs: 1_000,
    drainTimeoutMs: 1_000,
  });
  const answers: unknown[] = [];
  const client = new Client({
    pool,
    dialect: await loadDialect("pi"),
    writer: {
      isDrained: true,
      onDrain: (listener) => listener(),
      whenDrained: () => undefined,
      write: (line) => void answers.push(JSON.parse(String(line))),
    },
    onInternalError: (error) => expect.fail(String(error)),
  });
  client.push(JSON.stringify({ id: 1, ...frame }));
  await client.settled();
  return answers;
}

describe("a command added to the table", () => {
  it.each(["host", "connection"] as const)("needs no session if its scope is %s", async (scope) => {
    addCommand(scope);
    const answer = { id: 1, type: "response", command: "invented", success: true };
    expect(await answersTo({ type: "invented" })).toEqual([{ ...answer, data: { done: true } }]);
  });

  it("needs a session if its scope is session", async () => {
    addCommand("session");
    expect(await answersTo({ type: "invented" })).toMatchObject([{ code: "missing_session_id" }]);
  });

  it("is refused if it names a session that is not open", async () => {
    addCommand("connection");
    expect(await answersTo({ type: "invented", sessionId: "gone" })).toMatchObject([
      { code: "unknown_session", sessionId: "gone" },
    ]);
  });
});
