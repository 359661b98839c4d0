import {
  type Dialect,
  isProtocolName,
  loadDialect,
  ProtocolError,
  protocolNames,
} from "@tau-agent/rpc-protocol";

/**
 * The initial dialect of a host; the environment takes precedence over the flag.
 *
 * @throws {ProtocolError} `invalid_option` naming the source of the unknown name
 */
export async function chooseDialect(
  flag: string | undefined,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Dialect> {
  const { PI_RPC_PROTOCOL: variable } = variables;
  const name = variable || flag || protocolNames[0];
  if (isProtocolName(name)) return loadDialect(name);
  throw new ProtocolError("invalid_option", {
    option: variable ? "PI_RPC_PROTOCOL" : "--protocol",
    reason: `${JSON.stringify(name)} is not one of ${protocolNames.join(", ")}`,
  });
}
