import type { RequestId } from "../vocabulary/host-frame.ts";

type Reviver = (
  this: object,
  key: string,
  value: unknown,
  context?: { readonly source?: string },
) => unknown;

/** What engines have and TypeScript's library does not know yet. */
type ExactJson = {
  readonly parse: (text: string, reviver: Reviver) => unknown;
  readonly rawJSON?: (text: string) => object;
  readonly isRawJSON?: (value: unknown) => boolean;
};

/**
 * The id of a command as it was sent. A number that JavaScript cannot hold, such as a clock in
 * nanoseconds, would come back as another one, and its sender wait for ever; only for such an id is
 * the line read once more.
 */
export function exactId(id: string | number, line: string): RequestId {
  if (typeof id === "string" || Number.isSafeInteger(id)) return id;
  const source = sourceOfId(line);
  const { rawJSON } = JSON as ExactJson;
  if (source === undefined || rawJSON === undefined) return id;
  // An id is only handed on, and this is written as the number it was.
  return rawJSON(source) as unknown as number;
}

/** The text of a line's own id; undefined when it cannot be told. */
function sourceOfId(line: string): string | undefined {
  const sources = new WeakMap<object, string>();
  try {
    const root = (JSON as ExactJson).parse(line, function (key, value, context) {
      if (key === "id" && context?.source !== undefined) sources.set(this, context.source);
      return value;
    });
    return typeof root === "object" && root !== null ? sources.get(root) : undefined;
  } catch {
    // With a reviver less depth can be read than without one.
    return undefined;
  }
}

/** Whether a value is a number that {@link exactId} kept as it was. */
export function isExactNumber(value: object): boolean {
  return (JSON as ExactJson).isRawJSON?.(value) ?? false;
}
