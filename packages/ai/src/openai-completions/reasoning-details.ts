import { asText } from "../reply/odd-values.ts";
import type { ReasoningDetail } from "./chunk.ts";

interface Entry {
  members: Record<string, unknown>;
  readonly texts: string[];
  readonly summaries: string[];
}

/**
 * Collects structured reasoning for replay, in order and unchanged, except that the pieces of one detail are joined.
 */
export class ReasoningDetails {
  readonly #entries: Entry[] = [];

  /** Adds the details of one chunk. */
  add(details: readonly ReasoningDetail[]): void {
    for (const detail of details) {
      const last = this.#entries.at(-1);
      const entry = last !== undefined && continues(last, detail) ? last : this.#append();
      const { text, summary, ...members } = detail;
      for (const [name, value] of Object.entries(members)) {
        if (value !== null && value !== undefined) entry.members[name] = value;
      }
      if (text) entry.texts.push(asText(text));
      if (summary) entry.summaries.push(asText(summary));
    }
  }

  /** The collected details as JSON, or undefined when there were none. */
  toSignature(): string | undefined {
    if (this.#entries.length === 0) return undefined;
    return JSON.stringify(
      this.#entries.map(({ members, texts, summaries }) => ({
        ...members,
        ...(texts.length > 0 && { text: texts.join("") }),
        ...(summaries.length > 0 && { summary: summaries.join("") }),
      })),
    );
  }

  #append(): Entry {
    const entry: Entry = { members: {}, texts: [], summaries: [] };
    this.#entries.push(entry);
    return entry;
  }
}

/** Encrypted details arrive whole; text and summaries arrive in pieces with the same type and index. */
function continues(last: Entry, detail: ReasoningDetail): boolean {
  if (detail.type !== "reasoning.text" && detail.type !== "reasoning.summary") return false;
  return last.members.type === detail.type && last.members.index === detail.index;
}
