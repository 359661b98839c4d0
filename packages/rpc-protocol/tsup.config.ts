import { defineConfig } from "tsup";
import { plainBuild } from "../../tsup.shared.ts";

export default defineConfig({
  ...plainBuild,
  entry: [
    "src/index.ts",
    "src/commands/index.ts",
    "src/entry/messages.ts",
    "src/entry/events.ts",
    "src/entry/plain.ts",
    "src/entry/workspace.ts",
  ],
});
