/** The maximum number of characters of a command, a path or arguments in a title. */
const MAX_SHOWN = 4000;
/** How many characters of a longer text are taken from its beginning. */
const SHOWN_HEAD = 2600;

/** The title of the approval question: names the tool with its command, its path or all its arguments. */
export function titleOfCall(
  {
    toolName,
    input,
  }: { readonly toolName: string; readonly input: Readonly<Record<string, unknown>> },
  agentId?: string,
): string {
  const agent = agentId === undefined ? "" : ` (agent ${visible(agentId)})`;
  return `Allow ${visible(toolName)}${agent}: ${shortened(visible(subjectOf(toolName, input)))}?`;
}

function subjectOf(toolName: string, input: Readonly<Record<string, unknown>>): string {
  const { command, path, url } = input;
  if (toolName === "bash" && typeof command === "string") return command;
  if (toolName === "web_fetch" && typeof url === "string") return url;
  return typeof path === "string" ? path : JSON.stringify(input);
}

/** The end of a command matters as much as its beginning. */
export function shortened(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const left = `… (${text.length - MAX_SHOWN} characters left out) …`;
  const head = text.slice(0, SHOWN_HEAD).replace(/[\uD800-\uDBFF]$/, "");
  const tail = text.slice(SHOWN_HEAD - MAX_SHOWN).replace(/^[\uDC00-\uDFFF]/, "");
  return `${head}${left}${tail}`;
}

/**
 * Characters that move the cursor or change the text direction could make another command appear than the one
 * that runs.
 */
const deceptive = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function visible(text: string): string {
  return text.replace(
    deceptive,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`,
  );
}
