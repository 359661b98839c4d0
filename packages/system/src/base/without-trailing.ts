/**
 * `text` without the last characters that equal `character`. An expression such as `/x+$/` would try
 * each run from each of its characters, which takes the square of its length.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
