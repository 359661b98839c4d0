/**
 * `text` without its trailing `character`s. A regular expression such as `/x+$/` would start at each
 * character of each run, which takes quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
