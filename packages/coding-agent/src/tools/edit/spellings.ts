/** A way in which models write a text that is not how the file has it. */
export interface Spelling {
  /** What the text is instead; the same conversion holds for the new text. */
  readonly convert: (text: string) => string;
  /** Whether the conversion may be what the model meant. */
  readonly fits: (oldText: string) => boolean;
  /** For the model, when the converted text is found. */
  readonly words: string | undefined;
}

const unescaped: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "" };

/** In the order in which they are tried; what the model wrote comes first. */
export const spellings: readonly Spelling[] = [
  { convert: (text) => text, fits: () => true, words: undefined },
  {
    // The whole argument was escaped once too often.
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
