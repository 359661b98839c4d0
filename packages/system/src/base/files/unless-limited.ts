import { remedyOfLimit } from "@tau-agent/rpc-protocol/plain";

/**
 * For `catch`: the value instead of something that cannot be read, unless too many files are open.
 * A search would otherwise find nothing, and say so.
 */
export function unlessLimited<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (remedyOfLimit(error) !== undefined) throw error;
    return value;
  };
}
