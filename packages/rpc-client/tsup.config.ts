import { defineConfig } from "tsup";
import { plainBuild } from "../../tsup.shared.ts";

export default defineConfig({
  ...plainBuild,
  entry: {
    index: "src/index.ts",
    browser: "src/browser/index.ts",
    streams: "src/streams/index.ts",
  },
});
