import { CodedError, type ErrorCode } from "@tau-agent/rpc-protocol";

/**
 * The exit codes of tau, for scripts and supervisors; those named after error codes mean that the start was refused.
 */
export const exitCodes: readonly {
  readonly exitCode: number;
  readonly errorCodes?: readonly ErrorCode[];
  readonly meaning: string;
}[] = [
  { exitCode: 0, meaning: "All went well." },
  {
    exitCode: 1,
    meaning: "The command line has a mistake, the start failed otherwise, or the prompt did.",
  },
  { exitCode: 2, meaning: "The prompt is paused: it goes on with --resume-interrupted." },
  {
    exitCode: 3,
    errorCodes: ["session_locked", "session_lost"],
    meaning: "Another process holds the session.",
  },
  { exitCode: 4, errorCodes: ["session_damaged"], meaning: "The session is damaged." },
  {
    exitCode: 5,
    errorCodes: ["workspace_unreachable"],
    meaning: "The workspace cannot be reached.",
  },
];

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CodedError)) return 1;
  return exitCodes.find(({ errorCodes }) => errorCodes?.includes(error.code))?.exitCode ?? 1;
}
