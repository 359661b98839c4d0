import { lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";

/** Ports of this machine that stay closed because the host itself listens on them. */
export type ClosedPorts = () => readonly number[];

/** Refuses addresses of this machine if the port is one of the host's own. */
export function closedLookup(port: number, closedPorts: ClosedPorts): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => !isClosed(address, port, closedPorts));
      const [first] = allowed;
      if (first === undefined) return callback(new Error(`${host} is closed`), "", 0);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

export function isClosed(address: string, port: number, closedPorts: ClosedPorts): boolean {
  if (!closedPorts().includes(port)) return false;
  const plain = address.replace(/^::ffff:/, "");
  if (isIP(plain) === 0 || /^(?:127\.|0\.|::1$|::$)/.test(plain)) return true;
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((each) => each.address === plain),
  );
}
