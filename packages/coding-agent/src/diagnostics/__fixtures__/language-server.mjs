// A language server that reports an error on each line with BAD. Its argument selects its behaviour.
import { appendFileSync } from "node:fs";

const [behaviour = "well", log] = process.argv.slice(2);
const note = (text) => log && appendFileSync(log, `${text}\n`);
note(`start ${process.pid}`);

let input = Buffer.alloc(0);
const send = (message) => {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
};

function problemsOf(text) {
  return text.split("\n").flatMap((line, at) => {
    const column = line.indexOf("BAD");
    if (column === -1) return [];
    const range = { start: { line: at, character: column }, end: { line: at, character: column + 3 } };
    const hint = { range, severity: 4, message: "a hint" };
    return [{ range, severity: 1, code: 7, source: "test", message: `bad: ${line.trim()}` }, hint];
  });
}

const publish = (uri, version, diagnostics) =>
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });

/** Long steps, of which the first takes longest with the first document, as on a busy machine. */
function slow(uri, version) {
  const first = version === 1 ? 600 : 0;
  setTimeout(() => publish(uri, version, []), first);
  return first + 450;
}

function opened({ uri, version, text }) {
  note(`open ${uri}`);
  if (behaviour === "crash" || text.includes("DIE")) process.exit(3);
  if (behaviour === "silent" || text.includes("SILENT")) return;
  if (behaviour === "pull") return;
  if (behaviour === "steps") publish(uri, version, []);
  if (behaviour === "stale") publish(uri, version - 1, [{ range: { start: { line: 0, character: 0 } }, message: "stale" }]);
  const delay = behaviour === "late" ? 1500 : behaviour === "steps" ? 150 : behaviour === "slow" ? slow(uri, version) : 0;
  setTimeout(() => publish(uri, behaviour === "unversioned" ? undefined : version, problemsOf(text)), delay);
}

let document;
const answers = {
  initialize: () => ({
    capabilities: { textDocumentSync: 1, ...(behaviour === "pull" && { diagnosticProvider: {} }) },
  }),
  "textDocument/diagnostic": () => ({ kind: "full", items: problemsOf(document?.text ?? "") }),
};

function take({ id, method, params }) {
  if (method === "initialize" && behaviour === "hang") return;
  if (method === "initialize" && behaviour === "refuse") process.exit(1);
  if (method === "initialize" && behaviour === "flood") {
    const junk = Buffer.alloc(1024 * 1024, "x");
    const pour = () => process.stdout.write(junk, pour);
    pour();
    return;
  }
  if (method === "initialize") send({ id: "c", method: "workspace/configuration", params: { items: [{}] } });
  if (id !== undefined && method !== undefined) send({ id, result: answers[method]?.() ?? null });
  if (method === "textDocument/didOpen") {
    document = params.textDocument;
    opened(document);
  }
}

process.stdin.on("data", (chunk) => {
  input = Buffer.concat([input, chunk]);
  for (;;) {
    const end = input.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/Content-Length: (\d+)/i.exec(input.toString("latin1", 0, end))?.[1]);
    if (input.length < end + 4 + length) return;
    const body = input.toString("utf8", end + 4, end + 4 + length);
    input = input.subarray(end + 4 + length);
    take(JSON.parse(body));
  }
});
