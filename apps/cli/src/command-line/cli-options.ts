import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import type { HostOptionTable } from "./host-options.ts";
import type { OptionValues } from "./option-row.ts";

/** The parsed command line of a host: the values of its options, and all other words. */
export interface CliOptions extends OptionValues<HostOptionTable> {
  /** The contents of the policies among the options; read once, so that they cannot change while the host runs. */
  policy: readonly ManagedPolicy[];
  /** Long flags unknown to this version; extensions may declare them. */
  unknown: Map<string, string | true>;
  /** Whether all unknown flags are known to be declared, or another host has checked them. */
  areUnknownSettled?: boolean;
  /** Words after unknown flags; they become prompts again if the flag turns out to be a switch. */
  borrowed: readonly BorrowedWord[];
  /** `@file` arguments without the `@`. */
  files: string[];
  messages: string[];
  /** The first word before `--` that is neither a flag nor a value. */
  firstWord?: string;
}

/** A word that is either the value of a flag or a prompt. */
export interface BorrowedWord {
  readonly flag: string;
  readonly word: string;
  /** The number of messages before this word. */
  readonly at: number;
}
