/** Prints the key of a provider, as a host finds it: `node renew-once.ts <agent directory> <provider>`. */
import { ProcessRegistry } from "@tau-agent/system";
import { createModelRegistry } from "../../src/models/create-model-registry.ts";

const [, , agentDirectory = "", provider = ""] = process.argv;
const { keys } = createModelRegistry({
  agentDirectory,
  environment: {},
  processes: new ProcessRegistry(),
  catalog: { providers: () => ({}), models: async () => [] },
});
const { key } = await keys.require(provider);
process.stdout.write(String(key));
