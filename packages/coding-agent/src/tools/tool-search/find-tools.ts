import type { AgentTool } from "@tau-agent/agent";

/** The parts of a tool that a search reads. */
type Searched = Pick<AgentTool, "name" | "description">;

/**
 * The tools that match a query, best first; equally good matches keep their order. One or several exact names return
 * exactly these tools. Otherwise every word counts: more if it is in the name, matches completely, and occurs in few
 * tools.
 */
export function findTools<Tool extends Searched>(
  tools: readonly Tool[],
  query: string,
  limit: number,
): Tool[] {
  const named = toolsNamed(tools, query);
  if (named.length > 0) return named.slice(0, limit);
  const words = [...new Set(wordsOf(query))];
  const texts = tools.map(({ name, description }) => ({
    name: textOf(name),
    description: textOf(description),
  }));
  const scores = tools.map(() => 0);
  for (const word of words) {
    const fits = texts.map(
      ({ name, description }) => 3 * weightOf(word, name) + weightOf(word, description),
    );
    const count = fits.filter((value) => value > 0).length;
    if (count === 0) continue;
    const rarity = Math.log(1 + tools.length / count);
    for (const [index, value] of fits.entries())
      scores[index] = (scores[index] ?? 0) + value * rarity;
  }
  return tools
    .map((tool, index) => ({ tool, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, limit)
    .map(({ tool }) => tool);
}

/** The tools whose names make up the query; none if it contains any other word. */
function toolsNamed<Tool extends Searched>(tools: readonly Tool[], query: string): Tool[] {
  const byName = new Map(tools.map((tool) => [tool.name.toLowerCase(), tool]));
  const names = query.toLowerCase().split(/[\s,]+/);
  const found = names.filter((name) => name !== "").map((name) => byName.get(name));
  return found.some((tool) => tool === undefined) ? [] : [...new Set(found as Tool[])];
}

interface Text {
  readonly whole: string;
  readonly words: ReadonlySet<string>;
}

function textOf(text: string): Text {
  return { whole: text.toLowerCase(), words: new Set(wordsOf(text)) };
}

/** Words, including the parts of `aNameLikeThis` and `a_name_like_this`. */
function wordsOf(text: string): string[] {
  const spaced = text.replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, "$1 ");
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** 2 for a whole word of the text, 1 for a part of a word or a longer form, such as a plural. */
function weightOf(word: string, { whole, words }: Text): number {
  if (words.has(word)) return 2;
  if (word.length < 3) return /\P{ASCII}/u.test(word) && whole.includes(word) ? 1 : 0;
  if (whole.includes(word)) return 1;
  for (const other of words) if (other.length >= 4 && word.startsWith(other)) return 1;
  return 0;
}
