import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { FileChange } from "@tau-agent/coding-agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { toolContent } from "./content.ts";
import { describeCall, saysCode } from "./describe-call.ts";
import { changedPlace, fileDiff } from "./file-diff.ts";

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

interface OpenCall {
  readonly id: string;
  hasBegun: boolean;
  isRunning: boolean;
  /** Content that stays visible, whatever the tool returns. */
  fixed: ToolCallContent[] | undefined;
}

/**
 * The tool calls of a session as the client sees them: each is announced once, runs once and ends once. A vendor may
 * reuse an id, so the client gets a unique one.
 */
export class ToolCalls {
  readonly #cwd: () => string;
  readonly #open = new Map<string, OpenCall>();
  readonly #used = new Map<string, number>();

  /** @param cwd - the folder that relative paths start from */
  constructor(cwd: () => string) {
    this.#cwd = cwd;
  }

  /** The client's id of an open call; otherwise undefined. */
  idOf(callId: string): string | undefined {
    return this.#open.get(callId)?.id;
  }

  /** Before a replay from the beginning, so that past calls get the same ids again. */
  startOver(): void {
    this.#used.clear();
  }

  /** Reserves the id of a past call. */
  noteUsed(callId: string): void {
    this.#newId(callId);
  }

  /** Announces a call, or updates a known call with its final arguments. */
  announce({ id: callId, name, args }: Call): SessionUpdate[] {
    const { title, kind, locations } = describeCall(name, args, this.#cwd());
    const shown = { title, kind, locations, rawInput: args };
    const known = this.#open.get(callId);
    if (known !== undefined) {
      return [{ sessionUpdate: "tool_call_update", toolCallId: known.id, ...shown }];
    }
    const id = this.#newId(callId);
    const state = { hasBegun: false, isRunning: false, fixed: undefined };
    this.#open.set(callId, { id, ...state });
    return [{ sessionUpdate: "tool_call", toolCallId: id, name, ...shown, status: "pending" }];
  }

  /** Starts a call; the user may still be asked for permission. */
  begin(call: Call, change: FileChange | undefined): SessionUpdate[] {
    const updates = this.announce(call);
    const open = this.#open.get(call.id);
    if (open === undefined) return updates;
    open.hasBegun = true;
    if (change === undefined) return updates;
    open.fixed = [fileDiff(change)];
    const last = updates.at(-1);
    if (last === undefined) return [];
    const shown = { content: open.fixed, locations: [changedPlace(change)] };
    return [{ ...last, ...shown } as SessionUpdate];
  }

  /** Reports once that a call is running. */
  run(callId: string): SessionUpdate[] {
    const open = this.#open.get(callId);
    if (open === undefined || open.isRunning) return [];
    return running(open);
  }

  showTerminal(callId: string, terminalId: string): SessionUpdate[] {
    const open = this.#open.get(callId);
    if (open === undefined) return [];
    open.fixed = [{ type: "terminal", terminalId }];
    return running(open, open.fixed);
  }

  progress(callId: string, toolName: string, partial: ToolResult): SessionUpdate[] {
    const open = this.#open.get(callId);
    if (open === undefined) return [];
    return running(open, open.fixed ?? this.#content(toolName, partial.content));
  }

  end(callId: string, toolName: string, result: ToolResult): SessionUpdate[] {
    const open = this.#open.get(callId);
    if (open === undefined) return [];
    this.#open.delete(callId);
    const isError = result.isError === true;
    const keepsTerminal = open.fixed?.[0]?.type === "terminal";
    const keepsContent = open.fixed !== undefined && (!isError || keepsTerminal);
    const content = keepsContent ? open.fixed : this.#content(toolName, result.content, isError);
    return [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: open.id,
        status: isError ? "failed" : "completed",
        ...(content === undefined ? {} : { content }),
        rawOutput: rawOutput(result),
      },
    ];
  }

  /** Fails all open calls, or those that have not begun, because they will get no result. */
  fail({ begun = true }: { readonly begun?: boolean } = {}): SessionUpdate[] {
    const failed = [...this.#open].filter(([, { hasBegun }]) => begun || !hasBegun);
    return failed.flatMap(([callId]) => this.failOne(callId));
  }

  failOne(callId: string): SessionUpdate[] {
    const open = this.#open.get(callId);
    this.#open.delete(callId);
    if (open === undefined) return [];
    return [{ sessionUpdate: "tool_call_update", toolCallId: open.id, status: "failed" }];
  }

  /** A failed tool explains itself in prose; `bash` still prints program output. */
  #content(toolName: string, content: readonly UserContent[], isError = false): ToolCallContent[] {
    const isCode = saysCode(toolName) && (!isError || toolName === "bash");
    return toolContent(content, { isCode });
  }

  #newId(callId: string): string {
    const times = (this.#used.get(callId) ?? 0) + 1;
    this.#used.set(callId, times);
    return times === 1 ? callId : `${callId}#${times}`;
  }
}

/** Marks a call as running, with its content if there is any. */
function running(call: OpenCall, content?: ToolCallContent[]): SessionUpdate[] {
  call.isRunning = true;
  const update = { sessionUpdate: "tool_call_update", toolCallId: call.id } as const;
  return [{ ...update, status: "in_progress", ...(content === undefined ? {} : { content }) }];
}

/** The result as data; images are only in the content. */
function rawOutput({ content, details }: ToolResult): unknown {
  const text = contentText(content);
  const isEmpty = details === undefined || Object.keys(Object(details)).length === 0;
  return isEmpty ? { text } : { text, details };
}
