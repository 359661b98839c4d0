import type { Assignment, Word, WordPart } from "unbash";

/** A word of a command, with what matters of its quotes. */
export interface ShellWord {
  /** Without quotes; variables and patterns as written. */
  readonly text: string;
  /** The shell passes exactly `text`. */
  readonly isLiteral: boolean;
  /** What the word becomes may begin with anything, or may be several words: `$x`, `*.txt`. */
  readonly isOpen: boolean;
  /** It begins with a tilde that the shell replaces. */
  readonly hasTilde: boolean;
}

/** The parser's word as a word of ours. */
export function toShellWord(word: Word): ShellWord {
  const parts = word.parts ?? [];
  return {
    text: word.value,
    isLiteral: parts.every(isLiteralPart),
    isOpen: parts.some(maySplit) || isExpansion(parts[0]),
    hasTilde: word.text.startsWith("~"),
  };
}

/** A word that the shell passes as it is. */
export function literalWord(text: string): ShellWord {
  return { text, isLiteral: true, isOpen: false, hasTilde: false };
}

/** An argument such as that of `export`, which is an assignment for the parser. */
export function assignmentWord({ name, append, index, value, text }: Assignment): ShellWord {
  // An array, or one member of an array: nobody writes rules for it.
  if (value.type === "ArrayValue" || index !== undefined) return literalWord(text);
  const word = toShellWord(value);
  return { ...word, text: `${name}${append ? "+=" : "="}${word.text}`, isOpen: false };
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return true;
    case "DoubleQuoted":
      return part.parts.every((child) => child.type === "Literal");
    default:
      return false;
  }
}

/** Outside of quotes, patterns and variables can become any number of words. */
function maySplit(part: WordPart): boolean {
  return !isLiteralPart(part) && part.type !== "DoubleQuoted" && part.type !== "LocaleString";
}

function isExpansion(part: WordPart | undefined): boolean {
  if (part?.type !== "DoubleQuoted") return part !== undefined && !isLiteralPart(part);
  const [first] = part.parts;
  return first !== undefined && first.type !== "Literal";
}
