/** Phrases that make a native reader stumble, and what to write instead. */
export interface ProsePattern {
  readonly phrase: RegExp;
  readonly instead: string;
}

/**
 * Only phrases that are nearly always wrong; CONTRIBUTING covers the rest. `\s+` between words lets a phrase
 * span lines.
 */
export const patterns: readonly ProsePattern[] = [
  {
    phrase: /(?<!\bthere\s+)\b(?:is|are|was|were)\s+none\b/i,
    instead: "say what it is not: is not an X, has no X",
  },
  {
    phrase: /(?<!\bthere\s+)\b(?:is|are)\s+no\s+(?!longer|more|less|better|worse)/i,
    instead: "is not a …",
  },
  { phrase: /\b(?:whoever|whomever|whosoever)\b/i, instead: "name the role: the caller, the user" },
  {
    phrase: /(?<=[.;:]\s+)Who\s+[a-z]+s?\b(?![^.]*\?)/,
    instead: "name the role: the caller, the user",
  },
  {
    phrase:
      /\b(?:that|what|which|while\s+one)\s+(?:is|are)\s+on\b(?!\s+(?:a|an|another|the|this|that|its|disk|top)\b)/,
    instead: "is running, is active, current",
  },
  {
    phrase: /\b(?:a|the|one|no)\s+(?:run|retry|turn)\s+is\s+on\b/,
    instead: "is running, is active",
  },
  {
    phrase:
      /\b(?:stand|stands|stood)\s+(?:in(?!\s+for)|at|there|here|before|behind|beside|below|above|nowhere|twice)\b/,
    instead: "is",
  },
  {
    phrase: /\b(?:come|comes|came|bring|brings|brought)\s+(?:\w+\s+)?along\b/,
    instead: "is included, includes",
  },
  {
    phrase: /\bin\s+(?:the\s+place\s+of|(?:its|their)\s+place\s+stands?)\b/,
    instead: "instead of, replaces",
  },
  { phrase: /\bthe\s+family(?:['’]s)?\b(?!\s+of)/i, instead: "pi-compatible hosts, or pi" },
  { phrase: /\b(?:is|are)\s+told\b(?!\s+apart)/, instead: "receives, is notified" },
  { phrase: /\bhears?\s+(?:of|about|so|it)\b/, instead: "receives, is notified" },
  { phrase: /\bwhat\s+is\s+left\b(?!\s+(?:out|open))/i, instead: "the rest, the remaining …" },
  { phrase: /\bfor\s+ever\b/, instead: "forever" },
  { phrase: /\banew\b/, instead: "again" },
  { phrase: /\b(?:its|their)\s+like\b/, instead: "and the like" },
  { phrase: /\bin\s+passing\b/, instead: "transient, temporarily" },
  { phrase: /\bis\s+of\s+no\b|\bof\s+no\s+matter\b/, instead: "does not matter" },
];
