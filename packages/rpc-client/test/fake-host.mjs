// A minimal host without a model. Its first argument selects its behaviour.
import { appendFileSync, closeSync, writeSync } from "node:fs";

const mode = process.argv[2];
const send = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
/**
 * Sends what no host should send, bypassing the stream so that it is not validated against the
 * schema.
 */
const sendWrong = (...values) => {
  for (const value of values) writeSync(1, `${JSON.stringify(value)}\n`);
};
const respond = (command, data) =>
  send({ id: command.id, type: "response", command: command.type, success: true, data });
const refuse = (command, error, code) =>
  send({ id: command.id, type: "response", command: command.type, success: false, error, code });

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
};
const reply = (content, stopReason = "stop") => ({
  role: "assistant",
  content,
  api: "fake",
  provider: "fake",
  model: "fake-1",
  usage,
  stopReason,
  timestamp: 1,
});
const pendingMessageCount = mode === "queued" ? 1 : 0;
const state = {
  model: null,
  thinkingLevel: "off",
  isStreaming: false,
  isCompacting: false,
  steeringMode: "all",
  followUpMode: "all",
  interruptMode: "wait",
  queueMode: "all",
  sessionId: "s1",
  autoCompactionEnabled: true,
  messageCount: 0,
  pendingMessageCount,
  queuedMessageCount: pendingMessageCount,
  tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  cost: 0,
};
const finished = { cancelled: false, truncated: false };
let stream = "full";
let initialized = false;

function streamReply(text) {
  send({ type: "message_start", message: reply([]) });
  let sofar = "";
  const update = (step) => {
    const partial = reply([{ type: "text", text: sofar }]);
    const event = { contentIndex: 0, ...step };
    if (stream === "delta") send({ type: "message_update", usage, assistantMessageEvent: event });
    else
      send({
        type: "message_update",
        message: partial,
        assistantMessageEvent: { ...event, partial },
      });
  };
  update({ type: "text_start" });
  for (const delta of text.match(/.{1,4}/gsu) ?? []) {
    sofar += delta;
    update({ type: "text_delta", delta });
  }
  update({ type: "text_end", content: text });
  send({ type: "message_end", message: reply([{ type: "text", text }]) });
}

let hanging;

function prompt(command) {
  if (command.message === "refuse") return refuse(command, "No model selected", "no_model");
  respond(command, initialized ? { disposition: "started" } : undefined);
  send({ type: "agent_start" });
  if (command.message === "die") {
    process.stderr.write("out of cheese\n");
    process.exit(7);
  }
  if (command.message === "hang") {
    hanging = command.id;
    return;
  }
  if (command.message === "odd content") {
    sendWrong({ type: "message_end", message: { ...reply([]), content: "a text" } });
    send({ type: "agent_settled", aborted: false });
    return send({ type: "prompt_result", id: command.id, status: "completed" });
  }
  const spent = command.message === "spend" ? "budget_exceeded" : undefined;
  const failed = command.message === "fail" || spent !== undefined;
  if (failed) {
    const message = { ...reply([], "error"), errorMessage: "the model is on fire" };
    send({ type: "message_end", message });
  } else streamReply(`You said: ${command.message}`);
  send({ type: "agent_end", messages: [] });
  if (!initialized) return;
  send({ type: "prompt_result", id: "somebody else's", status: "completed" });
  send({ type: "agent_settled", aborted: false });
  if (command.message === "pause") {
    return send({ type: "prompt_result", id: command.id, status: "paused", pausedBy: "turns" });
  }
  const status = failed ? "error" : "completed";
  const reason = failed ? { error: "on fire", code: spent ?? "overloaded" } : {};
  send({ type: "prompt_result", id: command.id, status, ...reason });
}

const handlers = {
  initialize(command) {
    if (mode === "original") {
      return send({
        type: "response",
        command: "initialize",
        success: false,
        error: "Unknown command: initialize",
      });
    }
    initialized = true;
    stream = command.stream ?? "full";
    respond(command, {
      name: "fake",
      version: "0",
      protocolVersion: 1,
      protocol: "pi",
      protocols: ["pi"],
      stream,
      maxFrameBytes: 64 * 1024 * 1024,
      capabilities: {},
    });
  },
  get_state: (command) => mode !== "silent" && respond(command, state),
  prompt: (command) =>
    mode === "thoughtful" ? void setTimeout(() => prompt(command), 30) : prompt(command),
  bash: (command) => {
    if (command.command === "die") {
      process.stderr.write("last words\n");
      process.exitCode = 3;
      process.stdin.destroy();
    } else if (command.command === "garbage") {
      writeSync(1, "Welcome to the machine!\n");
      sendWrong([1, 2], { type: "response" });
      respond(command, { output: "", ...finished });
    } else if (command.command === "much") {
      respond(command, { output: "x".repeat(5_000), cancelled: false, truncated: false });
    } else if (command.command === "mute") {
      process.stderr.write("the pipe is gone\n");
      process.stdout.end();
      setInterval(() => {}, 1000);
    } else if (command.command === "late") {
      setTimeout(() => respond(command, { output: "late", ...finished }), 60);
    } else if (command.command === "split") {
      const bytes = Buffer.from(
        `${JSON.stringify({ id: command.id, type: "response", command: "bash", success: true, data: { output: "é\u2028漢\u2029🙂", ...finished } })}\n`,
      );
      let at = 0;
      const next = () => {
        process.stdout.write(bytes.subarray(at, ++at));
        if (at < bytes.length) setImmediate(next);
      };
      next();
    } else if (command.command === "ask") {
      send({ type: "extension_ui_request", id: "u1", method: "confirm", title: "T", message: "?" });
      send({
        type: "extension_ui_request",
        id: "u2",
        method: "select",
        title: "T",
        options: ["a"],
      });
      sendWrong({ type: "extension_ui_request", id: "u3", method: "hologram" });
      send({ type: "extension_ui_request", id: "u4", method: "notify", message: "hello" });
      sendWrong({ type: "from_the_future", value: 42 });
      handlers.finishAsking = () =>
        respond(command, { output: JSON.stringify(answers), ...finished });
    } else
      respond(command, {
        output: command.command,
        exitCode: 0,
        ...finished,
      });
  },
  get_messages: (command) =>
    sendWrong({
      id: command.id,
      type: "response",
      command: command.type,
      success: true,
      data: "not an object",
    }),
  set_model: (command) => refuse(command, "Model not found: x/y", "model_not_found"),
  abort: (command) => {
    respond(command);
    send({ type: "agent_settled", aborted: true });
    if (hanging) send({ type: "prompt_result", id: hanging, status: "aborted" });
    hanging = undefined;
  },
  set_session_name: (command) => respond(command),
  new_session: (command) => {
    const answer = () => respond(command, { cancelled: command.parentSession === "veto" });
    if (command.parentSession === "asks") setTimeout(answer, 2_200);
    else answer();
  },
};
const answers = [];
handlers.extension_ui_response = (answer) => {
  answers.push(answer);
  if (answers.length === 3) handlers.finishAsking();
};

if (mode === "dead") {
  process.stderr.write("cannot read the settings\n");
  process.exit(1);
}
if (mode === "tidy") {
  // Sends nothing more and shuts down slowly.
  process.stdin.on("end", () => {
    closeSync(1);
    setTimeout(() => process.exit(7), 2_500);
  });
}
if (mode === "stubborn") {
  process.on("SIGTERM", () => appendFileSync(process.env.SIGNAL_LOG, "SIGTERM\n"));
  setInterval(() => {}, 1000);
}
process.stderr.write(`args ${process.argv.slice(3).join(" ")} ${process.env.EXTRA ?? ""}\n`);

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const command = JSON.parse(line);
    if (Object.hasOwn(handlers, command.type)) handlers[command.type](command);
    else refuse(command, `Unknown command: ${command.type}`, "unknown_command");
  }
});
