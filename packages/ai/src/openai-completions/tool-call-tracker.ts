import type { Delta } from "../provider.ts";
import type { ToolCallPiece } from "./chunk.ts";

interface Call {
  readonly key: string;
  readonly slot: number;
  id: string | undefined;
  name: string | undefined;
  /** The last characters of the arguments are enough to tell whether they may be closed. */
  readonly pieces: string[];
}

/** Tells which piece belongs to which call, with indices and ids missing, repeated or changing. */
export class ToolCallTracker {
  readonly #calls: Call[] = [];
  readonly #bySlot = new Map<number, Call>();

  /** The deltas of one piece. */
  *read(piece: ToolCallPiece): Generator<Delta> {
    const id = piece.id || undefined;
    const name = piece.function?.name || undefined;
    const call = this.#find(piece, id, name) ?? this.#open(piece.index ?? this.#calls.length);
    const text = argumentsText(piece.function?.arguments);
    const isNewName = call.name === undefined && name !== undefined;
    call.id ??= id;
    call.name ??= name;
    if (text) call.pieces.push(text);
    yield {
      type: "tool_call",
      key: call.key,
      ...(call.id !== undefined && (isNewName || id === call.id) && { id: call.id }),
      ...(isNewName && { name }),
      ...(text && { arguments: text }),
    };
  }

  /** Ends every call in order of appearance. */
  *end(): Generator<Delta> {
    for (const { key } of this.#calls) yield { type: "block_end", key };
  }

  #find(piece: ToolCallPiece, id: string | undefined, name: string | undefined): Call | undefined {
    const { index } = piece;
    if (index === undefined || index === null) {
      const known = id === undefined ? undefined : this.#calls.find((call) => call.id === id);
      if (known !== undefined) return known;
      const last = this.#calls.at(-1);
      const isNew =
        name !== undefined && (last?.name === undefined || id !== undefined || isClosed(last));
      return isNew && last?.name !== undefined ? undefined : last;
    }
    const call = this.#bySlot.get(index);
    // Some servers change the id of a running call, others reuse index 0 for the next one.
    const mayBeNext =
      id !== undefined && name !== undefined && call?.id !== undefined && id !== call.id;
    return call !== undefined && mayBeNext && isClosed(call) ? undefined : call;
  }

  #open(slot: number): Call {
    const key = `call:${this.#calls.length}`;
    const call: Call = { key, slot, id: undefined, name: undefined, pieces: [] };
    this.#calls.push(call);
    this.#bySlot.set(slot, call);
    return call;
  }
}

/** Some servers send the arguments as an object at once. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function isClosed(call: Call): boolean {
  if (!call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(call.pieces.join(""));
    return true;
  } catch {
    return false;
  }
}
