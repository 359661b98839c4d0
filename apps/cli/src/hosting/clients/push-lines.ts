import type { DecodedLine } from "@tau-agent/rpc-protocol";
import type { Client } from "./client.ts";

export function pushLines(client: Client, lines: Iterable<DecodedLine>): void {
  for (const line of lines) {
    if ("text" in line) client.push(line.text);
    else client.refuseOversized(line.oversizedBytes);
  }
}
