import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
import { onTestFinished } from "vitest";

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-session-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function user(content: UserMessage["content"]): UserMessage {
  return { role: "user", content, timestamp: 1 };
}

export function assistant(text: string, overrides: Partial<AssistantMessage> = {}) {
  const message: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "scripted",
    provider: "scripted",
    model: "scenario",
    usage: {
      input: 10,
      output: 5,
      cacheRead: 2,
      cacheWrite: 1,
      totalTokens: 18,
      cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 },
    },
    stopReason: "stop",
    timestamp: 2,
    ...overrides,
  };
  return message;
}

export function toolResult(toolCallId: string, overrides: Partial<ToolResultMessage> = {}) {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text: "read" }],
    isError: false,
    timestamp: 3,
    ...overrides,
  };
  return message;
}

export const message = (value: AgentMessage) => ({ type: "message", message: value }) as const;

export function linesOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** Names in a folder, sorted. */
export const namesIn = (folder: string): string[] => readdirSync(folder).sort();
