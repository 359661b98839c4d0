/** Where the quoted argument that starts at `start` ends, or -1: a quote closes only before a blank. */
function closingQuote(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    if (text.charAt(at) === "\\" && text.charAt(at + 1) === quote) at += 1;
    else if (text.charAt(at) === quote && !/\S/.test(text.charAt(at + 1))) return at;
  }
  return -1;
}

/**
 * Splits the text after a command into arguments: at blanks and line ends, with `"…"` or `'…'`
 * around those that contain blanks. A quote opens only at the start of an argument and closes only
 * before a blank, so apostrophes and unclosed quotes are text; `\"` is a quote within its own kind.
 */
export function parseTemplateArguments(text: string): string[] {
  const found: string[] = [];
  // If a quote is not closed from here, it is not closed from any later place either.
  const unclosed = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const first = text.charAt(at);
    if (/\s/.test(first)) {
      at += 1;
      continue;
    }
    const isQuote = (first === '"' || first === "'") && !unclosed.has(first);
    const end = isQuote ? closingQuote(text, at) : -1;
    if (isQuote && end === -1) unclosed.add(first);
    if (end !== -1) {
      found.push(text.slice(at + 1, end).replaceAll(`\\${first}`, first));
      at = end + 1;
    } else {
      const blank = /\s/g;
      blank.lastIndex = at;
      const stop = blank.exec(text)?.index ?? text.length;
      found.push(text.slice(at, stop));
      at = stop;
    }
  }
  return found;
}

const placeholder =
  /\$(?:([1-9]\d*)|(@|ARGUMENTS(?!\w))|\{([1-9]\d*|@|ARGUMENTS)(?::-([^}]*)|:(\d+)(?::(\d+))?)?\})/g;

/**
 * Puts arguments into a template: `$1`, `$@`, `$ARGUMENTS`, `${@:2}`, `${@:2:3}`, `${1:-default}`,
 * `${@:-default}`. One pass: substituted text is not searched again.
 */
export function substituteArguments(template: string, values: readonly string[]): string {
  return template.replace(
    placeholder,
    (
      whole: string,
      position: string | undefined,
      everything: string | undefined,
      braced: string | undefined,
      fallback: string | undefined,
      from: string | undefined,
      length: string | undefined,
    ) => {
      const name = position ?? everything ?? braced ?? "";
      const isPosition = /^\d/.test(name);
      // `${1:2}` has no meaning here.
      if (isPosition && from !== undefined) return whole;
      const start = from === undefined ? 0 : Math.max(1, Number(from)) - 1;
      const end = length === undefined ? undefined : start + Number(length);
      const text = isPosition
        ? (values[Number(name) - 1] ?? "")
        : values.slice(start, end).join(" ");
      return text === "" ? (fallback ?? "") : text;
    },
  );
}
