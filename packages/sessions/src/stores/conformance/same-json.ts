/** Whether two values are the same JSON, whatever the prototypes of their objects. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object") return Object.is(left, right);
  if (left === null || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => {
    return Object.hasOwn(right, name) && isSameJson(memberOf(left, name), memberOf(right, name));
  });
}

/** An own member: otherwise `__proto__` would be the prototype. */
function memberOf(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
