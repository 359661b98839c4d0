const names = {
  escape: "escape",
  esc: "esc",
  enter: "enter",
  return: "return",
  tab: "tab",
  space: "space",
  backspace: "backspace",
  delete: "delete",
  insert: "insert",
  home: "home",
  end: "end",
  pageUp: "pageUp",
  pageDown: "pageDown",
  up: "up",
  down: "down",
  left: "left",
  right: "right",
} as const;

const signs = {
  backtick: "`",
  hyphen: "-",
  equals: "=",
  leftbracket: "[",
  rightbracket: "]",
  backslash: "\\",
  semicolon: ";",
  quote: "'",
  comma: ",",
  period: ".",
  slash: "/",
  exclamation: "!",
  at: "@",
  hash: "#",
  dollar: "$",
  percent: "%",
  caret: "^",
  ampersand: "&",
  asterisk: "*",
  leftparen: "(",
  rightparen: ")",
  underscore: "_",
  plus: "+",
  pipe: "|",
  tilde: "~",
  leftbrace: "{",
  rightbrace: "}",
  colon: ":",
  lessthan: "<",
  greaterthan: ">",
  question: "?",
} as const;

const functionKeys = Object.fromEntries(
  Array.from({ length: 12 }, (_, index) => [`f${index + 1}`, `f${index + 1}`]),
);

const sequences: Readonly<Record<string, readonly string[]>> = {
  escape: ["\u001B"],
  enter: ["\r", "\n"],
  tab: ["\t"],
  space: [" "],
  backspace: ["\u007F", "\b"],
  delete: ["\u001B[3~"],
  home: ["\u001B[H", "\u001B[1~"],
  end: ["\u001B[F", "\u001B[4~"],
  pageup: ["\u001B[5~"],
  pagedown: ["\u001B[6~"],
  up: ["\u001B[A", "\u001BOA"],
  down: ["\u001B[B", "\u001BOB"],
  right: ["\u001B[C", "\u001BOC"],
  left: ["\u001B[D", "\u001BOD"],
  "shift+tab": ["\u001B[Z"],
};

const aliases: Readonly<Record<string, string>> = { esc: "escape", return: "enter" };

function modifier(...parts: string[]) {
  return (key: string): string => [...parts, key].join("+");
}

export const Key = {
  ...names,
  ...signs,
  clear: "clear",
  ...functionKeys,
  ctrl: modifier("ctrl"),
  shift: modifier("shift"),
  alt: modifier("alt"),
  super: modifier("super"),
  ctrlShift: modifier("ctrl", "shift"),
  shiftCtrl: modifier("shift", "ctrl"),
  ctrlAlt: modifier("ctrl", "alt"),
  altCtrl: modifier("alt", "ctrl"),
  ctrlSuper: modifier("ctrl", "super"),
  superCtrl: modifier("super", "ctrl"),
  shiftSuper: modifier("shift", "super"),
  superShift: modifier("super", "shift"),
  altSuper: modifier("alt", "super"),
  superAlt: modifier("super", "alt"),
  ctrlShiftSuper: modifier("ctrl", "shift", "super"),
  shiftAlt: modifier("shift", "alt"),
  altShift: modifier("alt", "shift"),
  ctrlShiftAlt: modifier("ctrl", "shift", "alt"),
};

export function matchesKey(data: string, key: string): boolean {
  const wanted = key.toLowerCase();
  const name = aliases[wanted] ?? wanted;
  if (sequences[name]?.includes(data)) return true;
  const control = /^ctrl\+([a-z])$/.exec(name)?.[1];
  if (control !== undefined) return data === String.fromCharCode(control.charCodeAt(0) - 96);
  const alt = /^alt\+(.)$/.exec(name)?.[1];
  return alt === undefined ? data === key : data === `\u001B${alt}`;
}

/** The name of the key that a terminal sent; undefined if it is not a key. */
export function parseKey(data: string): string | undefined {
  const named = Object.entries(sequences).find(([, known]) => known.includes(data));
  if (named !== undefined) return named[0];
  const code = data.charCodeAt(0);
  if (data.length === 1 && code > 0 && code < 27) return `ctrl+${String.fromCharCode(code + 96)}`;
  return data.length === 1 ? data : undefined;
}
