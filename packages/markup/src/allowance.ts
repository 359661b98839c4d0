/** Limits the work of libraries that take quadratic time, or worse, for some texts. */
export interface Allowance {
  /** The result of `work` on a text of `length` characters; undefined if that is too much work. */
  run<Value>(length: number, work: () => Value): Value | undefined;
}

/** For environments such as web pages, where work cannot be interrupted: longer texts are not processed. */
export function lengthAllowance(maxLength: number): Allowance {
  return { run: (length, work) => (length > maxLength ? undefined : work()) };
}
