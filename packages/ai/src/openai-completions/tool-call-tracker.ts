import { parseJson } from "@tau-agent/rpc-protocol/plain";
import type { Delta } from "../provider.ts";
import { asCount, asId, asJson } from "../reply/odd-values.ts";
import type { ToolCallPiece } from "./chunk.ts";

interface Call {
  readonly key: string;
  readonly slot: number;
  id: string | undefined;
  name: string | undefined;
  /** The last characters of the arguments are enough to decide whether they may be complete. */
  readonly pieces: string[];
}

/** Assigns pieces to calls, even if indices and ids are missing, repeated or changing. */
export class ToolCallTracker {
  readonly #calls: Call[] = [];
  readonly #bySlot = new Map<number, Call>();

  read(piece: ToolCallPiece): Delta {
    const id = asId(piece.id);
    const name = asId(piece.function?.name);
    const index = asCount(piece.index);
    const call = this.#find(index, id, name) ?? this.#open(index ?? this.#calls.length);
    const text = asJson(piece.function?.arguments);
    const isNewName = call.name === undefined && name !== undefined;
    call.id ??= id;
    call.name ??= name;
    if (text) call.pieces.push(text);
    return {
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

  #find(
    index: number | undefined,
    id: string | undefined,
    name: string | undefined,
  ): Call | undefined {
    if (index === undefined) {
      const known = id === undefined ? undefined : this.#calls.find((call) => call.id === id);
      if (known !== undefined) return known;
      const last = this.#calls.at(-1);
      const isNew =
        name !== undefined && (last?.name === undefined || id !== undefined || isClosed(last));
      return isNew && last?.name !== undefined ? undefined : last;
    }
    const call = this.#bySlot.get(index);
    // Some servers change the id of a running call; others reuse index 0 for the next one.
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

function isClosed(call: Call): boolean {
  if (!call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  return parseJson(call.pieces.join("")) !== undefined;
}
