export interface ShellWord {
  /** Without quotes; variables and patterns as written. */
  readonly text: string;
  /** The shell passes exactly `text`. */
  readonly isLiteral: boolean;
  /** What the word becomes may begin with anything, or may be several words: `$x`, `*.txt`. */
  readonly isOpen: boolean;
  /** It may become no word or several words, because an expansion is outside of double quotes. */
  readonly maySplit: boolean;
  /** It begins with a tilde that the shell replaces. */
  readonly hasTilde: boolean;
}
