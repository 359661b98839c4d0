import type { Diagnostic } from "@tau-agent/coding-agent";
import { CodedError, errorText } from "@tau-agent/rpc-protocol/plain";

/** What a user of the command line can do about an error, by its code. */
const hints = {
  project_untrusted: " Start with --approve in that folder to trust it.",
  session_write_failed:
    " Choose another folder with --session-dir, or keep the session in memory with --no-session.",
} as const;

const flags = { provider: "--provider", tools: "--tools", "session.id": "--session-id" } as const;

/** A hint to append to an error's text; empty if the text already contains one. */
export function hintFor(code: string | undefined): string {
  return code !== undefined && Object.hasOwn(hints, code) ? hints[code as keyof typeof hints] : "";
}

export function commandLineText(error: Error): string {
  const { message, cause } = error;
  const { isFatal } = Object(cause) as Partial<Diagnostic>;
  if (isFatal === "untrusted") return `${message}${hints.project_untrusted}`;
  return error instanceof CodedError ? `${inFlags(error)}${hintFor(error.code)}` : message;
}

function inFlags({ code, message, values }: CodedError): string {
  const { option = "" } = values;
  if (code !== "invalid_option" || !Object.hasOwn(flags, option)) return message;
  return errorText(code, { ...values, option: flags[option as keyof typeof flags] });
}
