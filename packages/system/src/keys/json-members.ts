export interface JsonText {
  /** The member whose value, or whose list, contains the text. */
  readonly name: string;
  /** The member whose object contains that member. */
  readonly parent: string;
  readonly value: string;
}

/**
 * All strings in a JSON text, which may have comments or be malformed. Reads each character once, because
 * such files may be long and every command needs the keys in them.
 */
export function textsInJson(json: string): JsonText[] {
  const found: JsonText[] = [];
  const parents: string[] = [];
  let name = "";
  for (let at = 0; at < json.length; at += 1) {
    const unit = json[at];
    if (unit === "/") at = endOfComment(json, at);
    else if (unit === "{") parents.push(name);
    else if (unit === "}") parents.pop();
    if (unit !== '"') continue;
    const end = endOfText(json, at);
    const value = unescaped(json.slice(at + 1, end));
    at = end;
    if (isName(json, end + 1)) name = value;
    else found.push({ name, parent: parents.at(-1) ?? "", value });
  }
  return found;
}

function endOfComment(json: string, at: number): number {
  const mark = json.slice(at, at + 2);
  if (mark !== "//" && mark !== "/*") return at;
  const end = json.indexOf(mark === "//" ? "\n" : "*/", at + 2);
  return end === -1 ? json.length : end + (mark === "//" ? 0 : 1);
}

function endOfText(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at;
}

function isName(json: string, after: number): boolean {
  let at = after;
  while (" \t\r\n".includes(json[at] ?? "x")) at += 1;
  return json[at] === ":";
}

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
