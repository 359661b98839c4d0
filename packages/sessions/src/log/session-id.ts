import { SessionError } from "@tau-agent/rpc-protocol/plain";

/** @throws {SessionError} `invalid_option` if the id cannot be part of a file name */
export function checkSessionId(id: string): void {
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id)) {
    const reason =
      "it takes letters, digits, dots, dashes and underscores, with a letter or digit at both ends";
    throw new SessionError("invalid_option", { option: "session.id", reason });
  }
}
