import type { RequestId } from "../vocabulary/host-frame.ts";

type Reviver = (
  this: object,
  key: string,
  value: unknown,
  context?: { readonly source?: string },
) => unknown;

/** Supported by engines but not yet declared in TypeScript's library. */
type ExactJson = {
  readonly parse: (text: string, reviver: Reviver) => unknown;
  readonly rawJSON?: (text: string) => object;
  readonly isRawJSON?: (value: unknown) => boolean;
};

/**
 * The id of a command exactly as it was sent. JavaScript cannot represent some numbers, such as a clock in
 * nanoseconds, and would return a different one, for which the sender would wait forever. Only such ids
 * require parsing the line twice.
 */
export function exactId(id: string | number, line: string): RequestId {
  if (typeof id === "string" || Number.isSafeInteger(id)) return id;
  const source = sourceOfId(line);
  const { rawJSON } = JSON as ExactJson;
  if (source === undefined || rawJSON === undefined) return id;
  // The id is only passed through, and `rawJSON` is written as the original number.
  return rawJSON(source) as unknown as number;
}

/** The text of a line's own id; undefined if it cannot be determined. */
function sourceOfId(line: string): string | undefined {
  const sources = new WeakMap<object, string>();
  try {
    const root = (JSON as ExactJson).parse(line, function (key, value, context) {
      if (key === "id" && context?.source !== undefined) sources.set(this, context.source);
      return value;
    });
    return typeof root === "object" && root !== null ? sources.get(root) : undefined;
  } catch {
    // Parsing with a reviver supports less nesting than without one.
    return undefined;
  }
}

/** Whether a value is a number that {@link exactId} has preserved. */
export function isExactNumber(value: object): boolean {
  return (JSON as ExactJson).isRawJSON?.(value) ?? false;
}
