import { ProtocolError } from "@tau-agent/rpc-protocol";
import { nearestHint } from "@tau-agent/rpc-protocol/plain";
import type { OptionRow, OptionTable } from "./option-row.ts";

interface TypedOption {
  readonly shown: string;
  readonly value: string | undefined;
  /** Whether the value comes after an equals sign. */
  readonly isInline: boolean;
}

/**
 * The value of a known option.
 *
 * @param table - all options: if the next word is one of them, the value is missing
 * @throws {ProtocolError} `invalid_option`
 */
export function checkedValue(
  { kind, choices, isPath = false, isNeverEmpty = isPath }: OptionRow,
  { shown, value, isInline }: TypedOption,
  table: OptionTable,
): string | true {
  if (kind === "switch") {
    if (isInline) refuse(shown, "it takes no value");
    return true;
  }
  if (value === undefined) refuse(shown, "it needs a value");
  if (value === "" && isNeverEmpty) refuse(shown, "it needs a value that is not empty");
  if (!isInline && isOption(value, table)) {
    const asValue = shown.startsWith("--") ? `; if that is the value, write ${shown}=${value}` : "";
    refuse(shown, `it needs a value, and ${value} is an option${asValue}`);
  }
  if (choices !== undefined && !choices.includes(value)) {
    const hint = nearestHint(value, choices);
    refuse(shown, `${JSON.stringify(value)} is not one of ${choices.join(", ")}${hint}`);
  }
  return value;
}

/** Whether a word is an option of the table, alone or with a value after an equals sign. */
function isOption(word: string, table: OptionTable): boolean {
  const [, long] = /^--([\w-]+)(?:=|$)/.exec(word) ?? [];
  if (long !== undefined) return Object.hasOwn(table, long);
  return Object.values(table).some(({ short }) => short !== undefined && word === `-${short}`);
}

/**
 * Refuses an unknown long option.
 *
 * @param place - where the options are listed, such as `tau --help`
 *
 * @throws {ProtocolError} `invalid_option` with the nearest name
 */
export function refuseLong(name: string, names: Iterable<string>, place: string): never {
  const hint = nearestHint(name, names, "--");
  refuse(`--${name}`, `there is no such option${hint || `; see ${place}`}`);
}

/**
 * Refuses an unknown short option.
 *
 * @throws {ProtocolError} `invalid_option` with the long option that was probably meant
 */
export function refuseShort(shown: string, table: OptionTable, place = "tau --help"): never {
  const hint = nearestHint(shown.slice(1), Object.keys(table), "--");
  refuse(shown, `there is no such option${hint || `; see ${place}`}`);
}

/**
 * Parses an option whose value is a whole number.
 *
 * @param pattern - the digits allowed
 * @throws {ProtocolError} `invalid_option`
 */
export function wholeNumber(
  option: string,
  value: string | undefined,
  { pattern = /^[1-9]\d{0,8}$/, what = "is not a number of milliseconds" } = {},
): number | undefined {
  if (value === undefined) return undefined;
  if (pattern.test(value)) return Number(value);
  return refuse(option, `${JSON.stringify(value)} ${what}`);
}

/** @throws {ProtocolError} `invalid_option` */
export function refuse(option: string, reason: string): never {
  throw new ProtocolError("invalid_option", { option, reason });
}
