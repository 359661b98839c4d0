// An HTTPS server for `localhost` in a separate process: a package index, a registry and a git server. Its
// argument is its folder. It prints its port, then the `authorization` of each request as JSON.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [, , root] = process.argv;
const key = readFileSync(`${root}/key.pem`);
const cert = readFileSync(`${root}/authority.pem`);
const server = createServer({ key, cert }, (request, response) => {
  console.log(JSON.stringify(request.headers.authorization ?? null));
  if (request.url.startsWith("/repo.git")) serveGit(request, response);
  else if (request.url.startsWith("/simple")) {
    response.setHeader("content-type", "text/html");
    response.end(`<a href="/files/thing-1.2.3.tar.gz">thing-1.2.3.tar.gz</a>`);
  } else {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ said: request.headers.authorization ?? "nothing" }));
  }
});
server.listen(0, () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit());

function serveGit(request, response) {
  if (request.headers.authorization === undefined) {
    response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
    return;
  }
  const { pathname, search } = new URL(request.url, "https://localhost");
  const env = {
    ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: "1" },
    ...{ PATH_INFO: pathname, QUERY_STRING: search.slice(1), REMOTE_USER: "x" },
    ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers["content-type"] ?? "" },
    ...{ HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "" },
  };
  const backend = spawn("git", ["http-backend"], { env });
  request.pipe(backend.stdin);
  const chunks = [];
  backend.stdout.on("data", (chunk) => chunks.push(chunk));
  backend.on("close", () => {
    const all = Buffer.concat(chunks);
    const at = all.indexOf("\r\n\r\n");
    let status = 200;
    for (const line of all.subarray(0, at).toString().split("\r\n")) {
      const [name, value = ""] = line.split(": ");
      if (name === "Status") status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).end(all.subarray(at + 4));
  });
}
