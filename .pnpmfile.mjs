/** Only the clients of these packages run here, against our host; their own hosts' needs are dropped. */
const clientsOnly = new Set(["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"]);

export const hooks = {
  readPackage(manifest) {
    if (clientsOnly.has(manifest.name)) {
      manifest.dependencies = {};
      manifest.optionalDependencies = {};
    }
    // TypeScript 7 has no JavaScript API: with it dependency-cruiser reads no module and reports success.
    if (manifest.name === "dependency-cruiser") manifest.dependencies.typescript = "6.0.3";
    return manifest;
  },
};
