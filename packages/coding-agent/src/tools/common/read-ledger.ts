const maxEntries = 200;

/** Remembers which files were shown truncated, so that a model cannot write a part back as the whole file. */
export class ReadLedger {
  readonly #views = new Map<string, string>();

  /** Notes the truncated view of a file, or with `undefined` that it was shown completely. */
  note(file: string, truncatedView: string | undefined): void {
    this.#views.delete(file);
    if (truncatedView === undefined) return;
    this.#views.set(file, fingerprint(truncatedView));
    const oldest = this.#views.keys().next().value;
    if (this.#views.size > maxEntries && oldest !== undefined) this.#views.delete(oldest);
  }

  /** Whether `content` is exactly the truncated view of the file that was last shown. */
  isTruncatedView(file: string, content: string): boolean {
    const view = this.#views.get(file);
    return view !== undefined && view === fingerprint(content);
  }
}

// A plain hash is enough, because nobody forges a view. Loading node:crypto would slow the start by
// 5 to 8 ms (`start-up` in the benchmark).
function fingerprint(text: string): string {
  const trimmed = text.trimEnd();
  let hash = 0;
  for (let index = 0; index < trimmed.length; index++) {
    hash = (Math.imul(hash, 31) + trimmed.charCodeAt(index)) | 0;
  }
  return `${trimmed.length}:${hash}`;
}
