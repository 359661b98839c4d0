import type { Diagnostic } from "@tau-agent/coding-agent";
import { CodedError } from "@tau-agent/rpc-protocol/plain";

/** What a user of the command line does about a kind of problem. */
const hints = {
  project_untrusted: " Start with --approve in that folder to trust it.",
  session_write_failed:
    " Choose another folder with --session-dir, or keep the session in memory with --no-session.",
} as const;

/** The flags of options that the library names. */
const flags = { provider: "--provider", tools: "--tools", "session.id": "--session-id" } as const;

/** What to do about a problem, as a sentence to add; empty if its text says so. */
export function hintFor(code: string | undefined): string {
  return code !== undefined && Object.hasOwn(hints, code) ? hints[code as keyof typeof hints] : "";
}

/** The text of an error of the library, in words of the command line. */
export function commandLineText(error: Error): string {
  const { message, cause } = error;
  const { isFatal } = Object(cause) as Partial<Diagnostic>;
  if (isFatal === "untrusted") return `${message}${hints.project_untrusted}`;
  if (error instanceof CodedError) return `${inFlags(message)}${hintFor(error.code)}`;
  return inFlags(message);
}

function inFlags(message: string): string {
  return message.replace(/^Invalid option ([\w.]+):/, (text, name: string) =>
    Object.hasOwn(flags, name) ? `Invalid option ${flags[name as keyof typeof flags]}:` : text,
  );
}
