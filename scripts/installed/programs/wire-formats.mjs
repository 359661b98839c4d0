// Requests one reply over each wire format, through the vendors' SDKs that the package bundles.
import { stream } from "@tau-agent/ai";
import { loopbackApis, startLoopbackServer } from "@tau-agent/ai/testing";

const environment = {
  GOOGLE_CLOUD_PROJECT: "project",
  GOOGLE_CLOUD_LOCATION: "global",
  AWS_REGION: "us-east-1",
};
const server = await startLoopbackServer({ scenario: () => "Hello." });
const messages = [{ role: "user", content: "Hi.", timestamp: 0 }];
const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
const requests = [
  ...loopbackApis.map((api) => [api, { apiKey: "key", environment }]),
  // Signed with AWS's own library.
  ["bedrock-converse-stream", { environment: { ...environment, ...keys } }],
];
for (const [api, options] of requests) {
  const reply = stream(server.model(api), { messages }, options);
  let said = "";
  for await (const event of reply) {
    if (event.type === "text_delta") said += event.delta;
    if (event.type === "error") said = `error: ${event.error.errorMessage}`;
  }
  console.log(api, said);
}
await server.close();
