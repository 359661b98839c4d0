/** Only the clients of these packages are run, against our host; what their own hosts need is not. */
const clientsOnly = new Set(["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"]);

export const hooks = {
  readPackage(manifest) {
    if (clientsOnly.has(manifest.name)) {
      manifest.dependencies = {};
      manifest.optionalDependencies = {};
    }
    return manifest;
  },
};
