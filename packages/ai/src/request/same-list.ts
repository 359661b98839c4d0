/** Whether two lists have the same items, compared by identity. */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && beginsWith(left, right);
}

/** Whether a list begins with the items of another. A loop, because requests compare whole conversations. */
export function beginsWith(list: readonly unknown[], start: readonly unknown[]): boolean {
  for (let at = 0; at < start.length; at++) if (list[at] !== start[at]) return false;
  return true;
}
