import { describe, expect, it } from "vitest";
import type { Environment } from "../provider.ts";
import { vertexPlace } from "./vertex-place.ts";

const catalogue = "https://{location}-aiplatform.googleapis.com";
const project = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: "europe-west1" };

function urlOf(environment: Environment, baseUrl = catalogue, key?: string) {
  return vertexPlace({ id: "m", baseUrl }, environment, key).baseUrl;
}

describe("the place of a model on Vertex AI", () => {
  it.each([
    ["europe-west1", "https://europe-west1-aiplatform.googleapis.com"],
    ["global", "https://aiplatform.googleapis.com"],
    ["eu", "https://aiplatform.eu.rep.googleapis.com"],
  ])("follows the location %s", (location, host) => {
    const environment = { GCLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: location };
    expect(urlOf(environment)).toBe(`${host}/v1/projects/p/locations/${location}`);
    expect(urlOf(environment, "https://us-east1-aiplatform.googleapis.com")).toContain(host);
  });

  it("contains no project if there is a key", () => {
    expect(urlOf(project, catalogue, "k")).toBe("https://aiplatform.googleapis.com/v1");
  });

  it.each([
    ["http://127.0.0.1:9", project, undefined, "/v1/projects/p/locations/europe-west1"],
    ["http://127.0.0.1:9/", {}, undefined, "/v1"],
    ["http://127.0.0.1:9/", project, "k", "/v1"],
    [
      "http://127.0.0.1:9/v1beta1/",
      project,
      undefined,
      "/v1beta1/projects/p/locations/europe-west1",
    ],
    [
      "http://127.0.0.1:9/v1/projects/q/locations/l",
      project,
      undefined,
      "/v1/projects/q/locations/l",
    ],
  ])("can be a custom address: %s", (baseUrl, environment, key, path) => {
    expect(urlOf(environment, baseUrl, key)).toBe(`http://127.0.0.1:9${path}`);
  });

  it("explains what to set if the project or location is missing", () => {
    for (const environment of [{}, { GOOGLE_CLOUD_PROJECT: "p" }]) {
      expect(() => urlOf(environment)).toThrow(/GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION/);
    }
  });
});
