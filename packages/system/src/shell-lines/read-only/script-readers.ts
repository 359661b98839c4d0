import type { Accept } from "./accept-options.ts";

const pattern = String.raw`\/(?:[^\/\\\n]|\\.)*\/I?`;
const address = String.raw`(?:\d+(?:~\d+)?|\$|${pattern})(?:,(?:\+?\d+|\$|${pattern}))?\s*!?\s*`;
const substitution = ["\\/", "\\|", "#"]
  .map((mark) => {
    const piece = String.raw`(?:[^\\\n${mark}]|\\.)*`;
    return `s${mark}${piece}${mark}${piece}${mark}[gpiI\\d]*`;
  })
  .join("|");
const sedScript = new RegExp(
  String.raw`^\s*(?:(?:${address})?(?:[pd=]|[qQ]\d*|${substitution})\s*(?:[;\n]\s*|$))+$`,
);
const maxScript = 2000;

/** `sed` can write and run with `w` and `e`, so only scripts of a plain form are known to only read. */
export const acceptSed: Accept = (words) => {
  const scripts: string[] = [];
  let takesOperand = true;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined || (word.isOpen && takesOperand)) return false;
    if (word.text === "-e") {
      const script = words[++index];
      if (script?.isLiteral !== true) return false;
      scripts.push(script.text);
      takesOperand = false;
    } else if (/^-./.test(word.text)) {
      if (!/^-[nErsuz]+$|^--(?:quiet|silent|regexp-extended)$/.test(word.text)) return false;
    } else if (takesOperand) {
      if (!word.isLiteral) return false;
      scripts.push(word.text);
      takesOperand = false;
    }
  }
  return scripts.length > 0 && scripts.every(isPlainSed);
};

function isPlainSed(script: string): boolean {
  return script.length <= maxScript && sedScript.test(script);
}

/** `awk` can write, run commands and read their output; each of these needs one of the following. */
const busyAwk = /[>|@]|system|getline|fflush|close/;

/** Programs of `awk` without redirections and pipes. */
export const acceptAwk: Accept = (words) => {
  let index = 0;
  for (; index < words.length; index++) {
    const { text = "", isLiteral = false } = words[index] ?? {};
    if (!text.startsWith("-")) break;
    if (!isLiteral || !/^-F.+|^-[Fv]$/.test(text)) return false;
    if (/^-[Fv]$/.test(text)) index++;
  }
  const program = words[index];
  return program?.isLiteral === true && !busyAwk.test(program.text);
};
