export interface ShellWord {
  /** The text without quotes; variables and patterns as written. */
  readonly text: string;
  /** The shell passes exactly `text`. */
  readonly isLiteral: boolean;
  /** The expanded word may begin with anything, or be several words: `$x`, `*.txt`. */
  readonly isOpen: boolean;
  /** The word may expand to no word or to several, because an expansion is outside of double quotes. */
  readonly maySplit: boolean;
  /** The word begins with a tilde that the shell replaces. */
  readonly hasTilde: boolean;
}
