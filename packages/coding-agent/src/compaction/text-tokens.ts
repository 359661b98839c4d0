/**
 * Tokens per character and class. Measured with the two public tokenizers of OpenAI (cl100k and o200k) on prose, code,
 * lock files, base64, hex and ten languages, using the higher count: prose and code have 3.5 to 4 characters per token,
 * base64 and hex 1.4, CJK 1.1. With four characters per token, Chinese text and base64 took three times the estimate.
 */
const weights = {
  letter: 0.22,
  digit: 0.55,
  /** The minimum for a word or number. */
  word: 0.85,
  /** Within runs that constantly switch between lower case, upper case and digits: base64, hashes, ids. */
  dense: 0.72,
  symbol: 0.7,
  repeated: 0.05,
  blank: 0.02,
  newline: 0.5,
  latin: 0.9,
  greekOrCyrillic: 0.43,
  semitic: 0.8,
  brahmic: 1.25,
  mark: 1.05,
  cjk: 0.92,
  surrogate: 1.5,
} as const;

/** A run with at least this share of switches between lower case, upper case and digits is not made of words. */
const denseShare = 0.35;

const blocks: readonly { readonly from: number; readonly weight: number }[] = [
  { from: 0xd800, weight: weights.surrogate },
  { from: 0x2e80, weight: weights.cjk },
  { from: 0x2000, weight: weights.mark },
  { from: 0x1e00, weight: weights.latin },
  { from: 0x0900, weight: weights.brahmic },
  { from: 0x0530, weight: weights.semitic },
  { from: 0x0370, weight: weights.greekOrCyrillic },
  { from: 0, weight: weights.latin },
];

/** Estimates the tokens of a text, rather too many than too few, in linear time. */
export function textTokens(text: string): number {
  let tokens = 0;
  let runLength = 0;
  let runDigits = 0;
  let runChanges = 0;
  let runKind = 0;
  let previous = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = wordKind(code);
    if (kind !== 0) {
      if (runLength > 0 && kind !== runKind) runChanges++;
      if (kind === 3) runDigits++;
      runLength++;
      runKind = kind;
    } else {
      if (runLength > 0) tokens += runTokens(runLength, runDigits, runChanges);
      runLength = runDigits = runChanges = runKind = 0;
      tokens += code === previous ? repeatWeight(code) : weightOf(code);
    }
    previous = code;
  }
  if (runLength > 0) tokens += runTokens(runLength, runDigits, runChanges);
  return Math.ceil(tokens);
}

/** 1 for lower case, 2 for upper case, 3 for digits, 0 for everything else. */
function wordKind(code: number): 0 | 1 | 2 | 3 {
  if (code >= 0x61 && code <= 0x7a) return 1;
  if (code >= 0x41 && code <= 0x5a) return 2;
  return code >= 0x30 && code <= 0x39 ? 3 : 0;
}

function runTokens(length: number, digits: number, changes: number): number {
  if (changes > denseShare * length) return Math.max(weights.word, length * weights.dense);
  return Math.max(weights.word, (length - digits) * weights.letter + digits * weights.digit);
}

function weightOf(code: number): number {
  if (code === 0x20 || code === 0x09) return weights.blank;
  if (code === 0x0a || code === 0x0d) return weights.newline;
  if (code < 0x80) return weights.symbol;
  if (code >= 0xe000 && code < 0xf900) return weights.surrogate;
  if (code >= 0xf900) return weights.cjk;
  return blocks.find(({ from }) => code >= from)?.weight ?? weights.surrogate;
}

/** Only ASCII runs (rules, indentation) take few tokens. */
function repeatWeight(code: number): number {
  if (code === 0x20 || code === 0x09) return weights.blank;
  return code < 0x80 && code > 0x20 ? weights.repeated : weightOf(code);
}

/** Cuts a text in the middle so that it takes at most `tokens`, including the note about the cut. */
export function clipText(text: string, tokens: number): string {
  if (textTokens(text) <= tokens) return text;
  const note = (left: number): string => `\n[… ${left} characters left out …]\n`;
  const room = Math.max(0, tokens - textTokens(note(text.length)) - 2);
  const head = longest(text.length, Math.ceil((room * 2) / 3), (length) => text.slice(0, length));
  const tail = longest(text.length - head.length, room - textTokens(head), (length) =>
    length === 0 ? "" : text.slice(-length),
  );
  // Do not cut a surrogate pair in half.
  const start = head.replace(/[\uD800-\uDBFF]$/, "");
  const end = tail.replace(/^[\uDC00-\uDFFF]/, "");
  return start + note(text.length - start.length - end.length) + end;
}

/** The longest part that fits; the search skips parts that are clearly too long. */
function longest(available: number, tokens: number, part: (length: number) => string): string {
  let low = 0;
  let high = Math.min(available, Math.max(0, tokens) * 12);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textTokens(part(middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  return part(low);
}
