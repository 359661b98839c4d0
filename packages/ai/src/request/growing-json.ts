import { isSameList } from "./same-list.ts";

/** Above this many characters, which only images reach, memory matters more than time. */
const mostKept = 8 * 1024 * 1024;

interface Sent {
  /** The whole request in one string: sending flattens it, and the next request takes a substring. */
  readonly text: string;
  /** Where its list begins. */
  readonly start: number;
  readonly items: readonly unknown[];
  /** The end of each item, counted from the beginning of the list. */
  readonly ends: readonly number[];
  /** All members in order; the list's own place is empty. */
  readonly members: readonly (WrittenMember | undefined)[];
}

interface WrittenMember {
  readonly name: string;
  readonly value: unknown;
  /** Name and value; undefined if JSON leaves the member out. */
  readonly text: string | undefined;
}

const nothing: Sent = { text: "", start: 0, items: [], ends: [], members: [] };

/**
 * The JSON of requests that each repeat the previous request's list and extend it. Items at the start of the
 * list that have not changed are not serialized again, so that a long conversation costs little more than a
 * short one (row `read-turn-growth`); neither are the other members, such as the tools. What the request consists
 * of must never change.
 */
export class GrowingJson {
  /**
   * The last request, as a weak reference: it is as large as the conversation, and most sessions are idle
   * (rows `many-sessions`).
   */
  #last: WeakRef<Sent> | undefined;

  /** The same text as `JSON.stringify(request)`; `list` names the member that grows. */
  of(request: object, list: string): string {
    const members = Object.entries(request);
    const at = members.findIndex(([name, value]) => name === list && Array.isArray(value));
    if (at === -1) return JSON.stringify(request);
    const last = this.#last?.deref() ?? nothing;
    const written = members.map((member, index) =>
      index === at ? undefined : writeMember(member, last.members[index]),
    );
    const textsOf = (some: typeof written) => some.flatMap((member) => member?.text ?? []);
    const head = `{${[...textsOf(written.slice(0, at)), `${JSON.stringify(list)}:[`].join(",")}`;
    const tail = `${["]", ...textsOf(written.slice(at + 1))].join(",")}}`;
    const items: readonly unknown[] = Object(request)[list];
    const known = countKnown(last, items);
    const ends = last.ends.slice(0, known);
    let text = head + last.text.slice(last.start, last.start + (ends.at(-1) ?? 0));
    for (const [index, item] of items.slice(known).entries()) {
      text += itemText(item, known + index);
      ends.push(text.length - head.length);
    }
    text += tail;
    const isKept = text.length <= mostKept;
    const sent = { text, start: head.length, items: [...items], ends, members: written };
    this.#last = isKept ? new WeakRef(sent) : undefined;
    return text;
  }
}

/**
 * How many items are the same as at the start of the last list; the system prompt is compared by content,
 * because its object is new each time.
 */
function countKnown(last: Sent, items: readonly unknown[]): number {
  const most = Math.min(items.length, last.items.length);
  for (let at = 0; at < most; at++) {
    const item = items[at];
    if (item !== last.items[at] && itemText(item, at) !== textOf(last, at)) return at;
  }
  return most;
}

function textOf({ text, start, ends }: Sent, at: number): string {
  return text.slice(start + (ends[at - 1] ?? 0), start + (ends[at] ?? 0));
}

/** An item with the comma before it. */
function itemText(item: unknown, at: number): string {
  const json = JSON.stringify(item) ?? "null";
  return at === 0 ? json : `,${json}`;
}

function writeMember(
  [name, value]: readonly [string, unknown],
  last: WrittenMember | undefined,
): WrittenMember {
  if (last?.name === name && isSame(last.value, value)) return last;
  const json = JSON.stringify(value);
  const text = json === undefined ? undefined : `${JSON.stringify(name)}:${json}`;
  return { name, value, text };
}

/** Whether two values have the same JSON, as the tools of two requests do. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  return Array.isArray(left) && Array.isArray(right) && isSameList(left, right);
}
