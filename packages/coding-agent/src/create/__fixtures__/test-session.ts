import type { CustomProvider } from "@tau-agent/models";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { type Scenario, scriptedModel, scriptedProvider } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { onTestFinished } from "vitest";
import { recordFrames } from "../../../../../apps/cli/test/recording/record-host.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { SessionParts } from "../../session/session-parts.ts";
import { createSession } from "../create-session.ts";
import type { CreateAgentSessionOptions } from "../options/session-options.ts";

/** A session with a scripted model in its own folders, with everything it reports. */
export interface TestSession {
  readonly session: AgentSession;
  readonly parts: SessionParts;
  readonly events: SessionEvent[];
  readonly folder: string;
  /** The lines of the session file. */
  readonly written: () => (Record<string, unknown> & { message?: AgentMessage })[];
}

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-agent-session-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Options of a session in a local folder. */
export type LocalOptions = CreateAgentSessionOptions & { readonly cwd: string };

/** Options that keep all of a session's files inside `folder`. */
export function placesIn(folder: string): LocalOptions {
  const cwd = join(folder, "project");
  mkdirSync(cwd, { recursive: true });
  return {
    cwd,
    agentDirectory: join(folder, "agent"),
    homeDirectory: folder,
    temporaryDirectory: folder,
    environment: { PATH: process.env.PATH },
  };
}

export async function createTestSession(
  scenario: Scenario,
  overrides: Partial<CreateAgentSessionOptions> = {},
): Promise<TestSession> {
  const folder = temporaryFolder();
  const provider = scriptedProvider(scenario);
  const model = scriptedModel();
  const { session, parts } = await createSession({
    ...placesIn(folder),
    model,
    providers: [keyless(model.provider)],
    stream: createStream({ providers: { scripted: async () => provider } }),
    ...overrides,
  });
  onTestFinished(() => session.dispose());
  const events: SessionEvent[] = [];
  session.subscribe((event) => {
    events.push(event);
    recordFrames([event]);
  });
  const written = () =>
    readFileSync(session.log.path ?? "", "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return { session, parts, events, folder, written };
}

export function keyless(id: string): CustomProvider {
  return { id, isKeyless: true, usesAuthHeader: false, models: () => [], headers: () => ({}) };
}

/** Texts of the user messages, in order. */
export function userTexts(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === "user" && typeof message.content === "string" ? [message.content] : [],
  );
}

/** The ids of calls without a result, and of results without a preceding call. */
export function unpaired(messages: readonly AgentMessage[]): string[] {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult" && !open.delete(message.toolCallId)) {
      wrong.push(message.toolCallId);
    }
    // Nothing may come between a reply's calls and their results.
    if (message.role !== "toolResult" && open.size > 0) wrong.push(...open);
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
  }
  return [...wrong, ...open];
}

/** The first event of a type, now or later. */
export function eventOf(
  { session, events }: Pick<TestSession, "session" | "events">,
  fits: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  const known = events.find(fits);
  if (known !== undefined) return Promise.resolve(known);
  return new Promise((resolve) => {
    const unsubscribe = session.subscribe((event) => {
      if (!fits(event)) return;
      unsubscribe();
      resolve(event);
    });
  });
}

export const isType = (type: SessionEvent["type"]) => (event: SessionEvent) => event.type === type;
