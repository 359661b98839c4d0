/** The names in the braces of an import or export, such as `one`, `type Two` and `three as four`. */
export function namesIn(list: string): string[] {
  return list
    .replace(/\/\*.*?\*\//gs, "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
