import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { fieldText } from "./facts.ts";
import { messageOf, type SessionOutline } from "./session-outline.ts";

/** The facts that change from entry to entry, so that the page need not repeat them. */
export interface EntryTimes {
  /** How long the model took for a reply, from the message or result before it; in ms. */
  replyMs(index: number): number | undefined;
  /** How long a tool took for its result, without the wait for an approval; in ms. */
  resultMs(index: number): number | undefined;
  /** Whether an entry is the first on another day than the previous prompt. */
  isNewDay(index: number): boolean;
  isNewModel(index: number): boolean;
}

/** Reads the times of entries; times that are missing or run backwards are left out. */
export function readTimes(outline: SessionOutline): EntryTimes {
  const { entries, parents, nested } = outline;
  const times = entries.map(({ timestamp }) => timeOf(timestamp));
  const above = latestAbove(outline);
  const answers = answersIn(outline);
  const messages = (index: number | undefined) => messageAt(outline, index);
  return {
    replyMs(index) {
      const before = above.message[parents[index] ?? -1];
      // After any other entry, the pause before a continued run would count.
      const isRequest = requestRoles.has(fieldText(messages(before)?.role));
      const start = isRequest ? times[before ?? -1] : timeOf(messages(index)?.timestamp);
      return difference(start, times[index]);
    },
    resultMs(index) {
      const reply = nested.get(index);
      const { toolCallId, timestamp } = messages(index) ?? {};
      const answer = answers.get(fieldText(toolCallId));
      const start = times[answer !== undefined && answer < index ? answer : (reply ?? -1)];
      const end = timeOf(timestamp);
      return difference(start, end) ?? difference(start, times[index]);
    },
    isNewDay(index) {
      const before = above.prompt[parents[index] ?? -1];
      return dayOf(times[index]) !== dayOf(times[before ?? -1]);
    },
    isNewModel(index) {
      const before = above.reply[parents[index] ?? -1];
      return modelOf(messages(index)) !== modelOf(messages(before));
    },
  };
}

export function modelOf(message: Readonly<Record<string, unknown>> | undefined): string {
  return fieldText(message?.responseModel ?? message?.model ?? "");
}

const requestRoles: ReadonlySet<string> = new Set(["user", "toolResult", "custom"]);

/** For each entry, the last entry of a kind on its branch, including itself. */
function latestAbove(outline: SessionOutline) {
  const message: number[] = [];
  const prompt: number[] = [];
  const reply: number[] = [];
  for (const [index, parent] of outline.parents.entries()) {
    const role = messageAt(outline, index)?.role;
    message.push(role === undefined ? (message[parent] ?? -1) : index);
    prompt.push(role === "user" ? index : (prompt[parent] ?? -1));
    reply.push(role === "assistant" ? index : (reply[parent] ?? -1));
  }
  return { message, prompt, reply };
}

/** The answers that allowed or denied calls, by call id. */
function answersIn({ entries }: SessionOutline): Map<string, number> {
  const answers = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const { type, phase, toolCallId } = entry as Readonly<Record<string, unknown>>;
    if (type === "approval" && phase === "answered") answers.set(fieldText(toolCallId), index);
  }
  return answers;
}

/** The message of an entry; an extension's message counts, too. */
function messageAt(
  { entries }: SessionOutline,
  index: number | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const entry = entries[index ?? -1];
  if (entry === undefined) return undefined;
  return entry.type === "custom_message" && isJsonObject(entry)
    ? { ...entry, role: "custom" }
    : messageOf(entry);
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && Number.isFinite(time) ? time : undefined;
}

function dayOf(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.floor(time / 86_400_000);
}

function difference(start: number | undefined, end: number | undefined): number | undefined {
  if (start === undefined || end === undefined || end < start) return undefined;
  return end - start;
}
