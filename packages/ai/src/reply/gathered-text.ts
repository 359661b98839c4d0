import type { Delta } from "../provider.ts";

type TextDelta = Extract<Delta, { type: "text" | "thinking" }>;

/** Joins the text that follows in the same burst, so that it becomes one event. */
export class GatheredText {
  #text: TextDelta | undefined;

  /** Whether text is held back. */
  get isHeld(): boolean {
    return this.#text !== undefined;
  }

  /** Takes a delta and returns those that are complete; text is held back until something else comes. */
  take(delta: Delta): readonly Delta[] {
    const held = this.#text;
    if (!isText(delta)) {
      this.#text = undefined;
      return held === undefined ? [delta] : [held, delta];
    }
    const isMore = held !== undefined && held.type === delta.type && held.key === delta.key;
    this.#text = isMore ? { ...held, text: held.text + delta.text } : delta;
    return isMore || held === undefined ? nothing : [held];
  }

  /** Returns the text that was held back. */
  release(): readonly Delta[] {
    const held = this.#text;
    this.#text = undefined;
    return held === undefined ? nothing : [held];
  }
}

const nothing: readonly Delta[] = [];

/** Vendors send anything, but only texts can be joined. */
function isText(delta: Delta): delta is TextDelta {
  return (delta.type === "text" || delta.type === "thinking") && typeof delta.text === "string";
}
