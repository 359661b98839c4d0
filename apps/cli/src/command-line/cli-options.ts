import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import type { HostOptionTable } from "./host-options.ts";
import type { OptionValues } from "./option-row.ts";

/** What a command line of the host says: the values of its options, and its other words. */
export interface CliOptions extends OptionValues<HostOptionTable> {
  /** What the policies among the options say; read once, so that it cannot change while the host lives. */
  policy: readonly ManagedPolicy[];
  /** Long flags this version does not know; extensions may. */
  unknown: Map<string, string | true>;
  /** Whether all of them are known to be declared, or another host has seen to it. */
  areUnknownSettled?: boolean;
  /** Words behind unknown flags; prompts, should the flag turn out to be a switch. */
  borrowed: readonly BorrowedWord[];
  /** `@file` arguments without the `@`. */
  files: string[];
  messages: string[];
  /** The first word that is neither a flag nor a value, and comes before `--`. */
  firstWord?: string;
}

/** A word that may be the value of a flag or a prompt. */
export interface BorrowedWord {
  readonly flag: string;
  readonly word: string;
  /** The number of messages before it. */
  readonly at: number;
}
