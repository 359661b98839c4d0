/** Text that is already HTML: made by {@link html}, or marked with {@link trusted}. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What an {@link html} template may contain; undefined and false render as nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined | false;

// HTML allows no control characters except white space.
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(controls, "").replace(/[&<>"']/g, (found) => entities[found] ?? "");
}

/** Escapes `text` for element content only: quotes stay unescaped, which keeps pages of code small. */
export function escapeText(text: string): Html {
  return new Html(text.replace(controls, "").replace(/[&<>]/g, (found) => entities[found] ?? ""));
}

/** A template whose values are escaped unless they are HTML; attributes in it must be quoted. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) text += print(value) + (strings[index + 1] ?? "");
  return new Html(text);
}

/** Marks text as HTML. Only for our own markup, or text that is already escaped. */
export function trusted(text: string): Html {
  return new Html(text);
}

function print(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map((part) => part.text).join("");
  return escapeHtml(String(value));
}

/** JSON that is safe in a `<script>`: none of its characters can end the element or begin a comment. */
export function jsonForScript(value: unknown): Html {
  const toEscape = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, toEscape));
}
