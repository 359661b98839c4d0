import { nearestHint } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { OptionRow, OptionTable } from "./option-row.ts";

/** An option as it was typed. */
interface TypedOption {
  readonly shown: string;
  readonly value: string | undefined;
  /** Whether the value comes after an equals sign. */
  readonly isInline: boolean;
}

/**
 * The value of an option that exists.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function checkedValue(
  { kind, choices }: OptionRow,
  { shown, value, isInline }: TypedOption,
): string | true {
  if (kind === "switch") {
    if (isInline) refuse(shown, "it takes no value");
    return true;
  }
  if (value === undefined) refuse(shown, "it needs a value");
  if (choices !== undefined && !choices.includes(value)) {
    const hint = nearestHint(value, choices);
    refuse(shown, `${JSON.stringify(value)} is not one of ${choices.join(", ")}${hint}`);
  }
  return value;
}

/**
 * Refuses a long option that nobody knows.
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
 * Refuses a short option that nobody knows.
 *
 * @throws {ProtocolError} `invalid_option` with a long one that was probably meant
 */
export function refuseShort(shown: string, table: OptionTable, place = "tau --help"): never {
  const hint = nearestHint(shown.slice(1), Object.keys(table), "--");
  refuse(shown, `there is no such option${hint || `; see ${place}`}`);
}

/** @throws {ProtocolError} `invalid_option` */
export function refuse(option: string, reason: string): never {
  throw new ProtocolError("invalid_option", { option, reason });
}
