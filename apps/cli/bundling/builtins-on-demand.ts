/** Imports of values from parts of Node of which a start needs a few functions. */
const imports =
  /^import \{([^}]*)\} from "(node:(?:buffer|fs|fs\/promises|net|process|timers\/promises|util))";$/gm;

/**
 * Takes parts of Node without loading all of them: an import reads every member, and that loads whatever a member
 * needs. Of `node:fs` that is streams and promises, watchers and `readline`, of `node:util` threads and a comparison
 * of texts, of `node:process` reports, of `node:net` lists of addresses. Promises load when the first of their
 * functions is called (row `start`).
 */
export function builtinsOnDemand(source: string): string {
  return source.replace(imports, (_, list: string, module: string) => {
    const names = list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "));
    const part = `process.getBuiltinModule("${module}")`;
    if (module.endsWith("/promises")) return names.map((name) => onFirstCall(name, part)).join(" ");
    return `const { ${names.join(", ").replaceAll(" as ", ": ")} } = ${part};`;
  });
}

function onFirstCall(imported: string, part: string): string {
  const [name, local = name] = imported.split(" as ");
  return `const ${local} = (...of) => ${part}.${name}(...of);`;
}
