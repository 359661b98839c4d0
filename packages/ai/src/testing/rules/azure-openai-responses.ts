import { rulesOf } from "./rule.ts";

export const azureRules = rulesOf("azure-openai-responses", {
  version: function* ({ path, search = "" }) {
    const version = new URLSearchParams(search).get("api-version") ?? "";
    const isDated = /^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(version);
    if (path.endsWith("/v1/responses")) {
      if (isDated) yield "api-version query parameter is not allowed when using /v1 path";
    } else if (!isDated) yield "Missing required query parameter: api-version";
  },
});
