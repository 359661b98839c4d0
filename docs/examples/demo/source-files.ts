import { posix } from "node:path";

/** A source file as it was read. */
export interface SourceFile {
  readonly path: string;
  readonly lines: readonly string[];
}

/** A function and its documented examples. */
export interface SourceFunction {
  readonly file: SourceFile;
  readonly name: string;
  /** The range of lines between its braces, from 0. */
  readonly body: readonly number[];
  /** The `call // result` pairs of its comment. */
  readonly examples: readonly { readonly call: string; readonly result: string }[];
}

/** The project's own files that a file imports. */
export function localImports({ path, lines }: SourceFile): string[] {
  const specifiers = [...lines.join("\n").matchAll(/\bfrom\s+["'](\.[^"']*)["']/g)];
  return specifiers.map(([, specifier = ""]) => posix.join(posix.dirname(path), specifier));
}

/** The exported functions of a file. */
export function exportedFunctions(file: SourceFile): SourceFunction[] {
  const found: SourceFunction[] = [];
  for (const [start, line] of file.lines.entries()) {
    const name = /^export (?:async )?function (\w+)/.exec(line)?.[1];
    if (name === undefined) continue;
    const end = file.lines.indexOf("}", start);
    const length = (end === -1 ? file.lines.length : end) - start - 1;
    const body = Array.from({ length }, (_, index) => start + 1 + index);
    found.push({ file, name, body, examples: examplesAbove(file, start) });
  }
  return found;
}

function examplesAbove({ lines }: SourceFile, start: number): SourceFunction["examples"] {
  const examples: { call: string; result: string }[] = [];
  for (let at = start - 1; at >= 0 && /^\s*(\/\*\*|\*)/.test(lines[at] ?? ""); at--) {
    const [, call, result] = /@example\s+(.+?)\s*\/\/\s*(.+)$/.exec(lines[at] ?? "") ?? [];
    if (call !== undefined && result !== undefined) examples.unshift({ call, result });
  }
  return examples;
}

/** A program that reports whether each documented example holds. */
export function exampleProbe(functions: readonly SourceFunction[]): string {
  const documented = functions.filter(({ examples }) => examples.length > 0);
  const imports = documented.map(({ name, file }) => `import { ${name} } from "./${file.path}";`);
  const checks = documented.flatMap(({ name, examples }) =>
    examples.map(
      ({ call, result }) =>
        `check(${JSON.stringify(name)}, ${JSON.stringify(call)}, () => ${call}, ${result});`,
    ),
  );
  return [
    'import { isDeepStrictEqual } from "node:util";',
    ...imports,
    "function check(name, call, run, documented) {",
    "  let value; try { value = run(); } catch (error) { value = String(error); }",
    '  const verdict = isDeepStrictEqual(value, documented) ? "holds" : "broken";',
    "  const [is, said] = [value, documented].map((it) => JSON.stringify(it));",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
    "  console.log(`${verdict} ${name}: ${call} is ${is}, documented ${said}`);",
    "}",
    ...checks,
  ].join("\n");
}

/** What the probe found broken, by function. */
export function brokenExamples(output: string): Map<string, string> {
  const found = [...output.matchAll(/^broken (\w+): (.+)$/gm)];
  return new Map(found.map(([, name = "", words = ""]) => [name, words]));
}
