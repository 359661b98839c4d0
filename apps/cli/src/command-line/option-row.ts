/** `optional`: takes the next word unless that is an option or a file. */
export type OptionKind = "switch" | "value" | "list" | "optional";

/** An option of a command; its long name is its key in the table. */
export interface OptionRow {
  readonly kind: OptionKind;
  /** Without the dash; some have several letters, as in pi. */
  readonly short?: string;
  readonly choices?: readonly string[];
  /** What stands for the value in help; `value` by default. */
  readonly value?: string;
  /** Whether the value is a path, which a shell completes. */
  readonly isPath?: boolean;
  /** Whether an empty value is a mistake; an empty path always is one. */
  readonly isNeverEmpty?: boolean;
  readonly help: string;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;
