import { remedyOfLimit } from "@tau-agent/rpc-protocol/plain";

/**
 * For `catch`: replaces something that cannot be read by the value, unless too many files are open.
 * Otherwise a search would report that it found nothing.
 */
export function unlessLimited<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (remedyOfLimit(error) !== undefined) throw error;
    return value;
  };
}
