/** Bounds the work of libraries whose time grows with the square of some texts, or worse. */
export interface Allowance {
  /** The result of `work` on a text of `length` characters; undefined if that is too much. */
  run<Value>(length: number, work: () => Value): Value | undefined;
}

/** For places where nothing can interrupt work, such as pages: longer texts are not worked on. */
export function lengthAllowance(maxLength: number): Allowance {
  return { run: (length, work) => (length > maxLength ? undefined : work()) };
}
