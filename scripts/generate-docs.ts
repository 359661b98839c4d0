/**
 * Writes the pages and tables of docs/, the schema and the Python types that are generated from schemas and
 * tables. `--check` writes nothing and exits with 1 if a page is outdated.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { keepFieldTexts } from "./docs/field-texts.ts";
import { withFloorsTables } from "./docs/floors-tables.ts";
import { layers } from "./layers.ts";

keepFieldTexts();
const { environmentPage } = await import("./docs/environment-page.ts");
const { llmsText } = await import("./docs/llms-text.ts");
const { errorsPage } = await import("./docs/errors-page.ts");
const { protocolReference } = await import("./docs/protocol-reference.ts");
const { protocolSchema } = await import("./docs/protocol-schema.ts");
const { rpcClientMethods } = await import("./docs/rpc-client-methods.ts");
const { settingsPage } = await import("./docs/settings-page.ts");
const { pythonCommands, pythonProtocol } = await import(
  "../clients/python/generator/python-module.ts"
);

const pages: Readonly<Record<string, (before: string) => string>> = {
  "docs/architecture.md": (before) => withFloorsTables(before, layers),
  "docs/protocol-reference.md": protocolReference,
  "docs/environment.md": environmentPage,
  "docs/errors.md": errorsPage,
  "docs/settings.md": settingsPage,
  // After the pages that it lists.
  "docs/llms.txt": llmsText,
  "packages/rpc-protocol/generated/schema.json": protocolSchema,
  "packages/rpc-client/src/generated/command-methods.ts": rpcClientMethods,
  "clients/python/tau_rpc/protocol.py": pythonProtocol,
  "clients/python/tau_rpc/commands.py": pythonCommands,
};

const isCheck = process.argv.includes("--check");
for (const [name, render] of Object.entries(pages)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const before = read(path);
  const text = `${render(before ?? "").trimEnd()}\n`;
  if (text === before) continue;
  if (isCheck) {
    console.error(`${name} is stale: run "npx -y pnpm@12 run docs"`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`${name} written`);
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
