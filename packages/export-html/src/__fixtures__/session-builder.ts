import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type { ExportSource } from "../export-html.ts";

const start = Date.parse("2026-11-20T09:12:00.000Z");

const usualStep = 7_000;

/** Builds sessions for tests: each entry is a child of the previous one. */
export class SessionBuilder {
  readonly entries: SessionEntry[] = [];
  leafId: string | null = null;
  #time = start;

  /** The time of the next entry. */
  get now(): number {
    return this.#time;
  }

  /** Dates the next entry the given number of seconds after the previous one. */
  after(seconds: number): void {
    this.#time += seconds * 1000 - usualStep;
  }

  add(type: string, fields: Readonly<Record<string, unknown>> = {}): string {
    const id = `id${this.entries.length}`;
    const timestamp = new Date(this.#time).toISOString();
    this.#time += usualStep;
    this.entries.push({ type, id, parentId: this.leafId, timestamp, ...fields });
    this.leafId = id;
    return id;
  }

  user(content: unknown, more: Readonly<Record<string, unknown>> = {}): string {
    return this.add("message", { message: { role: "user", content, timestamp: start, ...more } });
  }

  assistant(content: unknown, more: Readonly<Record<string, unknown>> = {}): string {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const usage = {
      input: 1240,
      output: 310,
      cacheRead: 8200,
      cacheWrite: 0,
      cost: { input: 0.004, output: 0.005, cacheRead: 0.002, cacheWrite: 0, total: 0.011 },
    };
    return this.add("message", {
      message: {
        role: "assistant",
        content: blocks,
        api: "anthropic-messages",
        provider: "anthropic",
        model: "claude-sonnet-5",
        usage,
        stopReason: "stop",
        timestamp: start,
        ...more,
      },
    });
  }

  result(toolCallId: string, toolName: string, more: Readonly<Record<string, unknown>>): string {
    const { text, ...rest } = more;
    const content = [{ type: "text", text: text ?? "" }];
    return this.add("message", {
      message: { role: "toolResult", toolCallId, toolName, content, isError: false, ...rest },
    });
  }

  source(more: Partial<ExportSource> = {}): ExportSource {
    const header = {
      type: "session" as const,
      version: 3,
      id: "0d9f7c2e-5b1a-4e55-9f7e-2f6a1f0c9a11",
      timestamp: new Date(start).toISOString(),
      cwd: "/home/ada/projects/orbit",
    };
    return { header, entries: this.entries, leafId: this.leafId, ...more };
  }
}

export function call(id: string, name: string, parameters: unknown) {
  return { type: "toolCall", id, name, arguments: parameters };
}
