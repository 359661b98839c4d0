/**
 * What an option takes if not exactly one value. `optional` takes the next word unless that is an option or a file.
 */
type OptionKind = "switch" | "list" | "optional";

/** An option of a command; its key in the table is its long name. */
export interface OptionRow {
  /** By default, the option takes one value. */
  readonly kind?: OptionKind;
  /** Without the dash; as in pi, some short names have several letters. */
  readonly short?: string;
  readonly choices?: readonly string[];
  /** The placeholder for the value in help; `value` by default. */
  readonly value?: string;
  /** Whether the value is a path that a shell should complete. */
  readonly isPath?: boolean;
  /** Whether an empty value is rejected; an empty path always is. */
  readonly isNeverEmpty?: boolean;
  readonly help: string;
  /** The member of the parsed options that holds the value; by default the long name in camel case. */
  readonly key?: string;
  /** The member that holds the value of a switch if one is given after `=`. */
  readonly inlineKey?: string;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type KeyOf<Name, Row> = Row extends { readonly key: infer Key extends string }
  ? Key
  : CamelCase<Name & string>;

export type OptionValue<Row extends OptionRow, Kind = Row["kind"]> = Kind extends "switch"
  ? boolean
  : Kind extends "list"
    ? readonly string[]
    : Row extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;

export type ListValues<Table extends OptionTable> = {
  [Name in keyof Table as Table[Name]["kind"] extends "list"
    ? KeyOf<Name, Table[Name]>
    : never]: string[];
};

/** The values of a table's options by key; a list option that is not given is empty. */
export type OptionValues<Table extends OptionTable> = ListValues<Table> & {
  [Name in keyof Table as Table[Name]["kind"] extends "list"
    ? never
    : KeyOf<Name, Table[Name]>]?: OptionValue<Table[Name]>;
};

export function keyOf(name: string, { key }: OptionRow): string {
  return key ?? name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
