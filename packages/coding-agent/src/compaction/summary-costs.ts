import type { Usage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, USAGE_ENTRY } from "@tau-agent/sessions/log";

type EntryWriter = Pick<Conversation, "append">;

/** Receives the usage of each request, including failed ones. */
export type NoteUsage = (usage: Usage) => void;

export interface UsageBudget {
  addUsage(usage: Usage): void;
}

/**
 * Runs work that requests summaries, and accounts for all its requests. Usage that no summary entry
 * can record, because there is none, goes into a separate entry. The budget receives the sum.
 */
export async function accountForSummary<T>(
  { conversation, budget }: { conversation: EntryWriter; budget: UsageBudget },
  work: (note: NoteUsage, total: () => Usage | undefined) => Promise<T>,
): Promise<T> {
  let spent: Usage | undefined;
  const note: NoteUsage = (usage) => {
    spent = addUsage(spent, usage);
  };
  try {
    return await work(note, () => spent);
  } catch (error) {
    if (isAnything(spent)) keep(conversation, spent);
    throw error;
  } finally {
    if (spent !== undefined) budget.addUsage(spent);
  }
}

function isAnything(usage: Usage | undefined): usage is Usage {
  if (usage === undefined) return false;
  const { input, output, cacheRead, cacheWrite } = usage;
  return input + output + cacheRead + cacheWrite > 0;
}

function keep(conversation: EntryWriter, usage: Usage): void {
  try {
    conversation.append({ type: "custom", customType: USAGE_ENTRY, data: { usage } });
  } catch {
    // If the session cannot be written, the next message reports that; the first failure is thrown here.
  }
}

function addUsage(sum: Usage | undefined, added: Usage): Usage {
  if (sum === undefined) return added;
  const cost = { ...sum.cost };
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "total"] as const) {
    cost[key] += added.cost[key];
  }
  return {
    input: sum.input + added.input,
    output: sum.output + added.output,
    cacheRead: sum.cacheRead + added.cacheRead,
    cacheWrite: sum.cacheWrite + added.cacheWrite,
    totalTokens: (sum.totalTokens ?? 0) + (added.totalTokens ?? 0),
    cost,
  };
}
