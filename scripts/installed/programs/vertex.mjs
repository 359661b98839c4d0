// Runs the command with a Google login whose tokens come from a local server.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { startLoopbackServer } from "@tau-agent/ai/testing";

const token = "token-of-the-login";
const server = await startLoopbackServer({
  scenario: ["Hello."],
  credentials: { googleToken: token },
});
const tokens = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      access_token: token,
      issued_token_type: "urn:ietf:params:oauth:token-type:access_token",
      token_type: "Bearer",
      expires_in: 3600,
    }),
  );
});
await new Promise((resolve) => tokens.listen(0, "127.0.0.1", resolve));

const agent = join(process.cwd(), "agent");
mkdirSync(agent);
const subject = join(agent, "subject.txt");
writeFileSync(subject, "subject");
const login = {
  type: "external_account",
  audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/p",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_url: `http://127.0.0.1:${tokens.address().port}/v1/token`,
  credential_source: { file: subject },
};
writeFileSync(join(agent, "login.json"), JSON.stringify(login));
const { baseUrl } = server.model("google-vertex");
const models = { providers: { "google-vertex": { baseUrl } } };
writeFileSync(join(agent, "models.json"), JSON.stringify(models));

const [program, ...words] = process.argv.slice(2);
const child = spawn(program, [...words, "--provider", "google-vertex", "-p", "Hi."], {
  stdio: ["ignore", "inherit", "inherit"],
  env: {
    ...process.env,
    PI_CODING_AGENT_DIR: agent,
    GOOGLE_APPLICATION_CREDENTIALS: join(agent, "login.json"),
    GOOGLE_CLOUD_PROJECT: "project",
    GOOGLE_CLOUD_LOCATION: "global",
  },
});
child.on("close", async (code) => {
  await server.close();
  tokens.close();
  process.exitCode = code;
});
