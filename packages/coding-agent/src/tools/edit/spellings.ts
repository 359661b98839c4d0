/** A way in which models misspell a text of the file. */
export interface Spelling {
  /** Converts the misspelt text; the same conversion applies to the new text. */
  readonly convert: (text: string) => string;
  /** Whether the model may have made this mistake. */
  readonly fits: (oldText: string) => boolean;
  /** The note for the model if the converted text is found. */
  readonly words: string | undefined;
}

const unescaped: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "" };

/** In the order of attempts; the text as the model wrote it comes first. */
export const spellings: readonly Spelling[] = [
  { convert: (text) => text, fits: () => true, words: undefined },
  {
    // Handles a whole argument that was escaped once too often.
    convert: (text) =>
      text.replace(/\\([ntr"'`\\])/g, (_, kind: string) => unescaped[kind] ?? kind),
    fits: (text) => /\\[nt"'`\\]/.test(text),
    words:
      "oldText was escaped twice (\\n, \\t or quotes), and was read without that, like newText",
  },
  {
    convert: (text) => text.replace(/\\([nt])/g, (_, kind: string) => unescaped[kind] ?? kind),
    fits: (text) => /\\[nt]/.test(text),
    words: "\\n or \\t in oldText was read as a line break or tab, as in newText",
  },
  {
    convert: (text) => text.replaceAll("\n", "\\n"),
    fits: (text) => text.includes("\n"),
    words: "the file has \\n where oldText has line breaks; newText was read the same way",
  },
];
