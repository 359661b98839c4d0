/** Imports of values from Node's file system. */
const imports = /^import \{([^}]*)\} from "node:fs(\/promises)?";$/gm;

/**
 * Takes Node's file system without loading all of it: an import of `node:fs` reads every one of its
 * members, which loads its streams and promises, watchers and `readline` among them. Promises load
 * when the first of their functions is called (row `start`).
 */
export function filesOnDemand(source: string): string {
  return source.replace(imports, (_, list: string, promises: string | undefined) => {
    const names = list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "));
    if (promises === undefined) {
      return `const { ${names.join(", ").replaceAll(" as ", ": ")} } = process.getBuiltinModule("node:fs");`;
    }
    return names.map(onFirstCall).join(" ");
  });
}

function onFirstCall(imported: string): string {
  const [name, local = name] = imported.split(" as ");
  return `const ${local} = (...of) => process.getBuiltinModule("node:fs/promises").${name}(...of);`;
}
