/**
 * Writes the address of the repository into every package for npm, as `repository`, `homepage` and `bugs`. To
 * set it, fill in `repository.url` in the root's package.json. `--check` only reports what would change.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { publishedPackages, readManifest, root } from "./publish/published-packages.ts";
import { repositoryFields, repositoryUrl, withRepository } from "./publish/repository-fields.ts";

const url = repositoryUrl(readManifest(""));
const isCheck = process.argv.includes("--check");
for (const { folder, manifest } of publishedPackages()) {
  const fields = url === undefined ? undefined : repositoryFields(url, folder);
  const written = withRepository(manifest, fields);
  if (JSON.stringify(written) === JSON.stringify(manifest)) continue;
  if (isCheck) {
    process.exitCode = 1;
    process.stderr.write(
      `${folder}/package.json does not say where package.json says the repository is: run node scripts/write-repository.ts\n`,
    );
  } else {
    writeFileSync(join(root, folder, "package.json"), `${JSON.stringify(written, null, 2)}\n`);
  }
}
