import { listOf, objectOf, textOf } from "../wire/json.ts";
import { hostHeader, type VendorRule } from "./vendor.ts";

/** The AWS regions in which the models of a geography are available, by id prefix. */
const geographies: Readonly<Record<string, RegExp>> = {
  apac: /^ap-/,
  au: /^ap-southeast-[24]$/,
  ca: /^ca-/,
  eu: /^eu-/,
  in: /^ap-south-/,
  jp: /^ap-northeast-[13]$/,
  us: /^us-(?!gov)/,
  "us-gov": /^us-gov-/,
};

/** Amazon Bedrock offers the models of a geography only in its regions. */
export const inItsGeography: VendorRule = function* complaints({ path, headers }) {
  const [, model = ""] = /\/model\/([^/]+)\//.exec(path) ?? [];
  const [, region = ""] = /^[^.]+\.([^.]+)\./.exec(String(headers[hostHeader])) ?? [];
  const regions = geographies[model.split(".")[0] ?? ""];
  if (regions?.test(region) === false) yield "The provided model identifier is invalid.";
};

/** Azure's paths from before `v1` require a version. */
export const needsDate: VendorRule = function* complaints({ search = "" }) {
  const version = new URLSearchParams(search).get("api-version") ?? "";
  if (!/^\d{4}-\d{2}-\d{2}/.test(version)) {
    yield "Missing required query parameter: api-version";
  }
};

/** GitHub counts user requests, so requests must say whether a user or the agent made them. */
export const saysWhoAsks: VendorRule = function* complaints({ headers, body }) {
  const last = objectOf([body.messages ?? body.input].flat().at(-1));
  const holdsResult = listOf(last.content).some(({ type }) => type === "tool_result");
  const isResult = last.role === "tool" || last.type === "function_call_output" || holdsResult;
  const wanted = isResult ? "agent" : "user";
  const given = textOf(headers["x-initiator"]);
  if (given !== wanted) yield `X-Initiator must be ${wanted}, not ${given}`;
};
