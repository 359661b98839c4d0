import { redactSecrets } from "@tau-agent/ai";
import type { Diagnostic } from "@tau-agent/coding-agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";

export function diagnosticEvent({ severity, code, message, path }: Diagnostic): SessionEvent {
  return {
    type: "diagnostic",
    severity,
    ...(code === undefined ? {} : { code }),
    message: redactSecrets(message),
    ...(path === undefined ? {} : { path }),
  };
}
