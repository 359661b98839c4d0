/** The dialects of the protocol, by the names a client chooses them with; the first is the default. */
export const protocolNames = ["pi", "pi-1", "pisces", "oh-my-pi", "co-mono", "pi-rust"] as const;

/** The name of a dialect. */
export type ProtocolName = (typeof protocolNames)[number];

/** Whether there is a dialect of this name. */
export function isProtocolName(name: string): name is ProtocolName {
  return protocolNames.some((known) => known === name);
}
