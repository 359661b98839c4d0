import { mkdirSync } from "node:fs";

/** The first install takes a minute or two, and pnpm itself is quiet (`loglevel`). */
function announceFirstInstall() {
  try {
    // Several processes of one install load this file; only one can make the folder.
    mkdirSync(new URL("node_modules", import.meta.url));
    process.stderr.write("Installing what this repository needs; the first time takes a while …\n");
  } catch {
    // It is there: not the first install, or not the first process.
  }
}
announceFirstInstall();

/** Only the clients of these packages run here, against our host; their own hosts' needs are dropped. */
const clientsOnly = new Set(["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"]);

/** What the clients of oh-my-pi import, in a release that the registry has. */
const ohMyPiUtils = { "13.19.0": "13.19.0", "18.3.4": "18.2.9" };

export const hooks = {
  readPackage(manifest) {
    if (manifest.name === "@oh-my-pi/pi-coding-agent") {
      manifest.dependencies = { "@oh-my-pi/pi-utils": ohMyPiUtils[manifest.version] };
      manifest.optionalDependencies = {};
    }
    // 350 MB for one platform; the test replaces the few functions of it that a client imports.
    if (manifest.name === "@oh-my-pi/pi-utils")
      delete manifest.dependencies["@oh-my-pi/pi-natives"];
    if (clientsOnly.has(manifest.name)) {
      manifest.dependencies = {};
      manifest.optionalDependencies = {};
    }
    // TypeScript 7 has no JavaScript API: with it dependency-cruiser reads no module and reports success.
    if (manifest.name === "dependency-cruiser") manifest.dependencies.typescript = "6.0.3";
    return manifest;
  },
};
