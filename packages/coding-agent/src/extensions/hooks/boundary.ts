import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { SessionLog } from "@tau-agent/sessions/log";
import { toLlmMessages } from "../../user-input/llm-messages.ts";
import { ExtensionError } from "../api/errors.ts";
import type { Boundary, BoundaryDraft, BoundaryResult, ExtensionEvent } from "../api/events.ts";
import type { SessionPort } from "../port/session-port.ts";
import type { ExtensionRunner } from "./runner.ts";

type BoundaryName = "turn_end" | "agent_before_settle";

/** A boundary before any handler has made a request. */
type BareBoundary = {
  [Name in BoundaryName]: Omit<ExtensionEvent<Name>, "entries" | "continue" | "context">;
}[BoundaryName];

type BoundaryPort = Pick<SessionPort, "messagesWith" | "pendingMessages" | "addEntries">;

/**
 * Asks extensions for entries at the end of a turn or a run, and writes them.
 *
 * @returns whether to call the model once more; false if it has nothing to answer
 */
export async function askBoundary(
  runner: ExtensionRunner,
  port: BoundaryPort,
  bare: BareBoundary,
): Promise<boolean> {
  let entries: readonly BoundaryDraft[] = [];
  let wantsMore = false;
  const event = () =>
    withPreview({ ...bare, entries, continue: wantsMore }, port) as ExtensionEvent<BoundaryName>;
  await runner.each(bare.type as BoundaryName, event, {
    take: (result: BoundaryResult) => {
      if (result.entries !== undefined) {
        checkDrafts(result.entries);
        entries = [...result.entries];
      }
      if (typeof result.continue === "boolean") wantsMore = result.continue;
      return undefined;
    },
  });
  try {
    if (entries.length > 0) await port.addEntries(entries);
    if (wantsMore && !previewOf(port, []).canContinue) {
      const text =
        "An extension asked for another turn, but there is nothing for the model to answer";
      throw new ExtensionError("not_ready", text);
    }
    return wantsMore;
  } catch (error) {
    runner.report(bare.type, error);
    return false;
  }
}

/** The preview takes time proportional to the session's length, so it is built on first read. */
function withPreview<Event extends { readonly entries: readonly BoundaryDraft[] }>(
  event: Event,
  port: BoundaryPort,
): Event & Pick<Boundary, "context"> {
  return Object.defineProperty(event, "context", {
    get: () => previewOf(port, event.entries),
    enumerable: true,
  }) as Event & Pick<Boundary, "context">;
}

function previewOf(port: BoundaryPort, drafts: readonly BoundaryDraft[]): Boundary["context"] {
  const contextMessages = port.messagesWith(drafts);
  const llmMessages = toLlmMessages(contextMessages);
  const { pendingMessages } = port;
  const last = llmMessages.at(-1)?.role;
  const hasOpenEnd = last !== undefined && last !== "assistant";
  const canContinue = hasOpenEnd || pendingMessages.length > 0;
  return { contextMessages, llmMessages, pendingMessages, canContinue };
}

const draftFields: Readonly<Record<string, (draft: Record<string, unknown>) => boolean>> = {
  custom: ({ customType }) => typeof customType === "string",
  custom_message: ({ customType, content }) =>
    typeof customType === "string" && (typeof content === "string" || Array.isArray(content)),
  context_edit: ({ targetId, replacement }) =>
    typeof targetId === "string" && typeof replacement === "object",
  compaction: ({ summary, firstKeptEntryId }) =>
    typeof summary === "string" &&
    (firstKeptEntryId === null || typeof firstKeptEntryId === "string"),
};

function checkDrafts(drafts: unknown): void {
  const isDraft = (draft: unknown): boolean => {
    if (typeof draft !== "object" || draft === null) return false;
    const fields = draft as Record<string, unknown>;
    return draftFields[String(fields.type)]?.(fields) ?? false;
  };
  if (Array.isArray(drafts) && drafts.every(isDraft)) return;
  const kinds = Object.keys(draftFields).join(", ");
  throw new ExtensionError("handler_failed", `entries must be a list of entries: ${kinds}`);
}

/** The entry ids of these messages, searched from the leaf; none if a message is missing. */
export function entryIds(log: SessionLog, messages: readonly AgentMessage[]): string[] {
  const ids = new Map<unknown, string>();
  const { tree } = log;
  let entry = tree.leafId === null ? undefined : tree.get(tree.leafId);
  for (let left = messages.length * 2 + 8; entry !== undefined && left > 0; left -= 1) {
    if (entry.type === "message") ids.set((entry as { message?: unknown }).message, entry.id);
    entry = entry.parentId === null ? undefined : tree.get(entry.parentId);
  }
  return messages.map((message) => ids.get(message) ?? "");
}
