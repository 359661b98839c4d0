import type { BlockKey, Delta } from "../provider.ts";
import { MemberSplitter } from "./member-splitter.ts";
import { asJson } from "./odd-values.ts";

/** A call whose real name may not be known yet. */
interface NamedCall {
  readonly id: string | undefined;
  readonly splitter: MemberSplitter;
  /** Whether the assembler knows the real name. */
  isNamed: boolean;
}

/**
 * Converts calls of the tool that calls other tools by name into calls of those tools. A call is shown once
 * its real name is known; its arguments are those of the other tool, as they stream.
 */
export class NamedCalls {
  readonly #caller: string;
  readonly #open = new Map<BlockKey, NamedCall>();

  /** @param caller - the vendor's name of the calling tool */
  constructor(caller: string) {
    this.#caller = caller;
  }

  /** The deltas for the assembler instead of this one; undefined to keep it. */
  read(delta: Delta): readonly Delta[] | undefined {
    if (delta.type === "tool_call") return this.#readCall(delta);
    if (delta.type === "block_end") return this.#end(delta);
    if (delta.type !== "stop" || this.#open.size === 0) return undefined;
    const ends = [...this.#open.keys()].map((key) => this.#end({ type: "block_end", key }));
    return [...ends.flatMap((deltas) => deltas ?? []), delta];
  }

  #readCall(delta: Delta & { type: "tool_call" }): readonly Delta[] | undefined {
    const { key, id, name } = delta;
    let call = this.#open.get(key);
    if (call === undefined) {
      if (name !== this.#caller) return undefined;
      call = { id, splitter: new MemberSplitter("name", "arguments"), isNamed: false };
      this.#open.set(key, call);
    }
    return this.#forward(key, call, call.splitter.feed(asJson(delta.arguments)));
  }

  #forward(key: BlockKey, call: NamedCall, piece: string): readonly Delta[] {
    const { named } = call.splitter;
    if (named === undefined || (call.isNamed && piece === "")) return [];
    const isFirst = !call.isNamed;
    call.isNamed = true;
    const begin = isFirst && { name: named, ...(call.id !== undefined && { id: call.id }) };
    return [{ type: "tool_call", key, ...begin, arguments: piece }];
  }

  #end(delta: Delta & { type: "block_end" }): readonly Delta[] | undefined {
    const { key } = delta;
    const call = this.#open.get(key);
    if (call === undefined) return undefined;
    this.#open.delete(key);
    const { splitter } = call;
    const whole = delta.arguments === undefined ? splitter.text : asJson(delta.arguments);
    const missing = whole.startsWith(splitter.text) ? whole.slice(splitter.text.length) : "";
    const rest = this.#forward(key, call, splitter.feed(missing) + splitter.end());
    const end: Delta = { type: "block_end", key };
    if (call.isNamed) return [...rest, end];
    // The call names no tool, so the loop answers it as a call of the calling tool itself.
    const begin = { name: this.#caller, ...(call.id !== undefined && { id: call.id }) };
    return [{ type: "tool_call", key, ...begin, arguments: whole }, end];
  }
}
