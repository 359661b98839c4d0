import { HostProcess } from "@tau-agent/conformance";
import { it } from "vitest";
import { makePlace } from "../../support/place.ts";
import { binPath } from "../../support/start-host.ts";

it("starts a host without what records it", async () => {
  const place = makePlace();
  const variables = { ...place.variables, NODE_OPTIONS: "" };
  const host = new HostProcess([process.execPath, binPath, "--version"], { ...place, variables });
  await host.finish();
  place.remove();
});
