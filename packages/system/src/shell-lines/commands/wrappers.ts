import type { OptionRow } from "./options.ts";

export interface WrapperRow extends OptionRow {
  /** The number of words between the options and the command, such as the duration of `timeout`. */
  readonly operands?: number;
  readonly takesAssignments?: true;
  /** With one of these options the wrapper runs no command. */
  readonly lookUps?: RegExp;
  /** The wrapper changes what the other command does, so a rule has to allow the wrapper itself. */
  readonly isOwnCommand?: true;
}

const elevated: WrapperRow = {
  flags: "nEHSkKAbPB",
  valued: "ugpChRT",
  long: ["non-interactive", "preserve-env", "set-home", "stdin", "background"],
  longValued: ["user", "group", "prompt", "host"],
  takesAssignments: true,
  isOwnCommand: true,
};

/** A line with an option that is missing here is not understood. */
export const wrappers: ReadonlyMap<string, WrapperRow> = new Map<string, WrapperRow>([
  [
    "env",
    {
      flags: "i0v",
      valued: "u",
      long: ["ignore-environment", "null", "debug"],
      longValued: ["unset"],
      takesAssignments: true,
    },
  ],
  ["command", { flags: "p", lookUps: /^-p*[vV]/ }],
  ["builtin", {}],
  ["exec", { flags: "cl", valued: "a" }],
  ["nohup", {}],
  ["nice", { flags: "0123456789", valued: "n", longValued: ["adjustment"] }],
  [
    "ionice",
    {
      flags: "t",
      valued: "cn",
      long: ["ignore"],
      longValued: ["class", "classdata"],
      lookUps: /^-[pPu]/,
    },
  ],
  [
    "timeout",
    {
      flags: "vfp",
      valued: "sk",
      long: ["preserve-status", "foreground", "verbose"],
      longValued: ["signal", "kill-after"],
      operands: 1,
    },
  ],
  ["setsid", { flags: "cfw", long: ["ctty", "fork", "wait"] }],
  ["stdbuf", { valued: "ioe", longValued: ["input", "output", "error"] }],
  ["time", { flags: "pv", long: ["portability", "verbose"] }],
  ["chrt", { flags: "abfior", operands: 1 }],
  ["taskset", { flags: "ac", operands: 1, lookUps: /^-a?c?p/ }],
  ["sudo", elevated],
  ["doas", { flags: "nL", valued: "u", isOwnCommand: true }],
  [
    "xargs",
    {
      flags: "0rtpxo",
      valued: "nPLsIEdaJRS",
      attached: "ile",
      long: [
        "null",
        "no-run-if-empty",
        "verbose",
        "interactive",
        "exit",
        "open-tty",
        "replace",
        "eof",
        "max-lines",
      ],
      longValued: ["max-args", "max-procs", "max-chars", "delimiter", "arg-file"],
      isOwnCommand: true,
    },
  ],
]);
